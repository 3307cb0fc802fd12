/* SPDX-License-Identifier: MIT */
/* Readers of files (sim/workload/trace.h): every format, every refusal with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <math.h>

#include "check.h"
#include "workload/csv.h"
#include "workload/hlog.h"
#include "workload/trace.h"

#include <tied/error.h>

#define DATA TIED_SOURCE_DIR "/tests/data/"

/* Whole published files, where they lie beside the checkout. */
static const char *data_dir (void)
{
    const char *dir = getenv ("TIED_DATA_DIR");
    return dir ? dir : TIED_SOURCE_DIR "/../shared/data";
}

struct file {
    char path[64];
};

static void file_write (struct file *self, const char *text, size_t size)
{
    int fd;

    (void)snprintf (self->path, sizeof self->path, "/tmp/tied-trace-XXXXXX");
    fd = mkstemp (self->path);
    assert_true (fd >= 0);
    assert_true (write (fd, text, size) == (ssize_t)size);
    assert_int_equal (close (fd), 0);
}

static struct sim_table read_text (const char *text, enum sim_trace_use use, const char *column)
{
    struct sim_trace_options options = {.column = column, .use = use};
    struct sim_table table = {0};
    struct file file;
    char why[SIM_WHY_MAX] = "";

    file_write (&file, text, strlen (text));
    options.path = file.path;
    if (sim_trace_read (&options, &table, why) != 0)
        fail_msg ("%s", why);
    assert_int_equal (unlink (file.path), 0);
    return table;
}

static void refuses (const char *text, enum sim_trace_use use, const char *column, const char *says)
{
    struct sim_trace_options options = {.column = column, .use = use};
    struct sim_table table = {0};
    struct file file;
    char why[SIM_WHY_MAX] = "";

    file_write (&file, text, strlen (text));
    options.path = file.path;
    assert_true (sim_trace_read (&options, &table, why) != 0);
    assert_null (table.values);
    assert_int_equal (unlink (file.path), 0);
    if (!strstr (why, says))
        fail_msg ("\"%s\" does not say \"%s\"", why, says);
    assert_null (strchr (why, '\n'));
}

static void a_recording_gives_arrivals_and_service_times (void **state)
{
    static const char text[] = "t_us,call,copy,replica,queue_us,service_us,outcome\n"
                               "1000,1,0,a,0,250.5,executed\n"
                               "1500,2,0,b,10,100,executed\n"
                               "1500,3,0,a,0,1,executed\n";
    struct sim_table table = read_text (text, SIM_TRACE_TIMES, NULL);

    (void)state;
    CHECK_U64 (table.count, ==, 3);
    CHECK_U64 (table.values[0], ==, 0);
    CHECK_U64 (table.values[1], ==, 500000);
    CHECK_U64 (table.values[2], ==, 500000);
    sim_table_deinit (&table);
    table = read_text (text, SIM_TRACE_SERVICE, NULL);
    CHECK_U64 (table.values[0], ==, 250500);
    CHECK_U64 (table.values[2], ==, 1000);
    sim_table_deinit (&table);
}

static void a_recording_is_sorted_and_only_what_ran_has_a_service_time (void **state)
{
    static const char text[] = "t_us,call,copy,replica,queue_us,service_us,outcome\n"
                               "1500.250,1-2,0,a,0,250,executed\n"
                               "1000.000,1-1,0,a,10,0,dropped\n"
                               "1600.000,1-3,0,a,10,40,cancelled\n"
                               "1700.000,1-4,0,a,0,0,rejected_full\n";
    struct sim_table table = read_text (text, SIM_TRACE_TIMES, NULL);

    (void)state;
    CHECK_U64 (table.count, ==, 4);
    CHECK_U64 (table.values[0], ==, 0);
    CHECK_U64 (table.values[1], ==, 500250);
    CHECK_U64 (table.values[3], ==, 700000);
    sim_table_deinit (&table);
    table = read_text (text, SIM_TRACE_SERVICE, NULL);
    CHECK_U64 (table.count, ==, 1);
    CHECK_U64 (table.values[0], ==, 250000);
    sim_table_deinit (&table);
}

