/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory: a buffer of one of several kinds: ordinary pages, huge pages of the system's pool, a
 * mapped file (which may be a hugetlbfs, DAX or device file), or memory of a GPU.
 *
 * Each kind is a const struct memory_ops in a file of its own: host.c, huge.c, file.c, and one for
 * each vendor of GPUs (cuda.c, hip.c). A vendor's ops also are its driver: gpu.h has the words
 * around them. A new vendor is a new file, and a row of vendors.h.
 *
 * One thread at a time may use a struct memory; it need not be the one that allocated it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct pin;

struct gpu;
struct gpu_info;
struct memory_ops;

/* What memory is wanted; all of it zero but the size: ordinary pages on any node. */
struct memory_attr {
	size_t bytes;
	struct gpu *gpu;            /* of this GPU; or, of the host: */
	const struct pin *pin;      /* on the node that it chose; NULL: any */
	bool huge;                  /* in huge pages: from that node as far as it has some */
	const char *file;           /* this file's; lent. Its content stays until messages arrive */
	uint64_t file_offset_bytes; /* a multiple of the page size */
};

/* A zeroed one is empty. */
struct memory {
	const struct memory_ops *ops;
	struct gpu *gpu;     /* NULL: the host's */
	uint64_t addr;       /* for NICs, and copies */
	void *host;          /* the same for the CPU; NULL: the CPU must not access it */
	size_t bytes;        /* as wanted */
	size_t mapped_bytes; /* of the host's */
	uint64_t base;       /* of a GPU's: what its driver allocated, before addr was aligned */
	char what[128];      /* "huge pages of 2 MiB"; "" for ordinary pages and GPUs */
};

/*
 * Allocate what ATTR describes: page aligned (GPUs': GPU_ALIGN_BYTES), zeroed unless it is a
 * file's, and already present, so that the first access costs no page fault. Returns 0, or -1 with
 * the fault raised.
 */
int memory_alloc(struct memory *m, const struct memory_attr *attr, struct fault *f);

/* Free it; safe on a zeroed object. */
void memory_free(struct memory *m);

/* Why a NIC cannot reach a GPU's memory. The number that goes with it is a result of the vendor's
 * driver for exports, otherwise an errno. */
enum memory_refusal {
	MEMORY_EXPORT,        /* the driver does not export it as a dma-buf */
	MEMORY_EXPORT_DIRECT, /* nor for Data Direct */
	MEMORY_NO_DMABUF,     /* the NIC's driver, kernel or library cannot register dma-bufs */
	MEMORY_DMABUF,        /* registering the exported dma-buf failed */
	MEMORY_PEERMEM,       /* registering the address failed */
	MEMORY_MOVED,         /* the driver moved it to host memory, see moved_bytes */
};

struct memory_ops {
	const char *name; /* "pages", "huge pages", "file", "CUDA", "HIP" */

	/* Set addr, host or base, and what; the rest is set. */
	int (*alloc)(struct memory *m, const struct memory_attr *attr, struct fault *f);
	void (*free)(struct memory *m); /* NULL: host memory, which is unmapped */

	/*
	 * The others only GPUs have. Where one returns an int without a fault, that is 0 or the
	 * driver's positive result.
	 */
	const char *module;    /* its driver in the kernel */
	const char *hidden_by; /* the environment variable that hides GPUs */
	const char *option;    /* perftest's for an index among this vendor's; NULL: it has none */
	int (*list)(struct gpu_info **list, size_t *count, struct fault *f);
	int (*open)(struct gpu **g, const struct gpu_info *info, struct fault *f);
	void (*close)(struct gpu *g);
	/* The copy is complete when the call returns. */
	int (*copy_in)(struct gpu *g, uint64_t to, const void *from, size_t bytes, struct fault *f);
	int (*copy_out)(struct gpu *g, void *to, uint64_t from, size_t bytes, struct fault *f);

	/*
	 * For NICs. Export [ADDR, ADDR + BYTES) as a dma-buf: the caller closes *FD; *OFFSET is the
	 * offset of ADDR in it. PCIE requests the mapping that mlx5 Data Direct needs. Raises no
	 * fault, because a probe may fail.
	 */
	int (*export)(struct gpu *g, uint64_t addr, size_t bytes, bool pcie, int *fd,
		      uint64_t *offset);
	/*
	 * How much of the memory of G, and of what else its driver manages, lies in the host's; -1:
	 * not known. It grows by a buffer that the driver moved there when a NIC attached it. NULL:
	 * this vendor's driver moves nothing.
	 */
	int64_t (*moved_bytes)(const struct gpu_info *g);
	int (*flush)(struct gpu *g, struct fault *f); /* if info.can_flush, see gpu_flush() */
	bool (*has_peermem)(void); /* its module is loaded; does not start the driver */

	/* streams and their events, from and to registered host memory */
	int (*host_register)(struct gpu *g, void *addr, size_t bytes);
	void (*host_release)(struct gpu *g, void *addr);
	int (*stream_create)(struct gpu *g, void **stream);
	void (*stream_destroy)(struct gpu *g, void *stream); /* waits for its copies */
	int (*event_create)(struct gpu *g, void **event);
	void (*event_destroy)(struct gpu *g, void *event);
	int (*stream_in)(struct gpu *g, void *stream, uint64_t to, const void *from, size_t bytes);
	int (*stream_out)(struct gpu *g, void *stream, void *to, uint64_t from, size_t bytes);
	int (*stream_mark)(struct gpu *g, void *stream, void *event);
	int (*stream_done)(struct gpu *g, void *event); /* 1 done, 0 not yet, or negative */

	/* The words: a result's name; the fault for a failed CALL (printf); and why NICs cannot
	 * reach the memory: BYTES of a GPU for which REFUSAL and NUMBER were found. Both return -1.
	 */
	const char *(*error_name)(int result);
	int (*failed)(struct fault *f, int result, const char *call, ...)
		__attribute__((format(printf, 3, 4)));
	int (*why)(const struct gpu_info *g, enum memory_refusal refusal, int number, size_t bytes,
		   struct fault *f);
};

/* host.c, huge.c, file.c; those of vendors are in vendors.h */
const struct memory_ops *memory_pages(void);
const struct memory_ops *memory_huge(void);
const struct memory_ops *memory_file(void);
