/* SPDX-License-Identifier: MIT */
/* Layout of the histograms: HdrHistogram's V2 encoding (cookies 0x1c849303 and 0x1c849304). */
#include "hlog.h"

#include <stdlib.h>
#include <string.h>

#include <tied/error.h>
#include <zlib.h>

#define COOKIE_V2         UINT32_C (0x1c849303)
#define COOKIE_COMPRESSED UINT32_C (0x1c849304)
#define COOKIE_MASK       UINT32_C (0xffffff0f) /* the word size is in between, and fixed in V2 */
#define HEAD_BYTES        40u
/* 3 significant digits from 1 ns to an hour take 43 000 buckets of at most 9 bytes. */
#define PLAIN_MAX (1u << 20)

struct bytes {
    const unsigned char *at, *end;
};

/* The line that csv has just read is of such a log: a comment or the quoted heading of one. */
static bool is_heading (const struct sim_csv *csv)
{
    return csv->fields_count > 0 &&
           (csv->fields[0][0] == '#' || strcmp (csv->fields[0], "StartTimestamp") == 0);
}

static uint32_t big_endian (const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int digit_of (char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c ? strchr (digits, c) : NULL;

    return found ? (int)(found - digits) : -1;
}

/* @return bytes written, 0: not base64 */
static size_t decode_base64 (const char *text, unsigned char *out)
{
    size_t written = 0;
    uint32_t bits = 0;
    unsigned held = 0;

    for (; *text && *text != '='; text++) {
        const int digit = digit_of (*text);
        if (digit < 0)
            return 0;
        bits = bits << 6 | (uint32_t)digit;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[written++] = (unsigned char)(bits >> held);
        }
    }
    text += strspn (text, "=");
    return *text ? 0 : written;
}

/* ZigZag LEB128 of at most 9 bytes, the ninth holding 8 bits. */
static bool take_number (struct bytes *in, int64_t *out)
{
    uint64_t value = 0;
    unsigned shift = 0;

    for (unsigned i = 0; i < 9; i++) {
        if (in->at == in->end)
            return false;
        const unsigned char byte = *in->at++;
        if (i == 8) {
            value |= (uint64_t)byte << 56;
            break;
        }
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80))
            break;
    }
    *out = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
    return true;
}

/* Largest value of the bucket with this index, for sub-buckets of 2 ^ bits and a unit of 2 ^ unit.
 */
static uint64_t bucket_last (uint64_t index, unsigned bits, unsigned unit)
{
    const uint64_t half = UINT64_C (1) << (bits - 1);
    uint64_t exponent = index >> (bits - 1);
    uint64_t sub;

    if (exponent == 0) {
        sub = index;
    } else {
        exponent--;
        sub = (index & (half - 1)) + half;
    }
    if (exponent + unit + bits > 62)
        return UINT64_MAX;
    return ((sub + 1) << (exponent + unit)) - 1;
}

static bool add_counts (struct bytes in, unsigned bits, unsigned unit, struct ti_hist *hist)
{
    uint64_t index = 0;
    int64_t count;

    while (in.at < in.end) {
        if (!take_number (&in, &count))
            return false;
        if (count < 0) {
            const uint64_t empty = 0 - (uint64_t)count;

            if (empty > PLAIN_MAX || (index += empty) > PLAIN_MAX)
                return false;
            continue;
        }
        if (count > 0)
            ti_hist_record_n (hist, bucket_last (index, bits, unit), (uint64_t)count);
        index++;
    }
    return true;
}

static bool add_plain (const unsigned char *plain, size_t size, struct ti_hist *hist)
{
    uint32_t payload, digits;
    uint64_t lowest, needed;
    unsigned unit = 0;
    unsigned bits = 1;

    if (size < HEAD_BYTES || (big_endian (plain) & COOKIE_MASK) != (COOKIE_V2 & COOKIE_MASK))
        return false;
    payload = big_endian (plain + 4);
    digits = big_endian (plain + 12);
    lowest = (uint64_t)big_endian (plain + 16) << 32 | big_endian (plain + 20);
    if (payload > size - HEAD_BYTES || digits > 5)
        return false;
    needed = 2;
    for (uint32_t i = 0; i < digits; i++)
        needed *= 10;
    while (UINT64_C (1) << bits < needed)
        bits++;
    while (unit < 40 && UINT64_C (2) << unit <= lowest)
        unit++;
    return add_counts ((struct bytes){plain + HEAD_BYTES, plain + HEAD_BYTES + payload}, bits, unit,
                       hist);
}

static bool add_histogram (const char *text, struct ti_hist *hist)
{
    unsigned char *packed = malloc (strlen (text) + 1);
    unsigned char *plain = malloc (PLAIN_MAX);
    uLongf size = PLAIN_MAX;
    bool is_good = false;

    if (packed && plain) {
        const size_t length = decode_base64 (text, packed);

        is_good = length > 8 &&
                  (big_endian (packed) & COOKIE_MASK) == (COOKIE_COMPRESSED & COOKIE_MASK) &&
                  big_endian (packed + 4) <= length - 8 &&
                  uncompress (plain, &size, packed + 8, big_endian (packed + 4)) == Z_OK &&
                  add_plain (plain, size, hist);
    }
    free (packed);
    free (plain);
    return is_good;
}

static bool take_field (const char *text, double unit_ns, uint64_t *out)
{
    double value;

    if (!sim_csv_number (text, &value) || value < 0 || value * unit_ns > 1e18)
        return false;
    *out = (uint64_t)(value * unit_ns + 0.5);
    return true;
}

int sim_hlog_line (const struct sim_csv *csv,
                   struct sim_hlog_interval *out,
                   struct ti_hist *hist,
                   char why[SIM_WHY_MAX])
{
    const char *const *fields = (const char *const *)csv->fields;
    uint32_t first = 0;

    if (is_heading (csv))
        return 0;
    if (csv->fields_count > 0 && strncmp (fields[0], "Tag=", 4) == 0)
        first = 1;
    if (csv->fields_count != first + 4 || !take_field (fields[first], 1e9, &out->start_ns) ||
        !take_field (fields[first + 1], 1e9, &out->length_ns) ||
        !take_field (fields[first + 2], 1e6, &out->max_ns))
        return sim_csv_refuse (csv, why,
                               "is no interval of a histogram log: start, length, largest value, "
                               "histogram");
    if (hist && !add_histogram (fields[first + 3], hist))
        return sim_csv_refuse (csv, why, "the histogram is not in HdrHistogram's V2 encoding");
    return 1;
}