static void rounded_time_stamps_are_spread_over_their_step (void **state)
{
    struct sim_table table = read_text ("timestamp,input_length\n0,1\n0,1\n0,1\n3000,1\n3000,1\n",
                                        SIM_TRACE_TIMES, NULL);

    (void)state;
    CHECK_U64 (table.values[1], ==, TIED_MS (1000));
    CHECK_U64 (table.values[2], ==, TIED_MS (2000));
    CHECK_U64 (table.values[3], ==, TIED_MS (3000));
    CHECK_U64 (table.values[4], ==, TIED_MS (3000));
    sim_table_deinit (&table);
}

static void dates_count_from_the_first_one (void **state)
{
    struct sim_table table =
        read_text ("TIMESTAMP,n\r\n2023-11-16 23:59:59.5000000,4\r\n2023-11-17 00:00:00.7500010,3",
                   SIM_TRACE_TIMES, NULL);

    (void)state;
    CHECK_U64 (table.count, ==, 2);
    CHECK_U64 (table.values[1], ==, UINT64_C (1250001000));
    sim_table_deinit (&table);
}

static void a_plain_column_needs_a_unit (void **state)
{
    struct sim_trace_options options = {.use = SIM_TRACE_SERVICE, .unit_ns = 1e3};
    struct sim_table table = {0};
    struct file file;
    char why[SIM_WHY_MAX] = "";

    (void)state;
    refuses ("5\n6\n", SIM_TRACE_SERVICE, NULL, "unit");
    file_write (&file, "5\n6e1\n", 6);
    options.path = file.path;
    assert_int_equal (sim_trace_read (&options, &table, why), 0);
    CHECK_U64 (table.values[0], ==, 5000);
    CHECK_U64 (table.values[1], ==, 60000);
    sim_table_deinit (&table);
    assert_int_equal (unlink (file.path), 0);
}

static void a_pgbench_log_gives_the_starts_of_its_transactions (void **state)
{
    struct sim_table table = read_text ("0 1 5000 0 1700000000 20000\n"
                                        "1 1 9000 0 1700000000 21000\n"
                                        "1 2 skipped 0 1700000000 21500\n"
                                        "0 2 1000 0 1700000001 22000 17\n",
                                        SIM_TRACE_TIMES, NULL);

    (void)state;
    CHECK_U64 (table.count, ==, 3);
    CHECK_U64 (table.values[0], ==, 0);
    CHECK_U64 (table.values[1], ==, TIED_US (3000)); /* 20 - 5 after 21 - 9 */
    CHECK_U64 (table.values[2], ==, TIED_US (1009000));
    sim_table_deinit (&table);
    refuses ("0 1 5000 0 1700000000 20000\n0 1 5 0 x 1\n", SIM_TRACE_TIMES, NULL, ":2: is no line");
}

static void end_to_end_latency_is_no_service_time_and_the_line_says_why (void **state)
{
    (void)state;
    refuses ("t_us,latency_ms\n1,2\n", SIM_TRACE_SERVICE, "latency_ms", "queueing");
    refuses ("a,response_us\n1,2\n", SIM_TRACE_SERVICE, "response_us", "counted twice");
    refuses ("0 1 5200 0 1700000000 100\n", SIM_TRACE_SERVICE, NULL, "end-to-end");
}

static void every_bad_line_is_named (void **state)
{
    (void)state;
    refuses ("", SIM_TRACE_TIMES, NULL, ":0: is empty");
    refuses ("t_us\n", SIM_TRACE_TIMES, NULL, "holds no records");
    refuses ("t_us\n5\n4\n", SIM_TRACE_TIMES, NULL, ":3: column t_us: 4 is before");
    refuses ("t_us\n-5\n", SIM_TRACE_TIMES, NULL, ":2: column t_us: -5 is negative");
    refuses ("t_us\nnan\n", SIM_TRACE_TIMES, NULL, ":2: column t_us: \"nan\" is not a number");
    refuses ("t_us\ninf\n", SIM_TRACE_TIMES, NULL, "not a number");
    refuses ("t_us\n1e400\n", SIM_TRACE_TIMES, NULL, "not a number");
    refuses ("t_us\n1e30\n", SIM_TRACE_TIMES, NULL, "too large");
    refuses ("t_us,x\n1,\n,3\n", SIM_TRACE_TIMES, NULL, ":3: column t_us: \"\" is not a number");
    refuses ("t_us,x\n1,2\n3\n", SIM_TRACE_TIMES, NULL, ":3: has 1 fields, the first line has 2");
    refuses ("t_us,x\n1,2\n", SIM_TRACE_TIMES, "t_su", "did you mean \"t_us\"?");
    refuses ("a,b\n1,2\n", SIM_TRACE_SERVICE, NULL, "say which one");
    refuses ("service_s\n3601\n", SIM_TRACE_SERVICE, NULL, "longer than 1h");
    refuses ("2023-13-01 00:00:00\n", SIM_TRACE_TIMES, NULL, "");
    refuses ("#[Logged]\n", SIM_TRACE_TIMES, NULL, "histogram log");
    refuses ("1,2,3\n", SIM_TRACE_PAUSES, NULL, ":1: is no interval");
}

