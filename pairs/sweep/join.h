/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* join: what is in a file as one word of a command line, for hosts that do not have the file. */
#pragma once

#include "base/fault.h"
#include "pairs/hosts.h"

#define JOIN_BYTES_MAX 40000 /* of all words that ssh gets the kernel takes 128 KiB */

/*
 * FILE as one word "lines:…"; its name, if that would be too long, or a word has a "+", which is then
 * said. KNOWN: it is a plan, whose hosts become numbers, which are short; NULL: it is none. The caller
 * frees it. NULL with FAULT_USAGE or FAULT_LOCAL.
 */
char *join_lines(const char *file, const struct hosts *known, struct fault *f);
