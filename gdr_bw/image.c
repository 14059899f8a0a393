// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The data of a cell: what a source holds, and what a sink must hold when it has come.
 *
 * Both are made as an image of the whole memory: poison of one epoch everywhere, guards included,
 * and over it the messages with the pattern of another. So a byte that did not come, came to the
 * wrong place, or was left from an earlier cell is wrong in the one comparison.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "gdr.h"
#include "wire/message.h"

#define MESSAGES_STREAM 1
#define POISON_STREAM   2

struct image {
	enum gdr_memory memory;
	uint64_t addr, bytes; /* the memory, with its guards */
	uint64_t offset;      /* of QP 0's slice in it */
	uint8_t *data;
};

struct image_task {
	uint64_t memory, epoch, message_bytes, poison_epoch;
	bool staged;
};

static int read_task(struct image_task *t, const struct gdr *g, const json_t *what)
{
	struct fault *f = g->parts.fault;

	if (message_u64(what, "memory", GDR_MEMORIES - 1, &t->memory, f) ||
	    message_u64(what, "epoch", UINT32_MAX, &t->epoch, f) ||
	    message_u64(what, "poison_epoch", UINT32_MAX, &t->poison_epoch, f) ||
	    message_u64(what, "message_bytes", g->message_max, &t->message_bytes, f))
		return -1;
	t->staged = json_is_true(json_object_get(what, "staged"));
	if (!g->here.memory[t->memory].addr)
		return fault_raise(f, FAULT_PEER, 0,
				   "the client asked for memory that is not there");
	return 0;
}

/* One message on each QP; staged: on QP 0. */
static int lay_messages(const struct gdr *g, const struct image_task *t, struct image *image)
{
	uint64_t seed = pattern_seed(MESSAGES_STREAM, t->epoch);
	uint64_t stride = g->here.memory[t->memory].stride;
	unsigned count = t->staged ? 1 : g->parts.qps->count;

	if ((count - 1) * stride + t->message_bytes > image->bytes - 2 * image->offset)
		return fault_raise(g->parts.fault, FAULT_PEER, 0,
				   "the client asked for messages that do not fit");
	for (unsigned q = 0; q < count && t->message_bytes; q++)
		pattern_fill(image->data + image->offset + q * stride, t->message_bytes, seed,
			     q * stride);
	return 0;
}

static int make_image(const struct gdr *g, const struct image_task *t, struct image *image)
{
	const struct gdr_place *p = &g->here.memory[t->memory];
	uint64_t slices = g->parts.qps->count * p->stride;

	image->memory = (enum gdr_memory)t->memory;
	if (t->memory == GDR_HOST) {
		image->addr = p->addr;
		image->bytes = slices > g->message_max ? slices : g->message_max;
		image->offset = 0;
	} else {
		image->addr = g->buffer;
		image->bytes = g->buffer_bytes;
		image->offset = GDR_GUARD_BYTES;
	}
	image->data = malloc(image->bytes);
	if (!image->data)
		return fault_raise(g->parts.fault, FAULT_LOCAL, ENOMEM, "an image of the buffer");
	pattern_fill(image->data, image->bytes, pattern_seed(POISON_STREAM, t->poison_epoch), 0);
	if (lay_messages(g, t, image) == 0)
		return 0;
	free(image->data);
	return -1;
}

int gdr_fill(struct gdr *g, const json_t *what)
{
	struct image_task t;
	struct image image;
	int rc = 0;

	fault_phase(g->parts.fault, "filling memory with a pattern");
	if (read_task(&t, g, what) || make_image(g, &t, &image))
		return -1;
	if (image.memory == GDR_HOST)
		memcpy((void *)(uintptr_t)image.addr, image.data, image.bytes);
	else
		rc = gpu_copy_in(g->parts.gpu, image.addr, image.data, image.bytes, g->parts.fault);
	free(image.data);
	return rc;
}

/* Writes by Data Direct are not in order with the GPU's own, whatever it says of others. */
static int flush(struct gdr *g, enum gdr_memory memory)
{
	if (memory == GDR_DATA_DIRECT && gpu_about(g->parts.gpu)->can_flush)
		return gpu_flush_now(g->parts.gpu, g->parts.fault);
	return gpu_flush(g->parts.gpu, g->parts.fault);
}

/* What the memory holds, as the CPU may see it; the caller's to free unless it is the memory. */
static const uint8_t *look(struct gdr *g, const struct image *image, uint8_t **copy)
{
	*copy = NULL;
	if (image->memory == GDR_HOST)
		return (const uint8_t *)(uintptr_t)image->addr;
	*copy = malloc(image->bytes);
	if (!*copy) {
		fault_raise(g->parts.fault, FAULT_LOCAL, ENOMEM, "a copy of the GPU's buffer");
		return NULL;
	}
	/* What the NIC has written must be there before the copy reads it. */
	if (flush(g, image->memory) ||
	    gpu_copy_out(g->parts.gpu, *copy, image->addr, image->bytes, g->parts.fault))
		return NULL;
	return *copy;
}

int gdr_check(struct gdr *g, const json_t *what, json_t *result)
{
	struct image_task t;
	struct image image;
	uint64_t wrong = 0, first = 0;
	const uint8_t *seen;
	uint8_t *copy;

	fault_phase(g->parts.fault, "comparing the data");
	if (read_task(&t, g, what) || make_image(g, &t, &image))
		return -1;
	seen = look(g, &image, &copy);
	for (uint64_t i = 0; seen && i < image.bytes; i++)
		if (seen[i] != image.data[i] && wrong++ == 0)
			first = i;
	json_object_set_new(result, "checked_bytes", json_integer((json_int_t)image.bytes));
	json_object_set_new(result, "wrong_bytes", json_integer((json_int_t)wrong));
	json_object_set_new(result, "first_wrong", json_integer((json_int_t)first));
	free(copy);
	free(image.data);
	return seen ? 0 : -1;
}
