// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Streams, events and time. A copy is given a time at which it is over, by the speed of its way and
 * what is before it; until then not a byte of it has moved. It is carried out by the first call,
 * of any thread, after that time.
 */
#include "simcuda.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct op {
	struct op *next;
	enum sim_way way;
	void *to;
	const void *from;
	size_t bytes;
	uint64_t due_ns;
	uint64_t serial; /* of its copy in its stream, from 1 */
	bool last;       /* slice of it */
};

struct CUstream_st {
	struct CUstream_st *next;
	struct op *first, **last;
	uint64_t given, done; /* serials */
	uint64_t due_ns;      /* when all given is over */
};

struct CUevent_st {
	struct CUstream_st *stream;
	uint64_t serial; /* over when that is done; 0: never recorded */
};

static struct {
	struct CUstream_st *streams;
	uint64_t free_ns[SIM_WAYS]; /* an engine for each way */
} engine;

uint64_t sim_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t sim_due(enum sim_way way, size_t bytes, uint64_t after_ns, bool first)
{
	const struct sim_conf *c = sim_conf();
	uint64_t now = sim_now_ns();
	uint64_t start = after_ns > now ? after_ns : now;

	if (c->gbps[way] > 0 && engine.free_ns[way] > start)
		start = engine.free_ns[way];
	if (first)
		start += c->latency_ns;
	if (!(c->gbps[way] > 0))
		return start;
	engine.free_ns[way] = start + (uint64_t)((double)bytes * 8 / c->gbps[way] + 0.5);
	return engine.free_ns[way];
}

void sim_wait(uint64_t due_ns)
{
	struct timespec t = {(time_t)(due_ns / 1000000000), (long)(due_ns % 1000000000)};

	while (sim_now_ns() < due_ns)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

void sim_move(enum sim_way way, void *to, const void *from, size_t bytes, bool last)
{
	struct sim_conf *c = sim_conf();

	memcpy(to, from, bytes);
	if (last && ++c->count.copies[way] == c->flip[way] && bytes)
		((char *)to)[bytes / 2] ^= 0x10;
}

static void carry_out(struct CUstream_st *s)
{
	struct op *op = s->first;

	sim_move(op->way, op->to, op->from, op->bytes, op->last);
	if (op->last)
		s->done = op->serial;
	s->first = op->next;
	if (!s->first)
		s->last = &s->first;
	free(op);
}

void sim_progress(void)
{
	uint64_t now = engine.streams ? sim_now_ns() : 0;

	for (struct CUstream_st *s = engine.streams; s; s = s->next)
		while (s->first && s->first->due_ns <= now)
			carry_out(s);
}

static void drain(struct CUstream_st *s)
{
	while (s->first) {
		sim_wait(s->first->due_ns);
		carry_out(s);
	}
}

void sim_drain(void)
{
	for (struct CUstream_st *s = engine.streams; s; s = s->next)
		drain(s);
}

/* Only streams of ours are taken; the null stream is not needed. */
static bool exists(const struct CUstream_st *stream)
{
	const struct CUstream_st *s = engine.streams;

	while (s && s != stream)
		s = s->next;
	return s != NULL;
}

EXPORTED CUresult cuStreamCreate(CUstream *out, unsigned flags)
{
	CUresult rc = sim_enter("cuStreamCreate", true);
	struct CUstream_st *s;

	if (rc)
		return rc;
	if (flags != CU_STREAM_NON_BLOCKING && flags)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	s = calloc(1, sizeof(*s));
	if (!s)
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	s->last = &s->first;
	s->next = engine.streams;
	engine.streams = s;
	sim_conf()->count.streams++;
	*out = s;
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuStreamDestroy_v2(CUstream stream)
{
	CUresult rc = sim_enter("cuStreamDestroy", true);
	struct CUstream_st **at;

	if (rc)
		return rc;
	if (!exists(stream))
		return sim_leave(CUDA_ERROR_INVALID_HANDLE);
	drain(stream);
	for (at = &engine.streams; *at != stream; at = &(*at)->next)
		;
	*at = stream->next;
	free(stream);
	sim_conf()->count.streams_gone++;
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuStreamSynchronize(CUstream stream)
{
	CUresult rc = sim_enter("cuStreamSynchronize", true);

	if (rc)
		return rc;
	if (!exists(stream))
		return sim_leave(CUDA_ERROR_INVALID_HANDLE);
	drain(stream);
	return sim_leave(CUDA_SUCCESS);
}

static bool add_slice(struct CUstream_st *s, const struct op *copy, size_t at)
{
	struct op *op = malloc(sizeof(*op));

	if (!op)
		return false;
	*op = *copy;
	op->next = NULL;
	op->to = (char *)copy->to + at;
	op->from = (const char *)copy->from + at;
	op->bytes = copy->bytes - at < SIM_SLICE ? copy->bytes - at : SIM_SLICE;
	op->last = at + op->bytes == copy->bytes;
	op->serial = s->given;
	op->due_ns = s->due_ns = sim_due(op->way, op->bytes, s->due_ns, !at);
	*s->last = op;
	s->last = &op->next;
	return true;
}

/* Copies from and to host memory that is not registered block, as the driver's do. */
static CUresult submit(struct CUstream_st *s, struct op copy, const void *host)
{
	size_t at = 0;

	if (!exists(s))
		return sim_leave(CUDA_ERROR_INVALID_HANDLE);
	if (copy.way == SIM_IN ? !copy.to : !copy.from)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	s->given++;
	do {
		if (!add_slice(s, &copy, at))
			return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
		at += SIM_SLICE;
	} while (at < copy.bytes);
	if (!sim_is_registered(host, copy.bytes))
		drain(s);
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
				       CUstream stream)
{
	CUresult rc = sim_enter("cuMemcpyHtoDAsync", true);

	if (rc)
		return rc;
	return submit(
		stream,
		(struct op){
			.way = SIM_IN, .to = sim_hidden(to, bytes), .from = from, .bytes = bytes},
		from);
}

EXPORTED CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	CUresult rc = sim_enter("cuMemcpyDtoHAsync", true);

	if (rc)
		return rc;
	return submit(
		stream,
		(struct op){
			.way = SIM_OUT, .to = to, .from = sim_hidden(from, bytes), .bytes = bytes},
		to);
}

EXPORTED CUresult cuEventCreate(CUevent *out, unsigned flags)
{
	CUresult rc = sim_enter("cuEventCreate", true);

	(void)flags;
	if (rc)
		return rc;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	sim_conf()->count.events++;
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuEventDestroy_v2(CUevent event)
{
	CUresult rc = sim_enter("cuEventDestroy", true);

	if (rc)
		return rc;
	free(event);
	sim_conf()->count.events_gone++;
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuEventRecord(CUevent event, CUstream stream)
{
	CUresult rc = sim_enter("cuEventRecord", true);

	if (rc)
		return rc;
	if (!exists(stream))
		return sim_leave(CUDA_ERROR_INVALID_HANDLE);
	event->stream = stream;
	event->serial = stream->given;
	return sim_leave(CUDA_SUCCESS);
}

EXPORTED CUresult cuEventQuery(CUevent event)
{
	CUresult rc = sim_enter("cuEventQuery", true);

	if (rc)
		return rc;
	if (!event->serial || !exists(event->stream) || event->stream->done >= event->serial)
		return sim_leave(CUDA_SUCCESS);
	return sim_leave(CUDA_ERROR_NOT_READY);
}
