// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Data checks: fills the memory of both ends of a cell, and compares what has arrived.
 *
 * Each end makes an image of the whole memory: poison of one epoch everywhere, guards included, and
 * over it the messages with the pattern of another epoch. So one comparison finds a byte that did
 * not arrive, arrived in the wrong place, or was left by an earlier cell.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "endpoint/worker.h"
#include "gdr.h"
#include "proto/fields.h"

#define MESSAGES_STREAM 1
#define POISON_STREAM   2
#define PAGE_BYTES      4096 /* small messages use a page in turn */

/* The contents that the client asks an end to fill memory with, or to compare it with. */
struct image {
	enum gdr_memory memory;
	uint32_t epoch, poison_epoch; /* epochs of the messages' pattern and of the poison */
	uint64_t message_bytes;       /* 0: only poison */
	bool staged;                  /* only QP 0 has a message */
	/* not sent, set by that end: */
	uint64_t addr, bytes; /* the memory, guards included */
	uint64_t offset;      /* of QP 0's slice in the memory */
	uint8_t *data;
};

#define ROW(member, ...) FIELD(struct image, member, FIELD_REQUIRED, __VA_ARGS__)
static const struct field image_rows[] = {
	ROW(memory, .max = GDR_MEMORIES - 1),
	ROW(epoch),
	ROW(poison_epoch),
	ROW(message_bytes),
	ROW(staged),
};
static const struct fields image_fields = FIELDS(image_rows, NULL);

static const struct field check_rows[] = {
	FIELD(struct gdr_result, checked_bytes, FIELD_REQUIRED),
	FIELD(struct gdr_result, wrong_bytes, FIELD_REQUIRED),
	FIELD(struct gdr_result, first_wrong, FIELD_REQUIRED),
};
static const struct fields check_fields = FIELDS(check_rows, NULL);

/* Make the image that the client's task WHAT describes. On success the caller frees m->data. */
static int make_image(const struct gdr *g, const json_t *what, struct image *m)
{
	uint64_t least = g->ms->ep->message_max, stride, seed;
	struct fault *f = g->ms->fault;
	unsigned count;

	if (fields_read(&image_fields, m, what, f) ||
	    message_has(what, "message_bytes", m->message_bytes <= least, f))
		return -1;
	m->addr = g->here[m->memory].addr;
	if (!m->addr)
		return fault_raise(f, FAULT_PEER, 0,
				   "the client requested memory that does not exist");
	stride = g->here[m->memory].stride;
	m->bytes = g->w->qps.count * stride;
	m->bytes = m->bytes > least ? m->bytes : least;
	count = m->staged ? 1 : g->w->qps.count;
	if ((count - 1) * stride + m->message_bytes > m->bytes)
		return fault_raise(f, FAULT_PEER, 0,
				   "the client requested messages that do not fit");
	m->offset = m->memory == GDR_HOST ? 0 : GDR_GUARD_BYTES;
	m->addr -= m->offset;
	m->bytes += 2 * m->offset;
	m->data = malloc(m->bytes);
	if (!m->data)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating an image of the buffer");
	pattern_fill(m->data, m->bytes, pattern_seed(POISON_STREAM, m->poison_epoch), 0);
	seed = pattern_seed(MESSAGES_STREAM, m->epoch);
	for (unsigned q = 0; q < count && m->message_bytes; q++)
		pattern_fill(m->data + m->offset + q * stride, m->message_bytes, seed, q * stride);
	return 0;
}

int gdr_fill(struct gdr *g, const json_t *what, json_t *result)
{
	struct image image;
	int rc = 0;

	(void)result;
	fault_phase(g->ms->fault, "filling memory with a pattern");
	if (make_image(g, what, &image))
		return -1;
	if (image.memory == GDR_HOST)
		memcpy((void *)(uintptr_t)image.addr, image.data, image.bytes);
	else
		rc = gpu_copy_in(g->ms->ep->gpu, image.addr, image.data, image.bytes, g->ms->fault);
	free(image.data);
	return rc;
}

/* A copy of the image's GPU memory, which the caller frees; NULL: failed. */
static uint8_t *read_gpu(struct gdr *g, const struct image *image)
{
	uint8_t *copy = malloc(image->bytes);

	if (!copy)
		fault_raise(g->ms->fault, FAULT_LOCAL, ENOMEM,
			    "allocating a copy of the GPU's buffer");
	/* The NIC's writes must be visible before the copy reads them. */
	if (copy &&
	    !gpu_route_flush(g->ms->ep->gpu, image->memory == GDR_DATA_DIRECT, g->ms->fault) &&
	    !gpu_copy_out(g->ms->ep->gpu, copy, image->addr, image->bytes, g->ms->fault))
		return copy;
	free(copy);
	return NULL;
}

int gdr_check(struct gdr *g, const json_t *what, json_t *result)
{
	struct image image;
	struct gdr_result found = {0};
	uint8_t *copy = NULL;
	const uint8_t *seen;

	fault_phase(g->ms->fault, "comparing the data");
	if (make_image(g, what, &image))
		return -1;
	seen = image.memory == GDR_HOST ? (const uint8_t *)(uintptr_t)image.addr
					: (copy = read_gpu(g, &image));
	for (uint64_t i = 0; seen && i < image.bytes; i++)
		if (seen[i] != image.data[i] && found.wrong_bytes++ == 0)
			found.first_wrong = i;
	found.checked_bytes = image.bytes;
	fields_write(&check_fields, &found, result);
	free(copy);
	free(image.data);
	return seen ? 0 : -1;
}

/* Size of the messages to check: at least a page, so that all memory the windows use is checked. */
static uint64_t verify_bytes(const struct gdr_result *r)
{
	return r->message_bytes > PAGE_BYTES ? r->message_bytes : PAGE_BYTES;
}

/*
 * Run task NAME at the source or at the SINK of R. EPOCH is that of the messages, EPOCH + 1 that of
 * the sink's poison.
 */
static int run_image_task(struct gdr *g, const struct gdr_result *r, const char *name, bool sink,
			  unsigned epoch, json_t **result)
{
	bool holds = !sink || result; /* the messages: the sink's are checked */
	struct image image = {
		.memory = sink ? r->cell.into : r->cell.from,
		.epoch = epoch,
		.poison_epoch = epoch + sink,
		.message_bytes = holds ? verify_bytes(r) : 0,
		.staged = r->cell.method != GDR_DIRECT,
	};
	json_t *what = fields_write(&image_fields, &image, json_pack("{s:s}", "task", name));

	return measure_task(g->ms, sink != r->cell.reverse, what, result);
}

int gdr_verify(struct gdr *g, struct gdr_result *r, unsigned epoch)
{
	struct round_attr w = {
		.kind = gdr_cell_kind(&r->cell),
		.reverse = r->cell.reverse,
		.warmup = true,
		.message_bytes = verify_bytes(r),
		.target = 1,
	};
	struct record rec;
	json_t *result;
	int rc;

	g->running = r;
	if (run_image_task(g, r, "fill", false, epoch, NULL) ||
	    run_image_task(g, r, "fill", true, epoch, NULL) || measure_window(g->ms, &w, &rec))
		return -1;
	if (measure_interrupted(g->ms))
		return 0; /* not all of the data may have been sent */
	if (run_image_task(g, r, "check", true, epoch, &result))
		return -1;
	rc = fields_read(&check_fields, r, result, g->ms->fault);
	r->verified = rc == 0;
	json_decref(result);
	return rc;
}
