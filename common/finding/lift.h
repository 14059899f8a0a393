/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * lift: apart from quality.h, since two users need only this.
 *
 * What lack of CPU explains, as a logarithm: HAD is what each end had of its CPU (1: all). A rate
 * (US: 0) lacks its part, and a bit more; a latency US all above its LEAST_US (0: unknown).
 */
double quality_lift(const double had[2], double us, double least_us);
