/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* gpu - the memory of the stand-ins for GPU drivers (tests/standin/cuda, tests/standin/hip) */
#ifndef SIMVERBS_GPU_H
#define SIMVERBS_GPU_H

#include "sim.h"

/* Where GPU memory at ADDR lies: 0 it is none, 1 at *HOST, -1 it is some, but not for this device.
 */
int gpu_memory(const struct desc_dev *d, void *addr, size_t length, void **host);

/*
 * What part of the file the dma-buf FD is: all of it, or what the driver put into the file position
 * (first page | pages << 31). Returns false if OFFSET and LENGTH, from the part's begin, do not lie
 * in it; else *OFFSET is from the file's.
 */
bool gpu_window(int fd, uint64_t page, uint64_t length, uint64_t *offset);

/* Tell AMD's driver, which may move the memory then, that LENGTH bytes of FD are attached. */
void gpu_attached(int fd, size_t length);

#endif
