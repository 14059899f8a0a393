// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "memory/gpu.h"

struct gpu_stream {
	struct gpu *g;
	void *stream;
	unsigned slots; /* events that were created */
	void *event[];
};

int gpu_stream_open(struct gpu_stream **out, struct gpu *g, unsigned slots, struct fault *f)
{
	struct gpu_stream *s = calloc(1, sizeof(*s) + slots * sizeof(s->event[0]));
	int rc;

	*out = s;
	if (!s)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating a stream of %u slots",
				   slots);
	s->g = g;
	rc = g->ops->stream_create(g, &s->stream);
	while (!rc && s->slots < slots) {
		rc = g->ops->event_create(g, &s->event[s->slots]);
		if (!rc)
			s->slots++;
	}
	if (!rc)
		return 0;
	gpu_stream_close(s);
	*out = NULL;
	return g->ops->failed(f, rc, "a %s stream with %u events", g->ops->name, slots);
}

void gpu_stream_close(struct gpu_stream *s)
{
	if (!s)
		return;
	if (s->stream)
		s->g->ops->stream_destroy(s->g, s->stream);
	while (s->slots)
		s->g->ops->event_destroy(s->g, s->event[--s->slots]);
	free(s);
}

int gpu_stream_copy_in(struct gpu_stream *s, uint64_t to, const void *from, size_t bytes)
{
	return -s->g->ops->stream_copy_in(s->g, s->stream, to, from, bytes);
}

int gpu_stream_copy_out(struct gpu_stream *s, void *to, uint64_t from, size_t bytes)
{
	return -s->g->ops->stream_copy_out(s->g, s->stream, to, from, bytes);
}

int gpu_stream_mark(struct gpu_stream *s, unsigned slot)
{
	return -s->g->ops->stream_mark(s->g, s->stream, s->event[slot]);
}

int gpu_stream_done(struct gpu_stream *s, unsigned slot)
{
	return s->g->ops->stream_done(s->g, s->event[slot]);
}

int gpu_stream_failed(const struct gpu_stream *s, enum gpu_stream_call call, int rc,
		      struct fault *f)
{
	const struct memory_ops *ops = s->g->ops;

	return ops->failed(f, -rc, "%s", ops->stream_call[call]);
}
