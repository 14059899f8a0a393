// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One kernel call moves at most this much. */
enum {
	PEER_CHUNK = 1 << 30,
	PEER_IOV = 66
};

struct peer_pipe {
	struct peer_pipe *next;
	uint32_t serial;
	int fd;
};

static struct {
	pthread_mutex_t mutex;
	struct peer *slot[SHM_SLOTS]; /* and, after it, those that are gone and still used */
	struct peer *_Atomic self;
	_Atomic uint32_t serial;
} peers = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void peer_free(struct peer *p)
{
	struct peer_pipe *e;

	while ((e = p->pipes)) {
		p->pipes = e->next;
		close(e->fd);
		free(e);
	}
	free(p);
}

static void peer_forked(void)
{
	struct peer *p;
	int i;

	for (i = 0; i < SHM_SLOTS; i++)
		while ((p = peers.slot[i])) {
			peers.slot[i] = p->next;
			peer_free(p);
		}
	memset(&peers, 0, sizeof(peers));
	pthread_mutex_init(&peers.mutex, NULL);
}

static __attribute__((constructor)) void peer_setup(void)
{
	pthread_atfork(NULL, NULL, peer_forked);
}

static struct peer *peer_attach(unsigned int slot)
{
	struct shm_seg *seg = shm_attach(slot);
	struct peer *p;

	if (!seg)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p) {
		shm_detach(seg);
		return NULL;
	}
	p->seg = seg;
	p->self = seg->id.pid == *shm_my_pid;
	p->next = peers.slot[slot];
	peers.slot[slot] = p;
	return p;
}

/* Unmap P if its process is gone and nobody uses it. */
static void peer_drop(struct peer *p)
{
	struct peer **at = &peers.slot[p->seg->slot];

	if (p->users || !shm_gone(p->seg))
		return;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	shm_detach(p->seg);
	peer_free(p);
}

struct peer *peer_get(unsigned int slot)
{
	struct peer *p;

	if (slot >= SHM_SLOTS)
		return NULL;
	pthread_mutex_lock(&peers.mutex);
	if (peers.slot[slot])
		peer_drop(peers.slot[slot]);
	p = peers.slot[slot];
	if (!p || shm_gone(p->seg))
		p = peer_attach(slot);
	if (p)
		p->users++;
	pthread_mutex_unlock(&peers.mutex);
	return p;
}

void peer_put(struct peer *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&peers.mutex);
	p->users--;
	peer_drop(p);
	pthread_mutex_unlock(&peers.mutex);
}

struct peer *peer_self(void)
{
	struct peer *p = atomic_load_explicit(&peers.self, memory_order_acquire);
	struct shm_seg *seg = p ? NULL : shm_self();

	if (!seg)
		return p;
	p = peer_get(seg->slot);
	atomic_store(&peers.self, p);
	return p;
}

static int copy_errno(struct peer *p)
{
	static _Atomic bool told;

	if (errno == ESRCH) {
		atomic_store(&p->seg->dead, 1);
		return -ESRCH;
	}
	if (!atomic_exchange(&told, true))
		fprintf(stderr, "simverbs: copying to or from process %u: %s%s\n", p->seg->id.pid,
			strerror(errno),
			errno == EPERM ? " (both sides must run as the same user; see "
					 "kernel.yama.ptrace_scope, seccomp)"
				       : "");
	return errno == EPERM ? -EPERM : -EFAULT;
}

int peer_probe(struct peer *p)
{
	uint64_t v;
	struct iovec l = {&v, sizeof(v)};
	struct iovec r = {(void *)(uintptr_t)p->seg->probe, sizeof(v)};

	if (p->self)
		return 0;
	if (atomic_load(&p->seg->dead))
		return -ESRCH;
	if (process_vm_readv(p->seg->id.pid, &l, 1, &r, 1, 0) == sizeof(v) && v == p->seg->probe)
		return 0;
	atomic_store(&p->seg->dead, 1);
	return -ESRCH;
}

/* Drop n bytes from the front of a list. */
static void iov_advance(struct iovec **iov, int *cnt, size_t n)
{
	while (*cnt && n >= (*iov)->iov_len) {
		n -= (*iov)->iov_len;
		(*iov)++;
		(*cnt)--;
	}
	if (*cnt) {
		(*iov)->iov_base = (char *)(*iov)->iov_base + n;
		(*iov)->iov_len -= n;
	}
}

