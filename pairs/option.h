/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* option: reads "--name=value", or "--name value" in two words. */
#pragma once

#include "base/fault.h"

/*
 * If **ARGV is the option NAME, return its value and step *ARGV to its last word; NULL: it is
 * another one. Without a value: "", with FAULT_USAGE raised.
 */
const char *option_value(char ***argv, const char *name, struct fault *f);
