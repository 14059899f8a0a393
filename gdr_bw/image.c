// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Compares the data of a cell. Both ends fill their memory: with poison, guards included, and over
 * it, at the source, the messages. After the transfer the sink's memory must be the same. So one
 * comparison finds a byte that did not arrive, arrived elsewhere, or was left by another cell.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "base/phase.h"
#include "endpoint/worker.h"
#include "gdr.h"
#include "proto/fields.h"

/* What the client asks an end to do, and what it finds. */
struct image {
	uint64_t kind; /* of the cell, and */
	bool reverse;  /* its direction */
	bool check;    /* compare, at the sink; false: fill */
	uint64_t message_bytes, checked_bytes, wrong_bytes, first_wrong;
	/* not sent: the memory at this end, and the messages in it */
	const struct memory *memory;
	uint64_t offset, messages;
};

#define ROW(member, ...) FIELD(struct image, member, FIELD_REQUIRED, __VA_ARGS__)
static const struct field image_rows[] = {
	ROW(kind, .min = 1, .max = GDR_KINDS),
	ROW(reverse),
	ROW(check),
	ROW(message_bytes),
	ROW(checked_bytes),
	ROW(wrong_bytes),
	ROW(first_wrong),
};
static const struct fields image_fields = FIELDS(image_rows, NULL);

/* Find the memory of M here. Returns true if it has the messages from the start: at the source. */
static bool find_memory(const struct gdr *g, struct image *m)
{
	const struct worker *w = &g->ms->ep->worker[0];
	bool source = g->ms->ep->server == m->reverse, gpu;
	struct gdr_cell c;

	gdr_cell_of_kind(&c, (unsigned)m->kind);
	gpu = c.staged ? g->mine.gpu : source ? c.from_gpu : c.into_gpu;
	m->memory = c.staged ? (gpu ? &g->data : &g->mem[GDR_SLOTS].memory)
			     : (gpu ? &g->mem[GDR_GPU].memory : &w->mem.memory);
	m->offset = gpu ? GDR_GUARD_BYTES : c.staged ? 0 : g->here[GDR_HOST].addr - m->memory->addr;
	m->messages = c.staged ? 1 : w->qps.count;
	return source;
}

/* What M's memory must hold, with its messages or none, in twice the room. The caller frees it. */
static uint8_t *make_image(const struct gdr *g, const struct image *m, bool messages)
{
	uint64_t seed = pattern_seed(m->kind, m->reverse), stride = g->here[GDR_HOST].stride;
	uint64_t bytes = m->memory->bytes, last = m->offset + (m->messages - 1) * stride;
	uint8_t *data = NULL;

	if (last > bytes || m->message_bytes > bytes - last)
		fault_raise(g->ms->fault, FAULT_PEER, 0,
			    "the client requested data that do not exist");
	else if (!(data = malloc(2 * bytes)))
		fault_raise(g->ms->fault, FAULT_LOCAL, ENOMEM, "allocating an image of the buffer");
	if (!data)
		return NULL;
	pattern_poison(data, m->offset, seed, 0);
	pattern_poison(data + m->offset, bytes - m->offset, seed, 0);
	for (uint64_t at = m->offset; at <= last && messages; at += stride)
		pattern_fill(data + at, m->message_bytes, seed, at - m->offset);
	return data;
}

/* Copy M's memory to SEEN: the NIC's writes must be visible before. */
static int read_gpu(struct gdr *g, const struct image *m, uint8_t *seen)
{
	struct gpu *gpu = m->memory->gpu;

	if (gpu_flush(gpu, g->mem[GDR_GPU].gpu_mr.data_direct, g->ms->fault))
		return -1;
	return gpu_copy_out(gpu, seen, m->memory->addr, m->memory->bytes, g->ms->fault);
}

/* Do M at this end. */
static int do_image(struct gdr *g, struct image *m)
{
	bool source = find_memory(g, m);
	const struct memory *to = m->memory;
	uint8_t *data = make_image(g, m, source || m->check);
	const uint8_t *seen;
	int rc = 0;

	if (!data)
		return -1;
	seen = to->gpu ? data + to->bytes : to->host;
	if (!to->gpu && !m->check)
		memcpy(to->host, data, to->bytes);
	else if (!m->check)
		rc = gpu_copy_in(to->gpu, to->addr, data, to->bytes, g->ms->fault);
	else if (to->gpu)
		rc = read_gpu(g, m, data + to->bytes);
	for (uint64_t i = 0; i < to->bytes && m->check && !rc; i++)
		if (seen[i] != data[i] && m->wrong_bytes++ == 0)
			m->first_wrong = i;
	m->checked_bytes = m->check ? to->bytes : 0;
	free(data);
	return rc;
}

int gdr_verify_task(struct gdr *g, const json_t *what, json_t *result)
{
	struct image m;

	if (fields_read(&image_fields, &m, what, g->ms->fault) || do_image(g, &m))
		return -1;
	fields_write(&image_fields, &m, result);
	return 0;
}

/* The client: do M here, or AT_SERVER. */
static int run_image(struct gdr *g, struct image *m, bool at_server)
{
	json_t *result;
	int rc;

	if (!at_server) {
		link_alive_start(g->ms->link);
		rc = do_image(g, m);
		link_alive_stop(g->ms->link);
		return rc;
	}
	if (measure_task(g->ms, fields_write(&image_fields, m, json_object()), &result))
		return -1;
	rc = fields_read(&image_fields, m, result, g->ms->fault);
	json_decref(result);
	return rc;
}

int gdr_verify(struct gdr *g, struct gdr_result *r)
{
	struct image m = {gdr_cell_kind(&r->cell), r->cell.reverse, false, r->message_bytes};
	struct round_attr w = {.kind = (unsigned)m.kind,
			       .reverse = m.reverse,
			       .warmup = true,
			       .message_bytes = m.message_bytes,
			       .target = 1};
	struct record rec;

	g->running = r;
	fault_phase(g->ms->fault, PHASE_VERIFY);
	if (run_image(g, &m, false) || run_image(g, &m, true) || measure_window(g->ms, &w, &rec))
		return -1;
	m.check = true;
	/* Interrupted: not all of the data may have been sent. */
	if (!g->ms->link->interrupted && run_image(g, &m, !w.reverse))
		return -1;
	r->checked_bytes = m.checked_bytes;
	r->wrong_bytes = m.wrong_bytes;
	r->first_wrong = m.first_wrong;
	return 0;
}
