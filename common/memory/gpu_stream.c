// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "memory/gpu.h"

struct gpu_stream {
	struct gpu *g;
	void *host; /* registered; NULL: not yet */
	void *stream;
	void *event[GPU_STREAM_SLOTS];
};

int gpu_stream_open(struct gpu_stream **out, struct gpu *g, void *host, size_t bytes,
		    struct fault *f)
{
	struct gpu_stream *s = *out = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating a stream");
	s->g = g;
	rc = g->ops->host_register(g, host, bytes);
	s->host = rc ? NULL : host;
	rc = rc ? rc : g->ops->stream_create(g, &s->stream);
	for (unsigned i = 0; !rc && i < GPU_STREAM_SLOTS; i++)
		rc = g->ops->event_create(g, &s->event[i]);
	return rc ? g->ops->failed(f, rc, "a %s stream for %zu bytes", g->ops->name, bytes) : 0;
}

void gpu_stream_close(struct gpu_stream *s)
{
	if (!s)
		return;
	if (s->stream)
		s->g->ops->stream_destroy(s->g, s->stream);
	for (unsigned i = 0; i < GPU_STREAM_SLOTS; i++)
		if (s->event[i])
			s->g->ops->event_destroy(s->g, s->event[i]);
	if (s->host)
		s->g->ops->host_release(s->g, s->host);
	free(s);
}

/* RC is the result of a copy's call: record the event of SLOT after it. */
static int mark(struct gpu_stream *s, unsigned slot, int rc)
{
	return -(rc ? rc : s->g->ops->stream_mark(s->g, s->stream, s->event[slot]));
}

int gpu_stream_copy_in(struct gpu_stream *s, unsigned slot, uint64_t to, const void *from,
		       size_t bytes)
{
	return mark(s, slot, s->g->ops->stream_in(s->g, s->stream, to, from, bytes));
}

int gpu_stream_copy_out(struct gpu_stream *s, unsigned slot, void *to, uint64_t from, size_t bytes)
{
	return mark(s, slot, s->g->ops->stream_out(s->g, s->stream, to, from, bytes));
}

int gpu_stream_done(struct gpu_stream *s, unsigned slot)
{
	return s->g->ops->stream_done(s->g, s->event[slot]);
}

int gpu_stream_failed(const struct gpu_stream *s, int rc, struct fault *f)
{
	return s->g->ops->failed(f, -rc, "a copy between GPU and host memory");
}
