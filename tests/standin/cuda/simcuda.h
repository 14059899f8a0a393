/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * simcuda: what the files of the stand-in for libcuda.so.1 share. README.md is its manual.
 *
 * Device memory has two mappings. Programs get device addresses that the CPU cannot access: an
 * access crashes, as it should. Copies and simulated NICs use the other, hidden mapping.
 *
 * Every call that uses shared state holds sim_lock(); sim_progress() carries out what is due.
 */
#ifndef SIMCUDA_H
#define SIMCUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "memory/cuda_abi.h"

enum {
	SIM_GPUS = 16,
	SIM_FAILS = 32
};

/* The stand-in for HIP (../hip) is made of the same files, by other names. */
#ifndef SIM_NAME
#define SIM_NAME	  "simcuda"
#define SIM_ENV		  "SIMCUDA_"
#define SIM_FIRST_ADDRESS UINT64_C(0x7ea000000000)
#endif

#define EXPORTED __attribute__((visibility("default")))
/* A function's name without _v2, if cuda.h only has that with _v2. */
#define ALIAS(of) __attribute__((visibility("default"), alias(of)))

struct sim_gpu {
	char name[96];
	unsigned char uuid[16];
	char pci[32];
	int capability; /* 90 */
	uint64_t memory_bytes, used_bytes, bar1_bytes;
	int integrated, largebar, gtt; /* HIP's: gtt, exported memory moves to the host's */
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
	int init;   /* result of cuInit */
	int ngpu;
	struct sim_gpu gpu[SIM_GPUS];
	int nfail;
	struct sim_fail fail[SIM_FAILS];
	double gbps[SIM_WAYS]; /* 0: no delay */
	uint64_t latency_ns;
	unsigned long flip[SIM_WAYS]; /* the number of the copy with a wrong bit; 0 none */
	uint64_t misalign_bytes;
	bool touchable;
	const char *report;
	struct sim_counts count;
};

/* conf.c: created from the environment at the first call. */
struct sim_conf *sim_conf(void);
bool sim_parse_gpus(struct sim_conf *c, const char *text);
void sim_lock(void);
void sim_unlock(void);

/*
 * Enter CALL and take the lock. Returns 0, or without the lock the error that the call must return
 * (SIMCUDA_FAIL, no cuInit, no context).
 */
CUresult sim_enter(const char *call, bool needs_context);
/* Release the lock. Returns RESULT. */
CUresult sim_leave(CUresult result);

/* device.c */
struct sim_gpu *sim_current(void); /* GPU of the calling thread's context, or NULL */

/*
 * memory.c: the hidden address of device memory [ADDR, ADDR + BYTES); NULL if not all of it is
 * allocated.
 */
void *sim_hidden(CUdeviceptr addr, size_t bytes);
/* The allocation that ADDR is in: its begin and size; false if there is none. */
bool sim_allocation(CUdeviceptr addr, CUdeviceptr *base, size_t *bytes);
/*
 * A descriptor of the whole allocation of ADDR, and where in it that is. -1: [ADDR, ADDR + BYTES) is
 * not all in one.
 */
int sim_export_whole(CUdeviceptr addr, size_t bytes, uint64_t *offset);
struct sim_gpu *sim_gpu_of(CUdeviceptr addr);
/* ../hip/place.c, else nothing: BYTES more or fewer of G's memory are in use. */
void sim_placed(struct sim_gpu *g, int64_t bytes) __attribute__((weak));
bool sim_is_registered(const void *addr, size_t bytes);

/*
 * stream.c: copies are done in slices, so that moving the data keeps up with the simulated time.
 * sim_due() gives a slice to the engine of WAY, to start at AFTER_NS or later, and returns when it
 * is done.
 */
#define SIM_SLICE ((size_t)256 << 10)
uint64_t sim_now_ns(void);
uint64_t sim_due(enum sim_way way, size_t bytes, uint64_t after_ns, bool first);
/* Copy a slice now. LAST counts the copy, which may get a wrong bit. */
void sim_move(enum sim_way way, void *to, const void *from, size_t bytes, bool last);
void sim_wait(uint64_t due_ns);
void sim_progress(void);
void sim_drain(void); /* wait for everything */

#endif
