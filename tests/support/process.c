/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define PROCESSES_MAX 64
#define TEXT_MAX      (1 << 20)

struct process {
    pid_t pid;
    int pid_fd;
    int out_fd; /* pipe from standard output */
    int err_fd; /* memory file behind standard error */
    bool is_reaped;
    int status;
    char *out; /* all of standard output so far */
    size_t out_size;
    size_t line_at; /* start of the next line in out */
    char *errors;
};

static struct process *processes[PROCESSES_MAX];

/* In the child: only what is safe after fork () of a process with threads. */
static void become (const char *const argv[], pid_t parent, int out, int err)
{
    sigset_t none;

    (void)prctl (PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid () != parent)
        _exit (126);
    (void)sigemptyset (&none);
    (void)sigprocmask (SIG_SETMASK, &none, NULL);
    /* Who runs the tests in the background or under nohup ignores some for us. */
    (void)signal (SIGINT, SIG_DFL);
    (void)signal (SIGQUIT, SIG_DFL);
    (void)signal (SIGHUP, SIG_DFL);
    if (dup2 (out, STDOUT_FILENO) < 0 || dup2 (err, STDERR_FILENO) < 0)
        _exit (126);
    (void)execv (argv[0], (char *const *)(uintptr_t)argv);
    _exit (127);
}

static struct process **free_place (void)
{
    size_t i = 0;

    while (i < PROCESSES_MAX && processes[i])
        i++;
    CHECK_U64 (i, <, PROCESSES_MAX);
    return &processes[i];
}

struct process *process_start (const char *const argv[])
{
    struct process **place = free_place ();
    struct process *self = calloc (1, sizeof *self);
    pid_t parent = getpid ();
    int out[2];

    CHECK_TRUE (self != NULL);
    self->out = calloc (1, TEXT_MAX + 1);
    self->errors = calloc (1, TEXT_MAX + 1);
    CHECK_TRUE (self->out != NULL && self->errors != NULL);
    CHECK_I64 (pipe2 (out, O_CLOEXEC), ==, 0);
    self->err_fd = memfd_create ("stderr", MFD_CLOEXEC);
    CHECK_I64 (self->err_fd, >=, 0);
    self->pid = fork ();
    if (self->pid == 0)
        become (argv, parent, out[1], self->err_fd);
    (void)close (out[1]);
    CHECK_I64 (self->pid, >, 0);
    *place = self;
    self->out_fd = out[0];
    self->pid_fd = pidfd_open (self->pid, 0);
    CHECK_I64 (self->pid_fd, >=, 0);
    return self;
}

pid_t process_pid (const struct process *self)
{
    return self->pid;
}

/* @return false at the end of the output */
static bool read_more (struct process *self)
{
    struct pollfd item = {.fd = self->out_fd, .events = POLLIN, .revents = 0};
    ssize_t got;

    CHECK_U64 (self->out_size, <, TEXT_MAX);
    CHECK_I64 (poll (&item, 1, PROCESS_BOUND_MS), ==, 1);
    got = read (self->out_fd, self->out + self->out_size, TEXT_MAX - self->out_size);
    if (got > 0)
        self->out_size += (size_t)got;
    self->out[self->out_size] = 0;
    return got > 0;
}

const char *process_line (struct process *self)
{
    char *line;
    char *end;

    while (!(end = strchr (self->out + self->line_at, '\n'))) {
        if (!read_more (self))
            return NULL;
    }
    line = self->out + self->line_at;
    *end = 0;
    self->line_at = (size_t)(end - self->out) + 1;
    return line;
}

void process_signal (const struct process *self, int number)
{
    CHECK_FALSE (self->is_reaped);
    CHECK_I64 (kill (self->pid, number), ==, 0);
}

void process_stop (const struct process *self)
{
    siginfo_t info;

    process_signal (self, SIGSTOP);
    /* The signal is only on its way; this waits until every thread of it stands. */
    while (waitid (P_PID, (id_t)self->pid, &info, WSTOPPED) != 0)
        CHECK_I64 (errno, ==, EINTR);
    CHECK_I64 (info.si_code, ==, CLD_STOPPED);
}

static void reap (struct process *self)
{
    int status = 0;

    while (waitpid (self->pid, &status, 0) < 0 && errno == EINTR) {
    }
    self->status = WIFSIGNALED (status) ? -WTERMSIG (status) : WEXITSTATUS (status);
    self->is_reaped = true;
}

int process_wait (struct process *self)
{
    struct pollfd item = {.fd = self->pid_fd, .events = POLLIN, .revents = 0};

    if (self->is_reaped)
        return self->status;
    /* Its output first: who writes much would not end while nobody reads. */
    while (read_more (self)) {
    }
    if (poll (&item, 1, PROCESS_BOUND_MS) != 1) {
        print_error ("process %ld does not end; it says:\n%s\n", (long)self->pid,
                     process_errors (self));
        CHECK_TRUE (false);
    }
    reap (self);
    return self->status;
}

bool process_is_alive (const struct process *self)
{
    struct pollfd item = {.fd = self->pid_fd, .events = POLLIN, .revents = 0};

    return !self->is_reaped && poll (&item, 1, 0) == 0;
}

size_t process_memory (pid_t pid)
{
    char path[64];
    long pages = 0;
    FILE *file;

    (void)snprintf (path, sizeof path, "/proc/%ld/statm", (long)pid);
    file = fopen (path, "r");
    if (!file)
        return 0;
    if (fscanf (file, "%*s %ld", &pages) != 1)
        pages = 0;
    (void)fclose (file);
    return (size_t)pages * (size_t)sysconf (_SC_PAGESIZE);
}

const char *process_errors (struct process *self)
{
    ssize_t got = pread (self->err_fd, self->errors, TEXT_MAX, 0);

    self->errors[got > 0 ? got : 0] = 0;
    return self->errors;
}

const char *process_output (struct process *self)
{
    return self->out + self->line_at;
}

void process_free (struct process **self_p)
{
    struct process *self = *self_p;

    *self_p = NULL;
    if (!self)
        return;
    for (size_t i = 0; i < PROCESSES_MAX; i++) {
        if (processes[i] == self)
            processes[i] = NULL;
    }
    if (!self->is_reaped) {
        (void)kill (self->pid, SIGKILL);
        reap (self);
    }
    (void)close (self->pid_fd);
    (void)close (self->out_fd);
    (void)close (self->err_fd);
    free (self->out);
    free (self->errors);
    free (self);
}

int process_teardown (void **state)
{
    (void)state;
    for (size_t i = 0; i < PROCESSES_MAX; i++) {
        if (processes[i])
            process_free (&(struct process *){processes[i]});
    }
    return 0;
}
