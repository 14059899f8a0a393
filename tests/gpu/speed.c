// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How fast copies are: one large one each way, and the staged pipeline without its network: GPU to
 * bounce slot and slot to GPU at the same time, in chunks, on two streams.
 */
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"

enum {
	SLOTS_MAX = 16,
	/* with the network: one slot filled, one sent, one emptied, one whose credit is under way
	 */
	SLOTS_ENOUGH = 4,
	ROUNDS_MAX = 64,
	PASSES = 8 /* over the data, so that filling and draining the pipeline does not count */
};

#define CHUNK_MIN   ((size_t)64 << 10)
#define CHUNK_MAX   ((size_t)16 << 20)
#define ENOUGH      0.95 /* of the large copy */
#define DEADLINE_NS UINT64_C(60000000000)

struct pipeline {
	struct check *c;
	struct gpu_stream *out, *in;
	size_t chunk;
	unsigned slots;
};

static int fail(const struct check *c, struct fault *f, int rc, const char *call)
{
	return c->g->ops->failed(f, -rc, "%s", call);
}

int check_speed_open(struct check *c, struct fault *f)
{
	size_t bounce = CHUNK_MAX * SLOTS_MAX;
	size_t host = c->bytes > bounce ? c->bytes : bounce;

	/* no more slots of the largest chunk than there is data */
	if (host > 2 * c->bytes)
		host = 2 * c->bytes;
	if (check_alloc(c, &c->memory[0], c->bytes, f) ||
	    check_alloc(c, &c->memory[1], c->bytes, f))
		return -1;
	c->from = c->memory[0].addr;
	c->to = c->memory[1].addr;
	c->host = aligned_alloc(4096, 2 * host);
	if (!c->host)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "%zu bytes of host memory", 2 * host);
	memset(c->host, 0, 2 * host);
	return c->g->ops->host_register(c->g, c->host, 2 * host, f);
}

void check_speed_close(struct check *c)
{
	if (c->host)
		c->g->ops->host_release(c->g, c->host);
	free(c->host);
	c->host = NULL;
	memory_free(&c->memory[0]);
	memory_free(&c->memory[1]);
}

static int wait_for(struct gpu_stream *s, unsigned slot, struct fault *f)
{
	uint64_t give_up = clock_now_ns() + DEADLINE_NS;
	int rc;

	while ((rc = gpu_stream_done(s, slot)) == 0)
		if (clock_now_ns() > give_up)
			return fault_raise(f, FAULT_DEADLINE, 0, "a copy");
	return rc > 0 ? 0 : gpu_stream_failed(s, GPU_STREAM_DONE, rc, f);
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_size);
	return v[n / 2];
}

static double gbps(size_t bytes, uint64_t ns)
{
	return ns ? (double)bytes * 8 / (double)ns : 0;
}

/* One large copy OUT, IN, or both at once, in Gb/s each way; negative on failure. */
static double large_once(struct pipeline *p, bool out, bool in, struct fault *f)
{
	struct check *c = p->c;
	uint64_t started = clock_raw_ns();
	int rc = 0;

	if (out)
		rc = gpu_stream_copy_out(p->out, c->host, c->from, c->bytes);
	if (!rc && in)
		rc = gpu_stream_copy_in(p->in, c->to, c->host + c->bytes, c->bytes);
	if (!rc && out)
		rc = gpu_stream_mark(p->out, 0);
	if (!rc && in)
		rc = gpu_stream_mark(p->in, 0);
	if (rc)
		return fail(p->c, f, rc, "a large copy");
	if ((out && wait_for(p->out, 0, f)) || (in && wait_for(p->in, 0, f)))
		return -1;
	return gbps(c->bytes, clock_raw_ns() - started);
}

static int large(struct pipeline *p, bool out, bool in, double *result, struct fault *f)
{
	int rounds = p->c->rounds < ROUNDS_MAX ? p->c->rounds : ROUNDS_MAX;
	double v[ROUNDS_MAX];

	if (large_once(p, out, in, f) < 0) /* warm up */
		return -1;
	for (int i = 0; i < rounds; i++) {
		v[i] = large_once(p, out, in, f);
		if (v[i] < 0)
			return -1;
	}
	*result = median(v, rounds);
	return 0;
}

static int open_streams(struct pipeline *p, struct check *c, struct fault *f)
{
	*p = (struct pipeline){.c = c};
	if (gpu_stream_open(&p->out, c->g, SLOTS_MAX, f) ||
	    gpu_stream_open(&p->in, c->g, SLOTS_MAX, f))
		return -1;
	return 0;
}

static void close_streams(struct pipeline *p)
{
	gpu_stream_close(p->out);
	gpu_stream_close(p->in);
}

int check_large(struct check *c, struct fault *f)
{
	struct pipeline p;
	int rc = open_streams(&p, c, f);

	if (!rc)
		rc = large(&p, true, false, &c->out_gbps, f);
	if (!rc)
		rc = large(&p, false, true, &c->in_gbps, f);
	if (!rc)
		rc = large(&p, true, true, &c->both_gbps, f);
	close_streams(&p);
	if (!rc)
		printf("\none copy of %s, median of %d: out %.1f Gb/s, in %.1f Gb/s, each way at "
		       "the same time %.1f Gb/s\n",
		       units_size(c->bytes).text, c->rounds, c->out_gbps, c->in_gbps, c->both_gbps);
	return rc;
}

/* Where chunk K comes from and goes to. */
static uint64_t place(const struct pipeline *p, uint64_t k)
{
	return k % (p->c->bytes / p->chunk) * p->chunk;
}

