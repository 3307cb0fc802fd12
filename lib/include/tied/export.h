/* SPDX-License-Identifier: MIT */
#ifndef TIED_EXPORT_H
#define TIED_EXPORT_H

#ifdef __cplusplus
#define TIED_BEGIN_DECLS extern "C" {
#define TIED_END_DECLS   }
#else
#define TIED_BEGIN_DECLS
#define TIED_END_DECLS
#endif

#if defined(__GNUC__)
#define TIED_EXPORT    __attribute__ ((visibility ("default")))
#define TIED_NODISCARD __attribute__ ((warn_unused_result))
#else
#define TIED_EXPORT
#define TIED_NODISCARD
#endif

#endif
