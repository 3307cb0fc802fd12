/* SPDX-License-Identifier: MIT */
/*
 * Runs one fuzz target without libFuzzer: every file of a corpus folder, then seeded random inputs
 * and mutations of the corpus. It finds no new paths by itself; it repeats what is known and looks
 * around it, the same way every time.
 *
 *   fuzz_<surface> CORPUS_DIR [RUNS]      or      fuzz_<surface> FILE...
 *
 * On a crash the input in hand is written to fuzz-last-input in the current folder; run the program
 * with that file to see it again, and move it into the corpus under a name that says what it is.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "base/util.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

enum {
    INPUT_MAX = 4096,
    CORPUS_MAX = 4096
};

struct input {
    uint8_t *data;
    size_t size;
};

static struct input corpus[CORPUS_MAX];
static size_t corpus_count;
/* The input in hand, for the signal handler. */
static const uint8_t *volatile current_data;
static volatile size_t current_size;

static void save_current (int signal_number)
{
    int fd = open ("fuzz-last-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd >= 0) {
        ssize_t written = write (fd, current_data, current_size);
        (void)written;
        close (fd);
    }
    signal (signal_number, SIG_DFL);
    raise (signal_number);
}

/* A copy of exactly the input's size lets the address sanitizer see one byte too far. */
static void run_one (const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc (size ? size : 1);
    if (!copy) {
        perror ("malloc");
        exit (1);
    }
    if (size)
        memcpy (copy, data, size);
    current_data = copy;
    current_size = size;
    (void)LLVMFuzzerTestOneInput (copy, size);
    current_size = 0;
    free (copy);
}

static uint64_t random_state = UINT64_C (0x7469656421);

static uint64_t next_random (void)
{
    random_state += UINT64_C (0x9e3779b97f4a7c15);
    return ti_mix (random_state);
}

static uint64_t next_below (uint64_t bound)
{
    return next_random () % bound;
}

static void add_file (const char *path)
{
    FILE *file = fopen (path, "rb");
    if (!file) {
        fprintf (stderr, "%s: %s\n", path, strerror (errno));
        exit (1);
    }
    uint8_t *data = malloc (INPUT_MAX);
    if (!data || corpus_count == CORPUS_MAX) {
        fprintf (stderr, "%s: too many inputs\n", path);
        exit (1);
    }
    size_t size = fread (data, 1, INPUT_MAX, file);
    fclose (file);
    corpus[corpus_count].data = data;
    corpus[corpus_count].size = size;
    corpus_count++;
}

/* In the order of the names, so that a run is the same on every file system. */
static void add_folder (const char *path)
{
    struct dirent **entries;
    int count = scandir (path, &entries, NULL, alphasort);
    if (count < 0)
        return;
    for (int i = 0; i < count; i++) {
        char name[1024];
        snprintf (name, sizeof name, "%s/%s", path, entries[i]->d_name);
        struct stat status;
        if (stat (name, &status) == 0 && S_ISREG (status.st_mode))
            add_file (name);
        free (entries[i]);
    }
    free (entries);
}

/* One of: wholly random bytes, or a corpus input with a few bytes flipped, set, cut or repeated. */
static size_t make_input (uint8_t *buffer)
{
    size_t size = 0;
    if (corpus_count == 0 || next_below (8) == 0) {
        size = (size_t)next_below (next_below (4) == 0 ? INPUT_MAX : 128);
        for (size_t i = 0; i < size; i++)
            buffer[i] = (uint8_t)next_random ();
        return size;
    }
    const struct input *seed = &corpus[next_below (corpus_count)];
    size = seed->size;
    memcpy (buffer, seed->data, size);
    uint64_t changes = 1 + next_below (4);
    for (uint64_t change = 0; change < changes && size > 0; change++) {
        size_t at = (size_t)next_below (size);
        size_t length = (size_t)next_below (size - at) + 1;
        switch (next_below (5)) {
        case 0:
            buffer[at] = (uint8_t)(buffer[at] ^ (1U << next_below (8)));
            break;
        case 1:
            buffer[at] = (uint8_t)next_random ();
            break;
        case 2: /* cut out */
            memmove (buffer + at, buffer + at + length, size - at - length);
            size -= length;
            break;
        case 3: /* repeat */
            if (size + length <= INPUT_MAX) {
                memmove (buffer + at + length, buffer + at, size - at);
                size += length;
            }
            break;
        default: /* cross with another */
        {
            const struct input *other = &corpus[next_below (corpus_count)];
            size_t take = other->size < size - at ? other->size : size - at;
            memcpy (buffer + at, other->data, take);
            break;
        }
        }
    }
    return size;
}

int main (int argc, char **argv)
{
    if (argc < 2) {
        fprintf (stderr, "usage: %s CORPUS_DIR [RUNS] | FILE...\n", argv[0]);
        return 2;
    }
    uint64_t runs = 0;
    struct stat status;
    if (stat (argv[1], &status) == 0 && S_ISREG (status.st_mode)) {
        for (int i = 1; i < argc; i++)
            add_file (argv[i]);
    } else {
        add_folder (argv[1]);
        runs = check_scale (argc > 2 ? strtoull (argv[2], NULL, 10) : 0);
    }
    signal (SIGABRT, save_current);
    signal (SIGSEGV, save_current);

    run_one (NULL, 0);
    for (size_t i = 0; i < corpus_count; i++)
        run_one (corpus[i].data, corpus[i].size);
    static uint8_t buffer[INPUT_MAX];
    for (uint64_t run = 0; run < runs; run++)
        run_one (buffer, make_input (buffer));
    printf ("%zu corpus inputs and %llu generated inputs passed\n", corpus_count,
            (unsigned long long)runs);
    for (size_t i = 0; i < corpus_count; i++)
        free (corpus[i].data);
    return 0;
}