static void a_line_without_end_or_with_a_nul_is_refused (void **state)
{
    struct sim_trace_options options = {.use = SIM_TRACE_TIMES};
    struct sim_table table = {0};
    const size_t size = SIM_TRACE_LINE_MAX + 100;
    char *text = malloc (size);
    struct file file;
    char why[SIM_WHY_MAX] = "";

    (void)state;
    assert_non_null (text);
    memset (text, '1', size);
    file_write (&file, text, size);
    free (text);
    options.path = file.path;
    assert_true (sim_trace_read (&options, &table, why) != 0);
    assert_non_null (strstr (why, ":1: a line is longer"));
    assert_int_equal (unlink (file.path), 0);
    file_write (&file, "t_us\n\0001\n", 8);
    options.path = file.path;
    assert_true (sim_trace_read (&options, &table, why) != 0);
    assert_int_equal (unlink (file.path), 0);
    options.path = "/nonexistent/file";
    CHECK_I64 (sim_trace_read (&options, &table, why), ==, TIED_ERR_SYSTEM);
}

static void a_pause_log_gives_its_long_intervals (void **state)
{
    struct sim_trace_options options = {.path = DATA "jhiccup-2.0.7-v3-tags.hlog",
                                        .use = SIM_TRACE_PAUSES};
    struct sim_table table = {0};
    char why[SIM_WHY_MAX] = "";
    uint64_t long_ones = 0;

    (void)state;
    if (sim_trace_read (&options, &table, why) != 0)
        fail_msg ("%s", why);
    for (uint64_t i = 0; i + 1 < table.count; i += 2) {
        if (table.values[i + 1] >= TIED_MS (20))
            long_ones++;
        if (i > 0)
            CHECK_U64 (table.values[i], >=, table.values[i - 2] + table.values[i - 1]);
    }
    CHECK_U64 (long_ones, ==, 4);
    sim_table_deinit (&table);
}

static void a_pause_that_its_histogram_denies_is_refused (void **state)
{
    char line[1024], text[1200];
    FILE *log = fopen (DATA "jhiccup-2.0.7-v3-tags.hlog", "r");
    const char *histogram = NULL;

    (void)state;
    assert_non_null (log);
    while (!histogram && fgets (line, sizeof line, log))
        histogram = strstr (line, "HISTFAAA");
    assert_int_equal (fclose (log), 0);
    assert_non_null (histogram);
    (void)snprintf (text, sizeof text, "0.127,1.007,27.69,%s", histogram);
    refuses (text, SIM_TRACE_PAUSES, NULL, ":1: the largest value is 27.690 ms");
    refuses ("0.1,1.0,2.5,HISTFAAA\n", SIM_TRACE_PAUSES, NULL, "V2");
}

static void a_log_s_histograms_add_up_to_the_published_figures (void **state)
{
    const struct ti_hist_options wide = {.highest = UINT64_MAX, .unit = 1, .half_bits = 12};
    struct sim_hlog_interval interval;
    void *memory = malloc (ti_hist_size (&wide));
    struct ti_hist *hist = ti_hist_init (memory, ti_hist_size (&wide), &wide);
    char why[SIM_WHY_MAX] = "";
    struct sim_csv csv;
    uint64_t intervals = 0;
    int rc;

    (void)state;
    assert_non_null (hist);
    assert_int_equal (sim_csv_open (&csv, DATA "jhiccup-2.0.7-v3-tags.hlog", why), 0);
    while ((rc = sim_csv_next (&csv, why)) == 1) {
        rc = sim_hlog_line (&csv, &interval, hist, why);
        if (rc < 0)
            fail_msg ("%s", why);
        intervals += (uint64_t)rc;
    }
    assert_int_equal (rc, 0);
    sim_csv_close (&csv);
    CHECK_U64 (intervals, ==, 62);
    CHECK_U64 (hist->total, ==, 48761);
    CHECK_U64 (hist->max, ==, 1803550719);
    CHECK_U64 (ti_hist_percentile (hist, TI_HIST_P50), >=, 344063);
    CHECK_U64 (ti_hist_percentile (hist, TI_HIST_P50), <=, 344063 + 344063 / 4096);
    CHECK_U64 (ti_hist_percentile (hist, TI_HIST_P99), >=, 1434451967);
    CHECK_U64 (ti_hist_percentile (hist, TI_HIST_P99), <=, 1434451967 + 1434451967 / 4096);
    free (memory);
}

