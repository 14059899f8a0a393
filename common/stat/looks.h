/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * looks: how often one may look at growing data and stop when they please, and how sure each look
 * must be so that all of them together err no more often than promised.
 *
 * Looks are at LEAST values and then at a quarter more each time. Look k, from 1, spends the error
 * α / 2^k: their sum, which bounds the error of stopping at any of them (Boole), is less than α,
 * however many there are (an alpha-spending function as of Lan and DeMets, Biometrika 70, 1983).
 * Assumes nothing of how the looks depend on each other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* True if one may look at COUNT values. */
bool looks_due(size_t least, size_t count);

/* The confidence in percent that an interval of the look at COUNT values, or of the next one, must
 * have for CONFIDENCE of all. */
double looks_confidence(size_t least, size_t count, double confidence);
