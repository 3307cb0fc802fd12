/* SPDX-License-Identifier: MIT */
#ifndef TIED_VERSION_H
#define TIED_VERSION_H

/* The build system reads the version from these three lines. */
#define TIED_VERSION_MAJOR 0
#define TIED_VERSION_MINOR 1
#define TIED_VERSION_PATCH 0

#endif
