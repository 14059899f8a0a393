// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A library to preload: the NOMEM_ATth allocation fails; with NOMEM_FROM set, all later ones fail, too.
 * malloc(), calloc(), realloc(), reallocarray(), aligned_alloc(), memalign(), posix_memalign(), mmap() and
 * pthread_create() count. libc calls the first four through its PLT, so those in asprintf(), strdup(),
 * a line that is read, fopen(), opendir(), open_memstream(), getaddrinfo() and so on are among them.
 *
 * dlopen(), hwloc_topology_init() and hwloc_topology_load() count as one allocation each: they fail, or find all
 * memory they want, since hwloc 2.9 crashes without, and glibc 2.36 takes a library for one that is not there.
 *
 * NOMEM_COUNT is a file for how many there were. NOMEM_TRACE is a file for the stack of the first that fails.
 *
 * A unit test has it linked in, by tests/unit/nomem.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *at, size_t size);

typedef int nomem_create_fn(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
typedef void *nomem_aligned_fn(size_t alignment, size_t size);

struct hwloc_topology;
int hwloc_topology_init(struct hwloc_topology **tree);
int hwloc_topology_load(struct hwloc_topology *tree);
int hwloc_topology_set_components(struct hwloc_topology *tree, unsigned long flags, const char *name);

typedef char *nomem_dlerror_fn(void);
typedef void *nomem_dlopen_fn(const char *file, int mode);
typedef int nomem_hwloc_fn(struct hwloc_topology *tree);
typedef int nomem_init_fn(struct hwloc_topology **tree);
typedef int nomem_set_fn(struct hwloc_topology *tree, unsigned long flags, const char *name);

static atomic_long nomem_calls;
static _Thread_local int nomem_spared;
static long nomem_at;
static bool nomem_on, nomem_tells;
static nomem_create_fn *nomem_create;
static nomem_aligned_fn *nomem_aligned;

__attribute__((constructor)) static void nomem_begin(void)
{
	const char *at = getenv("NOMEM_AT");
	void *frame;

	nomem_create = (nomem_create_fn *)dlsym(RTLD_NEXT, "pthread_create");
	nomem_aligned = (nomem_aligned_fn *)dlsym(RTLD_NEXT, "aligned_alloc");
	nomem_tells = getenv("NOMEM_TRACE");
	if (nomem_tells)
		backtrace(&frame, 1); /* loads what it needs */
	nomem_on = getenv("NOMEM_FROM");
	nomem_calls = 0;
	nomem_at = at ? strtol(at, NULL, 10) : 0;
}

__attribute__((destructor)) static void nomem_end(void)
{
	const char *name = getenv("NOMEM_COUNT");
	int fd = name ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
	char text[32];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)nomem_calls);

	if (fd < 0)
		return;
	if (write(fd, text, (size_t)n) != n)
		abort();
	close(fd);
}

static void nomem_tell(void)
{
	void *frame[64];
	int n = backtrace(frame, 64);
	int fd = open(getenv("NOMEM_TRACE"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	backtrace_symbols_fd(frame, n, fd);
	close(fd);
}

/* True if this allocation nomem_fails. */
static bool nomem_fails(void)
{
	long call = nomem_spared ? 0 : atomic_fetch_add(&nomem_calls, 1) + 1;

	if (!call || !nomem_at || call < nomem_at || (call > nomem_at && !nomem_on))
		return false;
	if (nomem_tells && call == nomem_at)
		nomem_tell();
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return nomem_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return nomem_fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *at, size_t size)
{
	return nomem_fails() ? NULL : __libc_realloc(at, size);
}

void *reallocarray(void *at, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(at, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return nomem_fails() ? NULL : nomem_aligned(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
	return aligned_alloc(alignment, size);
}

int posix_memalign(void **at, size_t alignment, size_t size)
{
	void *p = aligned_alloc(alignment, size);

	if (p)
		*at = p;
	return p ? 0 : ENOMEM;
}

void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	return nomem_fails() ? MAP_FAILED : (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
}

void *mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	return mmap(at, bytes, prot, flags, fd, offset);
}

/* The kernel says EAGAIN. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int errnum = errno;

	if (!nomem_fails())
		return nomem_create(thread, attr, run, arg);
	errno = errnum;
	return EAGAIN;
}

static void *nomem_next(const char *name)
{
	void *function;

	nomem_spared++;
	function = dlsym(RTLD_NEXT, name);
	nomem_spared--;
	return function;
}

int hwloc_topology_init(struct hwloc_topology **tree)
{
	int rc = -1;

	if (nomem_fails())
		return rc;
	nomem_spared++;
	rc = ((nomem_init_fn *)nomem_next("hwloc_topology_init"))(tree);
	nomem_spared--;
	return rc;
}

int hwloc_topology_load(struct hwloc_topology *tree)
{
	int rc = -1;

	if (nomem_fails())
		return rc;
	nomem_spared++;
	rc = ((nomem_hwloc_fn *)nomem_next("hwloc_topology_load"))(tree);
	nomem_spared--;
	return rc;
}

int hwloc_topology_set_components(struct hwloc_topology *tree, unsigned long flags, const char *name)
{
	int rc;

	nomem_spared++;
	rc = ((nomem_set_fn *)nomem_next("hwloc_topology_set_components"))(tree, flags, name);
	nomem_spared--;
	return rc;
}

void *dlopen(const char *file, int mode)
{
	void *library = NULL;

	if (nomem_fails())
		return library;
	nomem_spared++;
	library = ((nomem_dlopen_fn *)nomem_next("dlopen"))(file, mode);
	nomem_spared--;
	return library;
}

/* The loader's text is the same, whatever failed. */
char *dlerror(void)
{
	char *text;

	nomem_spared++;
	text = ((nomem_dlerror_fn *)nomem_next("dlerror"))();
	nomem_spared--;
	return text;
}
