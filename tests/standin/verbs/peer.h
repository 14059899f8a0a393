/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peer - another process of the fabric (or this one), as seen by a requester
 *
 * Peers are attached on first use and kept until they are gone and nobody uses them. Data are moved
 * by process_vm_readv and process_vm_writev, so a peer needs neither a thread nor a call of this
 * library to be written to; within one process it is a memmove.
 */
#ifndef SIMVERBS_PEER_H
#define SIMVERBS_PEER_H

#include "shm.h"

#include <sys/uio.h>

struct peer {
	struct shm_seg *seg;
	bool self;
	struct peer_pipe *pipes; /* open event pipes */
	unsigned int users;	 /* peer_get() without peer_put() */
	struct peer *next;	 /* an older process of that slot, still used */
};

/* A message in an event pipe. */
struct pipe_msg {
	uint32_t kind; /* async: event type; channel: 0 */
	uint32_t idx;  /* CQ or SRQ index, QP number or port */
	uint32_t gen;
	uint32_t pad;
};

/* The process in a slot, or NULL. Thread safe; valid until peer_put(), also of a process that ends. */
struct peer *peer_get(unsigned int slot);

/* P may be NULL. */
void peer_put(struct peer *p);

/* This process, or NULL with errno; it needs no peer_put(). */
struct peer *peer_self(void);

/*
 * Copy local memory to the peer (write) or back.  Both lists must hold the
 * same number of bytes.  When ordered, the last bytes arrive last, as a
 * program that polls memory expects.  0, or -ESRCH when the peer is gone,
 * -EFAULT when memory on either side is, -EPERM when the system forbids it.
 */
struct peer_copy {
	struct iovec *local, *remote;
	int nlocal, nremote;
	size_t bytes;
	bool write, ordered;
};

int peer_copy(struct peer *p, struct peer_copy *c);

/* 0, or -ESRCH when the peer's process is gone. */
int peer_probe(struct peer *p);

/* Write a message to one of the peer's event pipes; ignored if it is full. */
void peer_notify(struct peer *p, uint32_t pipe, const struct pipe_msg *msg);

/* Create an event pipe of this process. Returns its file descriptor, or -1; sets *serial. */
int peer_make_pipe(uint32_t *serial);
void peer_drop_pipe(int fd, uint32_t serial);

#endif