/* Split the last element so that the tail is a copy of its own. */
static void split_tail(struct iovec *iov, int *cnt)
{
	struct iovec *last = &iov[*cnt - 1];
	size_t tail = 8;

	if (*cnt >= PEER_IOV - 1 || last->iov_len <= tail)
		return;
	last->iov_len -= tail;
	last[1].iov_base = (char *)last->iov_base + last->iov_len;
	last[1].iov_len = tail;
	++*cnt;
}

static int copy_self(struct peer_copy *c)
{
	struct iovec *l = c->local, *r = c->remote;
	size_t left = c->bytes, n;

	while (left) {
		n = l->iov_len < r->iov_len ? l->iov_len : r->iov_len;
		if (c->write)
			memmove(r->iov_base, l->iov_base, n);
		else
			memmove(l->iov_base, r->iov_base, n);
		atomic_thread_fence(memory_order_release);
		left -= n;
		iov_advance(&l, &c->nlocal, n);
		iov_advance(&r, &c->nremote, n);
	}
	return 0;
}

int peer_copy(struct peer *p, struct peer_copy *c)
{
	struct iovec *l = c->local, *r = c->remote;
	size_t left = c->bytes;
	ssize_t n;

	if (!left)
		return peer_probe(p);
	if (c->ordered && left > 16)
		split_tail(c->remote, &c->nremote);
	if (p->self)
		return copy_self(c);
	if (atomic_load_explicit(&p->seg->dead, memory_order_relaxed))
		return -ESRCH;
	for (;;) {
		if (c->write)
			n = process_vm_writev(p->seg->id.pid, l, c->nlocal, r, c->nremote, 0);
		else
			n = process_vm_readv(p->seg->id.pid, l, c->nlocal, r, c->nremote, 0);
		if (n <= 0)
			return copy_errno(p);
		left -= n;
		if (!left)
			return 0;
		iov_advance(&l, &c->nlocal, n);
		iov_advance(&r, &c->nremote, n);
	}
}

static int pipe_open(struct peer *p, uint32_t serial)
{
	struct peer_pipe *e;
	char path[300];

	for (e = p->pipes; e; e = e->next)
		if (e->serial == serial)
			return e->fd;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -1;
	/* read and write: no SIGPIPE when the other end is gone */
	e->fd = open(shm_path(path, sizeof(path), &p->seg->id, "ev", serial),
		     O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (e->fd < 0) {
		free(e);
		return -1;
	}
	e->serial = serial;
	e->next = p->pipes;
	p->pipes = e;
	return e->fd;
}

void peer_notify(struct peer *p, uint32_t pipe, const struct pipe_msg *msg)
{
	int fd, saved = errno;

	if (!pipe)
		return;
	pthread_mutex_lock(&peers.mutex);
	fd = pipe_open(p, pipe);
	if (fd >= 0 && write(fd, msg, sizeof(*msg)) < 0 && errno != EAGAIN)
		fprintf(stderr, "simverbs: event lost: %s\n", strerror(errno));
	pthread_mutex_unlock(&peers.mutex);
	errno = saved;
}

int peer_make_pipe(uint32_t *serial)
{
	struct peer *p = peer_self();
	char path[300];

	if (!p)
		return -1;
	*serial = atomic_fetch_add(&peers.serial, 1) + 1;
	shm_path(path, sizeof(path), &p->seg->id, "ev", *serial);
	if (mkfifo(path, 0600))
		return -1;
	return open(path, O_RDWR | O_CLOEXEC);
}

void peer_drop_pipe(int fd, uint32_t serial)
{
	struct peer *p = peer_self();
	struct peer_pipe **e, *gone;
	char path[300];

	if (!p)
		return;
	unlink(shm_path(path, sizeof(path), &p->seg->id, "ev", serial));
	close(fd);
	pthread_mutex_lock(&peers.mutex);
	for (e = &p->pipes; *e; e = &(*e)->next)
		if ((*e)->serial == serial) {
			gone = *e;
			*e = gone->next;
			close(gone->fd);
			free(gone);
			break;
		}
	pthread_mutex_unlock(&peers.mutex);
}