static void damaged_histograms_are_refused (void **state)
{
    static const char *const bad[] = {
        "HISTFAAA", "!!!!", "HISTFAAAAEV42pNpmSzMwMCgyAABTB==", "AAAAAAAAAAAAAAAA", "",
        /* -2^63 empty buckets */
        "HISTFAAAACR42pNpmSzMwMDAyQABzFCaEch0M9ixgMH+A0TgPwwAAKMpDUs="};
    const struct ti_hist_options wide = {.highest = UINT64_MAX, .unit = 1, .half_bits = 4};
    void *memory = malloc (ti_hist_size (&wide));
    struct ti_hist *hist = ti_hist_init (memory, ti_hist_size (&wide), &wide);

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char start[] = "0.1", length[] = "1", max[] = "2", text[64], why[SIM_WHY_MAX] = "";
        struct sim_csv csv = {.path = "x", .line = 7, .fields_count = 4};
        struct sim_hlog_interval interval;

        (void)snprintf (text, sizeof text, "%s", bad[i]);
        csv.fields[0] = start;
        csv.fields[1] = length;
        csv.fields[2] = max;
        csv.fields[3] = text;
        CHECK_I64 (sim_hlog_line (&csv, &interval, hist, why), ==, TIED_ERR_INVAL);
        assert_non_null (strstr (why, "x:7:"));
    }
    free (memory);
}

