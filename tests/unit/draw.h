/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* draw: random numbers that are the same in every run; X is the state. */
#ifndef RDMARK_TESTS_UNIT_DRAW_H
#define RDMARK_TESTS_UNIT_DRAW_H

#include <stdint.h>

static inline uint64_t draw(uint64_t *x)
{
	uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

#endif