/* A chunk's step: 1 taken, 0 not possible now, else an error. */
static int step_out(struct pipeline *p, uint64_t k)
{
	unsigned slot = (unsigned)(k % p->slots);
	int rc = gpu_stream_copy_out(p->out, p->c->host + slot * p->chunk, p->c->from + place(p, k),
				     p->chunk);

	return rc ? rc : gpu_stream_mark(p->out, slot) ?: 1;
}

static int step_in(struct pipeline *p, uint64_t k)
{
	unsigned slot = (unsigned)(k % p->slots);
	int rc = gpu_stream_done(p->out, slot);

	if (rc <= 0)
		return rc;
	rc = gpu_stream_copy_in(p->in, p->c->to + place(p, k), p->c->host + slot * p->chunk,
				p->chunk);
	return rc ? rc : gpu_stream_mark(p->in, slot) ?: 1;
}

/* All data through the slots, PASSES times. Returns the Gb/s or a negative number. */
static double run_once(struct pipeline *p, struct fault *f)
{
	const uint64_t count = p->c->bytes / p->chunk * PASSES;
	uint64_t started = clock_raw_ns(), give_up = started + DEADLINE_NS;
	uint64_t out = 0, in = 0, done = 0;
	int rc = 0;

	while (done < count && rc >= 0) {
		if (out < count && out - done < p->slots)
			out += (rc = step_out(p, out)) > 0;
		if (rc >= 0 && in < out)
			in += (rc = step_in(p, in)) > 0;
		if (rc >= 0 && done < in)
			done += (rc = gpu_stream_done(p->in, (unsigned)(done % p->slots))) > 0;
		if (clock_raw_ns() > give_up)
			return fault_raise(f, FAULT_DEADLINE, 0, "the pipeline");
	}
	return rc < 0 ? fail(p->c, f, rc, "a copy of the pipeline")
		      : gbps(count * p->chunk, clock_raw_ns() - started);
}

/* The data of another seed into the source for every combination, so that old ones show. */
static int refill(struct pipeline *p, uint64_t seed, struct fault *f)
{
	struct check *c = p->c;

	check_fill(c->host, c->bytes, seed);
	return gpu_copy_in(c->g, c->from, c->host, c->bytes, f);
}

static int verify(struct pipeline *p, uint64_t seed, struct fault *f)
{
	struct check *c = p->c;
	size_t bytes = c->bytes / p->chunk * p->chunk, wrong;

	if (gpu_copy_out(c->g, c->host, c->to, bytes, f))
		return -1;
	wrong = check_compare(c->host, bytes, seed);
	if (wrong != bytes)
		check_print(c, false, "chunks of %zu in %u slots: wrong data at +%zu", p->chunk,
			    p->slots, wrong);
	return 0;
}

static int measure(struct pipeline *p, double *result, struct fault *f)
{
	int rounds = p->c->rounds < ROUNDS_MAX ? p->c->rounds : ROUNDS_MAX;
	uint64_t seed = p->chunk + p->slots;
	double v[ROUNDS_MAX];

	if (refill(p, seed, f) || run_once(p, f) < 0)
		return -1;
	for (int i = 0; i < rounds; i++) {
		v[i] = run_once(p, f);
		if (v[i] < 0)
			return -1;
	}
	*result = median(v, rounds);
	return verify(p, seed, f);
}

struct choice {
	size_t chunk;
	unsigned slots;
	double gbps;
};

/*
 * The least bounce memory that is enough, the larger chunk of two alike, since it costs fewer
 * calls; while nothing is enough, the fastest.
 */
static void consider(struct choice *best, const struct pipeline *p, double rate, double enough)
{
	size_t mine = p->chunk * p->slots, its = best->chunk * best->slots;

	if (best->gbps >= enough
		    ? rate < enough || mine > its || (mine == its && p->chunk < best->chunk)
		    : rate <= best->gbps)
		return;
	*best = (struct choice){p->chunk, p->slots, rate};
}

static int measure_row(struct pipeline *p, struct choice *best, double reference, struct fault *f)
{
	printf("%10s", units_size(p->chunk).text);
	for (p->slots = 1; p->slots <= SLOTS_MAX; p->slots *= 2) {
		double rate;

		if (p->chunk * p->slots > 2 * p->c->bytes) {
			printf("  %14s", "-");
			continue;
		}
		if (measure(p, &rate, f))
			return -1;
		if (p->slots >= SLOTS_ENOUGH)
			consider(best, p, rate, ENOUGH * reference);
		printf("  %8.1f %5.3f", rate, rate / reference);
		fflush(stdout);
	}
	printf("\n");
	return 0;
}

int check_pipeline(struct check *c, struct fault *f)
{
	double slower = c->out_gbps < c->in_gbps ? c->out_gbps : c->in_gbps;
	double reference = c->both_gbps < slower ? c->both_gbps : slower;
	struct choice best = {0};
	struct pipeline p;
	int rc = open_streams(&p, c, f);

	printf("\nstaged pipeline without its network, GPU to slot and slot to GPU at the same "
	       "time:\nGb/s and, beside it, the fraction of the large copies' %.1f Gb/s\n\n"
	       "     chunk         1 slot         2 slots         4 slots         8 slots        "
	       "16 slots\n",
	       reference);
	for (p.chunk = CHUNK_MIN; !rc && p.chunk <= CHUNK_MAX && p.chunk <= c->bytes; p.chunk *= 2)
		rc = measure_row(&p, &best, reference, f);
	close_streams(&p);
	if (rc)
		return -1;
	printf("\ndefault: chunks of %s in %u slots, %.1f Gb/s, %.3f of the large copies%s\n",
	       units_size(best.chunk).text, best.slots, best.gbps, best.gbps / reference,
	       best.gbps < ENOUGH * reference ? " (less than enough: the fastest)" : "");
	return 0;
}