static int compare (const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

struct published {
    char file[64], column[64];
    double n, sum, mean, cv2, low, p50, p90, p99, p999, high;
};

static void agree (const struct published *row, double got, double wanted, const char *what)
{
    if (fabs (got - wanted) > 2e-8 * fabs (wanted) + 1e-9)
        fail_msg ("%s, %s: %s is %.12g, published %.12g", row->file, row->column, what, got,
                  wanted);
}

static double rank (const struct sim_numbers *sorted, double share)
{
    return sorted->values[(uint64_t)ceil (share * (double)sorted->count - 1e-9) - 1];
}

static void agrees (const struct published *row, struct sim_numbers *numbers)
{
    double sum = 0;
    double square = 0;
    double mean;

    CHECK_U64 (numbers->count, ==, (uint64_t)row->n);
    for (uint64_t i = 0; i < numbers->count; i++)
        sum += numbers->values[i];
    mean = sum / (double)numbers->count;
    for (uint64_t i = 0; i < numbers->count; i++)
        square += (numbers->values[i] - mean) * (numbers->values[i] - mean);
    qsort (numbers->values, numbers->count, sizeof *numbers->values, compare);
    agree (row, sum, row->sum, "the sum");
    agree (row, mean, row->mean, "the mean");
    agree (row, square / (double)numbers->count / mean / mean, row->cv2, "CV^2");
    agree (row, numbers->values[0], row->low, "the least");
    agree (row, rank (numbers, 0.5), row->p50, "p50");
    agree (row, rank (numbers, 0.9), row->p90, "p90");
    agree (row, rank (numbers, 0.99), row->p99, "p99");
    agree (row, rank (numbers, 0.999), row->p999, "p99.9");
    agree (row, numbers->values[numbers->count - 1], row->high, "the largest");
}

/* The column that a derived one of the table is made of. */
static const char *column_of (const struct published *row)
{
    if (strncmp (row->column, "gap", 3) == 0)
        return strncmp (row->file, "azure-llm", 9) == 0  ? "TIMESTAMP"
               : strncmp (row->file, "mooncake", 8) == 0 ? "timestamp"
                                                         : "start_s";
    if (strncmp (row->column, "slowdown", 8) == 0)
        return strstr (row->file, "disk") ? "mib_per_s" : "latency_ms";
    if (strcmp (row->file, "netclone-latency-us.txt") == 0)
        return NULL;
    return row->column;
}

static void check_row (const struct published *row)
{
    struct sim_numbers numbers;
    char why[SIM_WHY_MAX] = "";
    char path[512];
    int rc;

    (void)snprintf (path, sizeof path, "%s/%s", data_dir (), row->file);
    if (strcmp (row->column, "slowdown") == 0)
        rc = sim_trace_slowdown (path, column_of (row), &numbers, why);
    else
        rc = sim_trace_column (path, column_of (row), &numbers, why);
    if (rc != 0)
        fail_msg ("%s", why);
    if (strcmp (row->file, "netclone-latency-us.txt") == 0)
        numbers.count--; /* the run's length */
    if (strncmp (row->column, "gap", 3) == 0) {
        for (uint64_t i = 0; i + 1 < numbers.count; i++)
            numbers.values[i] = numbers.values[i + 1] - numbers.values[i];
        numbers.count--;
    }
    agrees (row, &numbers);
    sim_numbers_deinit (&numbers);
}

static void published_files_give_their_published_figures (void **state)
{
    char path[512], why[SIM_WHY_MAX] = "";
    struct sim_csv csv;
    unsigned rows = 0;

    (void)state;
    (void)snprintf (path, sizeof path, "%s/stats.csv", data_dir ());
    if (sim_csv_open (&csv, path, why) != 0) {
        print_message ("skipped: no published traces (%s)\n", path);
        skip ();
    }
    assert_int_equal (sim_csv_next (&csv, why), 1);
    while (sim_csv_next (&csv, why) == 1) {
        struct published row = {0};
        double *const numbers[] = {&row.n,   &row.sum, &row.mean, &row.cv2,  &row.low,
                                   &row.p50, &row.p90, &row.p99,  &row.p999, &row.high};

        (void)snprintf (row.file, sizeof row.file, "%s", csv.fields[0]);
        (void)snprintf (row.column, sizeof row.column, "%s", csv.fields[1]);
        CHECK_U64 (csv.fields_count, ==, 12);
        for (uint32_t i = 0; i < 10; i++)
            assert_true (sim_csv_number (csv.fields[i + 2], numbers[i]));
        if (strstr (row.file, "jhiccup") || strstr (row.column, "vm ") ||
            strcmp (row.column, "requests_per_timestamp") == 0)
            continue; /* the first has its own test, the others are one column split by another */
        check_row (&row);
        rows++;
    }
    sim_csv_close (&csv);
    CHECK_U64 (rows, >=, 18);
}

static void a_file_of_ten_million_lines_is_read (void **state)
{
    struct sim_trace_options options = {.use = SIM_TRACE_TIMES};
    const uint64_t lines = 10000000;
    struct sim_table table = {0};
    struct file file;
    char why[SIM_WHY_MAX] = "";
    FILE *out;

    (void)state;
    file_write (&file, "t_us\n", 5);
    out = fopen (file.path, "a");
    assert_non_null (out);
    for (uint64_t i = 0; i < lines; i++)
        (void)fprintf (out, "%llu\n", (unsigned long long)i);
    assert_int_equal (fclose (out), 0);
    options.path = file.path;
    if (sim_trace_read (&options, &table, why) != 0)
        fail_msg ("%s", why);
    CHECK_U64 (table.count, ==, lines);
    CHECK_U64 (table.values[lines - 1], ==, TIED_US (lines - 1));
    sim_table_deinit (&table);
    assert_int_equal (unlink (file.path), 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_recording_gives_arrivals_and_service_times),
        cmocka_unit_test (a_recording_is_sorted_and_only_what_ran_has_a_service_time),
        cmocka_unit_test (rounded_time_stamps_are_spread_over_their_step),
        cmocka_unit_test (dates_count_from_the_first_one),
        cmocka_unit_test (a_plain_column_needs_a_unit),
        cmocka_unit_test (a_pgbench_log_gives_the_starts_of_its_transactions),
        cmocka_unit_test (end_to_end_latency_is_no_service_time_and_the_line_says_why),
        cmocka_unit_test (every_bad_line_is_named),
        cmocka_unit_test (a_line_without_end_or_with_a_nul_is_refused),
        cmocka_unit_test (a_pause_log_gives_its_long_intervals),
        cmocka_unit_test (a_pause_that_its_histogram_denies_is_refused),
        cmocka_unit_test (a_log_s_histograms_add_up_to_the_published_figures),
        cmocka_unit_test (damaged_histograms_are_refused),
        cmocka_unit_test (published_files_give_their_published_figures),
        cmocka_unit_test (a_file_of_ten_million_lines_is_read),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
