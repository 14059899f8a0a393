/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* simhip: what HIP's half and HSA's half of the stand-in share; README.md is its manual. */
#ifndef SIMHIP_H
#define SIMHIP_H

#include "simcuda.h"

/* Of HSA's library, for HIP's. Results are HIP's, which are CUDA's by number. */
EXPORTED int simhip_current(int device); /* make it the thread's, or, if it has none, DEVICE */
EXPORTED int simhip_export(uint64_t addr, size_t bytes, int *fd, uint64_t *offset);
EXPORTED int simhip_allocation(uint64_t addr, uint64_t *base, size_t *bytes);
EXPORTED int simhip_version(void); /* 60443483 is ROCm 6.4.43483 */
EXPORTED const struct sim_gpu *simhip_gpu(int device);
/* Count the call; what SIMHIP_FAIL says of it. */
EXPORTED int simhip_failure(const char *call);

/* For the stand-in NIC: a dma-buf of BYTES was attached, or is no longer. */
EXPORTED void simhip_attached(int fd, size_t bytes, bool attached);

#endif
