/* SPDX-License-Identifier: MIT */
/* Umbrella header: everything that libtied offers. */
#ifndef TIED_H
#define TIED_H

#include <tied/version.h>
#include <tied/export.h>
#include <tied/error.h>
#include <tied/types.h>
#include <tied/policy.h>
#include <tied/wire.h>
#include <tied/replica_core.h>
#include <tied/client_core.h>
#include <tied/replica.h>
#include <tied/client.h>

#endif
