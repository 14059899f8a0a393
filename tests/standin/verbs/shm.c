// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "shm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	SHM_MAGIC = 0x53494d56,
	SHM_CLASSES = 40,
	SHM_MIN_CLASS = 8
};

static const uint64_t seg_bytes = UINT64_C(1) << 30;

struct fabric {
	uint32_t magic, layout;
	struct shm_id slot[SHM_SLOTS];
};

static struct {
	pthread_mutex_t mutex;
	uint32_t pid;
	struct shm_seg *seg;
	struct fabric *fabric;
	char dir[200];
	uint64_t brk;
	uint64_t free[SHM_CLASSES]; /* lists, linked through the blocks */
} shm = {.mutex = PTHREAD_MUTEX_INITIALIZER};

const uint32_t *const shm_my_pid = &shm.pid;

static uint64_t start_time(uint32_t pid)
{
	char path[64], buf[1024], *p;
	unsigned long long start = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	buf[n] = 0;
	p = strrchr(buf, ')'); /* the name may hold anything */
	if (!p || p[2] == 'Z' || p[2] == 'X')
		return 0;
	/* state is field 3, the start time field 22 */
	if (sscanf(p + 2,
		   "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u "
		   "%*u %*d %*d %*d %*d %*d %*d %llu",
		   &start) != 1)
		return 0;
	return start;
}

bool shm_alive(const struct shm_seg *seg)
{
	return !atomic_load(&seg->dead) && start_time(seg->id.pid) == seg->id.start;
}

bool shm_gone(const struct shm_seg *seg)
{
	const struct shm_id *owner = &shm.fabric->slot[seg->slot];

	return atomic_load(&seg->dead) || owner->pid != seg->id.pid ||
	       owner->start != seg->id.start;
}

void shm_lock_slow(struct shm_lock *l, uint32_t me)
{
	uint32_t holder, spins = 0;

	for (;;) {
		holder = 0;
		if (atomic_compare_exchange_weak(&l->owner, &holder, me))
			return;
		if (++spins < 100) {
			cpu_relax();
			continue;
		}
		sched_yield();
		if (spins % 1000 == 0 && holder && !start_time(holder) &&
		    atomic_compare_exchange_strong(&l->owner, &holder, me))
			return;
	}
}

static unsigned long long namespace_id(const char *link)
{
	struct stat ns;

	return stat(link, &ns) ? 0 : ns.st_ino;
}

/*
 * Processes of another PID namespace look dead from here, so their files would be unlinked and
 * their slots given away while they run; and the root of another user namespace is somebody else,
 * whose directory is closed to us. Each namespace has a fabric of its own.
 */
static const char *shm_dir(void)
{
	const char *env = getenv("SIMVERBS_DIR");

	if (!shm.dir[0]) {
		if (env && *env)
			snprintf(shm.dir, sizeof(shm.dir), "%s", env);
		else
			snprintf(shm.dir, sizeof(shm.dir), "/dev/shm/simverbs.%u.%llu.%llu",
				 getuid(), namespace_id("/proc/self/ns/user"),
				 namespace_id("/proc/self/ns/pid"));
	}
	return shm.dir;
}

char *shm_path(char *buf, size_t len, const struct shm_id *id, const char *kind, uint32_t serial)
{
	snprintf(buf, len, "%s/%u.%llu.%s%u", shm_dir(), id->pid, (unsigned long long)id->start,
		 kind, serial);
	return buf;
}

/* Unlink the files of process pid, or with pid 0 those of all dead ones. */
static void sweep_files(uint32_t pid)
{
	DIR *d = opendir(shm_dir());
	unsigned long long start;
	struct dirent *e;
	unsigned int p;

	if (!d)
		return;
	while ((e = readdir(d))) {
		if (sscanf(e->d_name, "%u.%llu.", &p, &start) != 2)
			continue;
		if (pid ? p == pid : start_time(p) != start)
			unlinkat(dirfd(d), e->d_name, 0);
	}
	closedir(d);
}

/* Open and lock the fabric file; it may have been unlinked meanwhile. */
static int fabric_open(void)
{
	char path[256];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/fabric", shm_dir());
	for (;;) {
		if (mkdir(shm_dir(), 0700) && errno != EEXIST)
			return -1;
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return -1;
		if (!flock(fd, LOCK_EX) && !fstat(fd, &st) && st.st_nlink)
			return fd;
		close(fd);
	}
}

/* Unlock by hand: a mapping keeps the file, and so the lock, alive. */
static void fabric_close(int fd)
{
	flock(fd, LOCK_UN);
	close(fd);
}

/* Also frees the slot of a process that died. */
static bool slot_used(struct shm_id *s)
{
	if (s->pid && start_time(s->pid) != s->start)
		s->pid = 0;
	return s->pid;
}

static int claim_slot(struct fabric *f)
{
	int i, mine = -1;

	for (i = 0; i < SHM_SLOTS && mine < 0; i++)
		if (!slot_used(&f->slot[i]))
			mine = i;
	if (mine < 0)
		errno = EMFILE;
	return mine;
}

static struct shm_seg *seg_create(int slot)
{
	struct shm_id id = {shm.pid, start_time(shm.pid)};
	struct shm_seg *seg;
	char path[300];
	int fd;

