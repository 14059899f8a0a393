// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/gpu_cuda.h"

#include <errno.h>
#include <stdlib.h>

struct gpu_stream {
	struct gpu *g;
	CUstream stream;
	unsigned slots; /* events that were created */
	CUevent event[];
};

static CUresult create_stream(struct gpu_stream *s, unsigned slots)
{
	CUresult rc = CUDA_CALL(s->g, cuStreamCreate, &s->stream, CU_STREAM_NON_BLOCKING);

	while (!rc && s->slots < slots) {
		rc = s->g->cu.cuEventCreate(&s->event[s->slots], CU_EVENT_DISABLE_TIMING);
		if (!rc)
			s->slots++;
	}
	return rc;
}

int gpu_stream_open(struct gpu_stream **out, struct gpu *g, unsigned slots, struct fault *f)
{
	struct gpu_stream *s = calloc(1, sizeof(*s) + slots * sizeof(s->event[0]));
	CUresult rc;

	*out = s;
	if (!s)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating a stream of %u slots",
				   slots);
	s->g = g;
	rc = create_stream(s, slots);
	if (!rc)
		return 0;
	gpu_stream_close(s);
	*out = NULL;
	return cuda_failed(f, rc, "a CUDA stream with %u events", slots);
}

void gpu_stream_close(struct gpu_stream *s)
{
	if (!s)
		return;
	if (s->stream && !s->g->cu.cuCtxSetCurrent(s->g->ctx)) {
		s->g->cu.cuStreamSynchronize(s->stream);
		while (s->slots)
			s->g->cu.cuEventDestroy_v2(s->event[--s->slots]);
		s->g->cu.cuStreamDestroy_v2(s->stream);
	}
	free(s);
}

/* Each call makes the context current: any thread may call, and it costs nothing compared with a
 * copy. */
int gpu_stream_copy_in(struct gpu_stream *s, uint64_t to, const void *from, size_t bytes)
{
	return -(int)CUDA_CALL(s->g, cuMemcpyHtoDAsync_v2, to, from, bytes, s->stream);
}

int gpu_stream_copy_out(struct gpu_stream *s, void *to, uint64_t from, size_t bytes)
{
	return -(int)CUDA_CALL(s->g, cuMemcpyDtoHAsync_v2, to, from, bytes, s->stream);
}

int gpu_stream_mark(struct gpu_stream *s, unsigned slot)
{
	return -(int)CUDA_CALL(s->g, cuEventRecord, s->event[slot], s->stream);
}

int gpu_stream_done(struct gpu_stream *s, unsigned slot)
{
	CUresult rc = CUDA_CALL(s->g, cuEventQuery, s->event[slot]);

	if (rc == CUDA_SUCCESS)
		return 1;
	return rc == CUDA_ERROR_NOT_READY ? 0 : -(int)rc;
}

int gpu_stream_failed(int rc, const char *call, struct fault *f)
{
	return cuda_failed(f, (CUresult)-rc, "%s", call);
}
