/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cuda_abi: the interface of NVIDIA's driver library: types, constants, prototypes.
 *
 * If the Makefile finds the toolkit (WITH_CUDA_H), the types come from its cuda.h, otherwise from
 * cuda_abi_types.h: a program built without the toolkit can use GPUs, too. The prototypes are always
 * declared here; if cuda.h declares them too, the compiler compares both. tests/standin/cuda/abi.bats
 * compares everything.
 */
#pragma once

#ifdef WITH_CUDA_H
#include <cuda.h>
#else
#include "memory/cuda_abi_types.h"
#endif

#include "memory/cuda_abi_calls.h"
