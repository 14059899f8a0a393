/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vgmem - tells valgrind about memory that a peer writes without its knowledge
 *
 * Without valgrind's header it does nothing. Outside valgrind it costs a few instructions, so it is
 * called only at registration.
 */
#ifndef SIMVERBS_VGMEM_H
#define SIMVERBS_VGMEM_H

#include <stddef.h>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define vgmem_defined(addr, len) ((void)VALGRIND_MAKE_MEM_DEFINED((addr), (len)))
#else
#define vgmem_defined(addr, len) ((void)(addr), (void)(len))
#endif

#endif
