/* host.h - what this machine has, for the command: processor, threads, memory. Folders and files
 * are looked for below `root`, which is "" but in tests.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_HOST_H
#define TILEMM_TOOLS_HOST_H

#include <stddef.h>
#include <stdint.h>

/* The instruction sets of interest, with blanks between them. */
void host_features(char *text, size_t size);

/* AMX with BF16: not there; not saved by the kernel; not lent to this process; lent. */
typedef enum { AMX_NONE, AMX_NO_KERNEL, AMX_REFUSED, AMX_READY } host_amx_t;
host_amx_t host_amx(void);

int host_processors(void); /* that this process may run on */

/* The number of threads that the library uses by default, in a program without OpenMP. */
int host_threads(void);

/* How many processors' time the control group lends, or 0 where it sets no limit. */
double host_cpu_limit(const char *root);

/* Bytes that are free: of the machine, and of the control group where there is one. */
uint64_t host_free_memory(const char *root);
uint64_t host_memory(const char *root); /* the machine's, or UINT64_MAX */

int host_has_nvidia(const char *root); /* a GPU on the PCI bus, or in /dev */

#endif
