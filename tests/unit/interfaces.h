/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* interfaces: what the network interfaces in the tree of tree.h answer, in a unit test. */
#ifndef RDMARK_TESTS_UNIT_INTERFACES_H
#define RDMARK_TESTS_UNIT_INTERFACES_H

#include "../lib/interfaces.c"

#endif
