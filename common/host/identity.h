/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * identity: the machine's software and hardware, and the command line, as text for the reader of a
 * document. Nothing is measured or decided with them. An unknown one is "".
 */
#pragma once

#include <stddef.h>

/* Write the kernel's release, as `uname -r` prints it. */
void identity_kernel(char *buf, size_t size);

/*
 * Write the model of the first CPU in CPUINFO ("/proc/cpuinfo"). If it has no name, as often on
 * Arm, write the numbers of its implementer and its part.
 */
void identity_cpu_model(const char *cpuinfo, char *buf, size_t size);

/*
 * Write the version of rdma-core of the loaded libibverbs. There is no call for it, but the
 * library's file name has it: libibverbs.so.1.14.44.0 is of version 44.0. identity_rdma_core_of()
 * does the same for the file name FILE; "" if it is not of that form.
 */
void identity_rdma_core(char *buf, size_t size);
void identity_rdma_core_of(const char *file, char *buf, size_t size);
