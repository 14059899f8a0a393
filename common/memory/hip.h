/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hip: what the files of AMD's GPUs share: the words. Only hip*.c include this. */
#pragma once

#include "memory/hip_abi.h"
#include "memory/memory.h"

/* hip_why.c: as in struct memory_ops; a number of 0x1000 and more is HSA's */
const char *hip_error_name(int result);
int hip_failed(struct fault *f, int result, const char *call, ...)
	__attribute__((format(printf, 3, 4), cold));
int hip_why(const struct gpu_info *g, enum memory_refusal refusal, int number, size_t bytes,
	    struct fault *f);
bool hip_has_peermem(void);
/* Raise why hipInit() or hipGetDeviceCount() returned RC. Returns -1. */
int hip_no_device(struct fault *f, int rc);
