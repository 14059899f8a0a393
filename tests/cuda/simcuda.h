/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * simcuda: what the files of the stand-in for libcuda.so.1 share. README.md is its manual.
 *
 * Device memory has two mappings: what programs see as device addresses may not be touched (they
 * crash, as they should), and a hidden one that copies and simulated NICs use.
 *
 * sim_lock() is held in every call that touches state; sim_progress() carries out what is due.
 */
#ifndef SIMCUDA_H
#define SIMCUDA_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	SIM_GPUS = 16,
	SIM_FAILS = 32
};

#define EXPORTED __attribute__((visibility("default")))
/* Under its plain name, where cuda.h only says _v2. */
#define ALIAS(of) __attribute__((visibility("default"), alias(of)))

struct sim_gpu {
	char name[96];
	unsigned char uuid[16];
	char pci[32];
	int capability; /* 90 */
	uint64_t memory_bytes, used_bytes, bar1_bytes;
	int gpudirect, flush, ordering, dmabuf,
		c2c; /* attributes 116, 117, 118, 124; PCIe export */
	int retained;
};

struct sim_fail {
	char call[64];
	unsigned long nth;
	bool ever_after;
	int result;
	unsigned long seen;
};

enum sim_way {
	SIM_IN, /* host to device */
	SIM_OUT,
	SIM_WAYS
};

struct sim_counts {
	unsigned long allocs, frees, streams, streams_gone, events, events_gone, retains, releases;
	unsigned long registers, unregisters, exports, flushes, copies[SIM_WAYS];
};

struct sim_conf {
	int driver; /* 12040 */
	int init;   /* what cuInit says */
	int ngpu;
	struct sim_gpu gpu[SIM_GPUS];
	int nfail;
	struct sim_fail fail[SIM_FAILS];
	double gbps[SIM_WAYS]; /* 0: at once */
	uint64_t latency_ns;
	unsigned long flip[SIM_WAYS]; /* of which copy a bit is wrong; 0 none */
	uint64_t misalign_bytes;
	bool touchable;
	const char *report;
	struct sim_counts count;
};

/* conf.c: made from the environment at the first call. */
struct sim_conf *sim_conf(void);
bool sim_parse_gpus(struct sim_conf *c, const char *text);
void sim_lock(void);
void sim_unlock(void);

/*
 * Enter CALL: takes the lock. Returns what the call must fail with (SIMCUDA_FAIL, no cuInit, no
 * context), the lock is then not held; or 0.
 */
CUresult sim_enter(const char *call, bool needs_context);
/* Leave it with RESULT. */
CUresult sim_leave(CUresult result);

/* device.c */
struct sim_gpu *sim_current(void); /* of the calling thread's context, NULL */

/* memory.c: the hidden address of device memory [ADDR, ADDR + BYTES), NULL if it is not all. */
void *sim_hidden(CUdeviceptr addr, size_t bytes);
bool sim_is_registered(const void *addr, size_t bytes);

/*
 * stream.c: copies go in slices, so that moving the data keeps up with the time it should take. A
 * slice given now to the engine of WAY, not to begin before AFTER_NS, is done when?
 */
#define SIM_SLICE ((size_t)256 << 10)
uint64_t sim_now_ns(void);
uint64_t sim_due(enum sim_way way, size_t bytes, uint64_t after_ns, bool first);
/* Carry a slice out now; the last counts the copy, and a bit of it may be wrong. */
void sim_move(enum sim_way way, void *to, const void *from, size_t bytes, bool last);
void sim_wait(uint64_t due_ns);
void sim_progress(void);
void sim_drain(void); /* wait for everything */

#endif