	shm_path(path, sizeof(path), &id, "seg", 0);
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	if (ftruncate(fd, seg_bytes)) {
		close(fd);
		return NULL;
	}
	seg = mmap(NULL, seg_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (seg == MAP_FAILED)
		return NULL;
	madvise(seg, seg_bytes, MADV_DONTDUMP);
	seg->id = id;
	seg->slot = slot;
	seg->probe = (uintptr_t)&seg->probe;
	seg->layout = sizeof(*seg);
	seg->magic = SHM_MAGIC;
	return seg;
}

/* A child is no member of the fabric until it opens a device of its own. */
static void shm_forked(void)
{
	shm.pid = 0;
	shm.seg = NULL;
	shm.fabric = NULL;
	memset(shm.free, 0, sizeof(shm.free));
	pthread_mutex_init(&shm.mutex, NULL);
}

static __attribute__((constructor)) void shm_setup(void)
{
	pthread_atfork(NULL, NULL, shm_forked);
}

static int shm_join(void)
{
	int fd, slot, rc = -1;

	shm.pid = getpid();
	fd = fabric_open();
	if (fd < 0)
		return -1;
	sweep_files(0);
	if (ftruncate(fd, sizeof(*shm.fabric)))
		goto out;
	shm.fabric = mmap(NULL, sizeof(*shm.fabric), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shm.fabric == MAP_FAILED) {
		shm.fabric = NULL;
		goto out;
	}
	slot = claim_slot(shm.fabric);
	if (slot < 0)
		goto out;
	shm.seg = seg_create(slot);
	if (!shm.seg)
		goto out;
	shm.fabric->slot[slot] = shm.seg->id;
	shm.brk = (sizeof(struct shm_seg) + 4095) & ~UINT64_C(4095);
	/* Yama: let peers of the same user reach our memory */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	rc = 0;
out:
	fabric_close(fd);
	return rc;
}

struct shm_seg *shm_self(void)
{
	pthread_mutex_lock(&shm.mutex);
	if (!shm.seg && shm_join())
		fprintf(stderr, "simverbs: cannot join the fabric in %s: %s\n", shm_dir(),
			strerror(errno));
	pthread_mutex_unlock(&shm.mutex);
	return shm.seg;
}

/* Leave nothing behind: our files, and the directory if we are the last. */
static __attribute__((destructor)) void shm_leave(void)
{
	char path[256];
	bool others = false;
	int fd, i;

	if (!shm.seg || shm.pid != (uint32_t)getpid())
		return;
	atomic_store(&shm.seg->dead, 1);
	fd = fabric_open();
	if (fd < 0)
		return;
	shm.fabric->slot[shm.seg->slot].pid = 0;
	sweep_files(shm.pid);
	for (i = 0; i < SHM_SLOTS; i++)
		others |= slot_used(&shm.fabric->slot[i]);
	if (!others) {
		sweep_files(0);
		snprintf(path, sizeof(path), "%s/fabric", shm_dir());
		unlink(path);
		rmdir(shm_dir());
	}
	fabric_close(fd);
}

struct shm_seg *shm_attach(unsigned int slot)
{
	struct shm_seg *seg = NULL;
	struct shm_id id;
	char path[300];
	struct stat st;
	int fd;

	if (!shm.fabric || slot >= SHM_SLOTS || !shm.fabric->slot[slot].pid)
		return NULL;
	if (shm.seg && slot == shm.seg->slot)
		return shm.seg;
	id = shm.fabric->slot[slot];
	fd = open(shm_path(path, sizeof(path), &id, "seg", 0), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && (uint64_t)st.st_size == seg_bytes)
		seg = mmap(NULL, seg_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (!seg || seg == MAP_FAILED)
		return NULL;
	madvise(seg, seg_bytes, MADV_DONTDUMP);
	if (seg->magic != SHM_MAGIC || seg->layout != sizeof(*seg)) {
		munmap(seg, seg_bytes);
		return NULL;
	}
	return seg;
}

void shm_detach(struct shm_seg *seg)
{
	if (seg && seg != shm.seg)
		munmap(seg, seg_bytes);
}

static unsigned int size_class(size_t bytes)
{
	unsigned int c = SHM_MIN_CLASS;

	while ((UINT64_C(1) << c) < bytes)
		c++;
	return c;
}

uint64_t shm_alloc(size_t bytes)
{
	unsigned int c = size_class(bytes);
	uint64_t off = 0;

	if (c >= SHM_CLASSES)
		return 0;
	pthread_mutex_lock(&shm.mutex);
	if (shm.free[c]) {
		off = shm.free[c];
		shm.free[c] = *(uint64_t *)shm_at(shm.seg, off);
	} else if (shm.brk + (UINT64_C(1) << c) <= seg_bytes) {
		off = shm.brk;
		shm.brk += UINT64_C(1) << c;
	}
	pthread_mutex_unlock(&shm.mutex);
	if (off)
		memset(shm_at(shm.seg, off), 0, bytes);
	return off;
}

void shm_free(uint64_t off, size_t bytes)
{
	unsigned int c = size_class(bytes);

	if (!off)
		return;
	/* whole pages go back to the system */
	if (c >= 13)
		madvise(shm_at(shm.seg, (off + 4095) & ~UINT64_C(4095)), (UINT64_C(1) << c) - 4096,
			MADV_REMOVE);
	pthread_mutex_lock(&shm.mutex);
	*(uint64_t *)shm_at(shm.seg, off) = shm.free[c];
	shm.free[c] = off;
	pthread_mutex_unlock(&shm.mutex);
}
