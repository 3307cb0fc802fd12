/* SPDX-License-Identifier: MIT */
/*
 * Printed names of everything that has a number: made from the tables of the public headers, so a
 * name is never written twice. No state, no formatting.
 */
#include <tied/error.h>
#include <tied/types.h>
#include <tied/version.h>
#include <tied/wire.h>

static const char *const unknown = "?";

#define CASE_(name, value, text)                                                                   \
    case (value):                                                                                  \
        return text;

const char *tied_mode_name (int mode)
{
    switch (mode) {
        TIED_MODE_MAP (CASE_)
    default:
        return unknown;
    }
}

const char *tied_outcome_name (int outcome)
{
    switch (outcome) {
        TIED_OUTCOME_MAP (CASE_)
    default:
        return unknown;
    }
}

/* The two lists of reasons that travel start at 1; 0 is "no reason" in memory only. */
const char *tied_reject_name (int reason)
{
    switch (reason) {
        CASE_ (NONE, TIED_REJECT_NONE, "none")
        TIED_REJECT_MAP (CASE_)
    default:
        return unknown;
    }
}

const char *tied_cancel_name (int reason)
{
    switch (reason) {
        CASE_ (NONE, TIED_CANCEL_NONE, "none")
        TIED_CANCEL_MAP (CASE_)
    default:
        return unknown;
    }
}

const char *tied_not_sent_name (int reason)
{
    switch (reason) {
        TIED_NOT_SENT_MAP (CASE_)
    default:
        return unknown;
    }
}

const char *tied_governor_state_name (int state)
{
    switch (state) {
        TIED_GOVERNOR_STATE_MAP (CASE_)
    default:
        return unknown;
    }
}

const char *tied_governor_reason_name (int reason)
{
    switch (reason) {
        TIED_GOVERNOR_REASON_MAP (CASE_)
    default:
        return unknown;
    }
}

const char *tied_copy_fate_name (int fate)
{
    switch (fate) {
        TIED_COPY_MAP (CASE_)
    default:
        return unknown;
    }
}

const char *tied_wire_type_name (int type)
{
    switch (type) {
        TIED_WIRE_TYPE_MAP (CASE_)
    default:
        return unknown;
    }
}

const char *tied_wire_fault_name (int fault)
{
    switch (fault) {
        TIED_WIRE_FAULT_MAP (CASE_)
    default:
        return unknown;
    }
}

#define ERROR_NAME_(name, value, retriable, text)                                                  \
    case (value):                                                                                  \
        return "TIED_ERR_" #name;
#define ERROR_TEXT_(name, value, retriable, text)                                                  \
    case (value):                                                                                  \
        return text;
#define ERROR_RETRIABLE_(name, value, retriable, text)                                             \
    case (value):                                                                                  \
        return retriable;

const char *tied_error_name (int error)
{
    switch (error) {
    case TIED_OK:
        return "TIED_OK";
        TIED_ERROR_MAP (ERROR_NAME_)
    default:
        return "TIED_ERR_?";
    }
}

const char *tied_error_text (int error)
{
    switch (error) {
    case TIED_OK:
        return "success";
        TIED_ERROR_MAP (ERROR_TEXT_)
    default:
        return "unknown error";
    }
}

int tied_error_is_retriable (int error)
{
    switch (error) {
        TIED_ERROR_MAP (ERROR_RETRIABLE_)
    default:
        return 0;
    }
}

void tied_version (int *major, int *minor, int *patch)
{
    if (major)
        *major = TIED_VERSION_MAJOR;
    if (minor)
        *minor = TIED_VERSION_MINOR;
    if (patch)
        *patch = TIED_VERSION_PATCH;
}
