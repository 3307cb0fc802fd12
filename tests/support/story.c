/* SPDX-License-Identifier: MIT */
/* Stories of story.h. */
#include "story.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "check.h"

void story_init (struct story *self)
{
    memset (self, 0, sizeof *self);
    world_options_init (&self->options);
    self->options.service.a_ns = MS (5);
    self->options.client.heartbeat_ns = S (3600);
    self->options.replica.client_silence_ns = TIED_NEVER;
}

void story_begin (struct story *self, const char *title)
{
    self->file = open_memstream (&self->text, &self->size);
    TI_ASSERT (self->file != NULL);
    (void)fprintf (self->file, "# %s\n", title);
    self->world = world_new (&self->options);
    world_run_until (self->world, WORLD_START + MS (10));
    world_set_transcript (self->world, self->file, world_now (self->world));
}

void story_say (struct story *self, const char *text)
{
    (void)fprintf (self->file, "# %s\n", text);
}

static char *read_file (const char *path)
{
    FILE *file = fopen (path, "rb");
    char *text = calloc (1, 1 << 16);

    TI_ASSERT (text != NULL);
    if (file != NULL) {
        const size_t size = fread (text, 1, (1 << 16) - 1, file);
        text[size] = '\0';
        (void)fclose (file);
    }
    return text;
}

/* The first line in which they differ, with its number. */
static void show_difference (const char *path, const char *want, const char *got)
{
    unsigned line = 1;

    while (*want != '\0' && *got != '\0') {
        const size_t want_size = strcspn (want, "\n");
        const size_t got_size = strcspn (got, "\n");
        if (want_size != got_size || memcmp (want, got, want_size) != 0)
            break;
        want += want_size + (want[want_size] == '\n');
        got += got_size + (got[got_size] == '\n');
        line++;
    }
    print_error ("%s:%u differs (TIED_REWRITE=1 rewrites it)\n  file:  %.*s\n  world: %.*s\n", path,
                 line, (int)strcspn (want, "\n"), want, (int)strcspn (got, "\n"), got);
}

void story_end (struct story *self, const char *name)
{
    char path[512];
    char violation[192];
    const char *rewrites = getenv ("TIED_REWRITE");
    char *want;
    bool is_equal;

    (void)world_run_idle (self->world, world_now (self->world) + S (10));
    world_run_until (self->world, world_now (self->world) + MS (1));
    memcpy (violation, world_ledger (self->world)->violation, sizeof violation);
    world_set_transcript (self->world, NULL, 0);
    if (violation[0] == '\0') {
        world_settle (self->world);
        ledger_end (world_ledger (self->world), false);
        world_check_empty (self->world);
        memcpy (violation, world_ledger (self->world)->violation, sizeof violation);
    }
    (void)fclose (self->file);
    world_free (self->world);
    (void)snprintf (path, sizeof path, "%s/tests/golden/%s.txt", TIED_SOURCE_DIR, name);
    if (rewrites != NULL && strcmp (rewrites, "1") == 0) {
        FILE *file = fopen (path, "wb");
        CHECK_TRUE (file != NULL);
        (void)fwrite (self->text, 1, self->size, file);
        (void)fclose (file);
    }
    want = read_file (path);
    is_equal = strcmp (want, self->text) == 0;
    if (!is_equal)
        show_difference (path, want, self->text);
    free (want);
    free (self->text);
    CHECK_STR (violation, "");
    CHECK_TRUE (is_equal);
}
