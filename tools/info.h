/* info.h - what `tilemm info` and `tilemm doctor` share.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_INFO_H
#define TILEMM_TOOLS_INFO_H

#include "command.h"

/* Print the version, backends, kernels, processor, devices and peers; the environment. */
void info_machine(void);
void info_environment(void);

/* Why the library refuses the value of variables[which] (topics.h), or NULL. */
const char *info_refusal(int which);

/* Where the constants of the CPU's plans are from, as tilemm_tuning() says; "" if that cannot be
 * asked. */
const char *info_tuning(void);

/* Why a backend cannot be used on a device, or NULL. */
const char *info_unusable(tilemm_backend_t backend, int device);

#endif
