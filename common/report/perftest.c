// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Drop-in mode: the text around the table that scripts written for perftest parse, and its JSON
 * document: the facts of its banner, and the last row of its table. tests/cli checks what known
 * parsers rely on.
 */
#include "report/report.h"
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/composed.h"

#define WHOLE_MAX 9e18 /* the largest number that JSON readers accept */

/* A fact in perftest's banner and document. */
struct fact {
	const char *label; /* in the banner, where a leading blank begins a line; NULL: not there */
	const char *key;   /* in the document; NULL: not there */
	const char *word;  /* NULL: it is a number */
	uint64_t number;
	const char *unit; /* of the number, in the banner; NULL: none */
	bool absent;
};
typedef void fact_fn(void *arg, const struct fact *fact);

static bool is_word(const char *text, const char *word)
{
	return text && strcmp(text, word) == 0;
}

static const char *on_off(bool on)
{
	return on ? "ON" : "OFF";
}

/* "Atomic CMP_AND_SWAP Bidirectional Post List BW Test". */
static void make_title(const struct report *r, char *title, size_t size)
{
	size_t first = strcspn(r->about.title, " ");
	const struct experiment *x = &r->about.options->experiment;
	const struct option_row *type = options_find("atomic_type");
	char which[32] = " ";

	if (options_applies(type, r->about.options->traits))
		options_format_value(type, x->atomic_type, which + 1, sizeof(which) - 1);
	snprintf(title, size, "%.*s%s%s%s%s", (int)first, r->about.title, which[1] ? which : "",
		 x->bidirectional ? " Bidirectional" : "", x->post_list > 1 ? " Post List" : "",
		 r->about.title + first);
}

/* clang-format off */
static void emit_facts(const struct report *r, fact_fn *emit, void *arg)
{
	const struct options *o = r->about.options;
	const struct experiment *x = &o->experiment;
	const struct report_effective *e = &r->run.effective;
	const struct end *end = &r->run.end;
	bool sends = !r->about.server || x->bidirectional;
	bool receives = r->about.server || x->bidirectional;
	char title[64], test[64], events[96];

	make_title(r, title, sizeof(title));
	strcpy(test, title);
	for (char *at = test; (at = strchr(at, ' ')); at++)
		*at = '_';
	snprintf(events, sizeof(events), "Using_%s_comp%" PRIu64, end->nic.name, o->local.vector);

	const struct fact all[] = {
		{"                    ", NULL, title},
		{NULL, "test", test},
		{" Test with events. Using ", NULL, events + 6, .absent = !x->events},
		{NULL, "Test with events", events, .absent = !x->events},
		{" Dual-port       : ", "Dual_port", on_off(r->run.rails > 1)},
		{"\t\tDevice         : ", "Device", end->nic.name},
		{" Number of qps   : ", "Number_of_qps",
		 .number = x->qps * x->threads * r->run.rails},
		{"\t\tTransport type : ", "Transport_type",
		 is_word(end->nic.transport, "iWARP") ? "IW" : "IB"},
		{" Connection type : ", "Connection_type", experiment_transport(x)->name},
		{"\t\tUsing SRQ      : ", "Using_SRQ", on_off(x->use_srq)},
		{" PCIe relax order: ", "PCIe_relax_order", on_off(!x->strict_order)},
		{"\t\tLock-free      : ", NULL, "OFF"},
		{" ibv_wr* API     : ", "ibv_wr_API", on_off(is_word(e->calls, "ibv_wr"))},
		{"\t\tUsing DDP      : ", NULL, "OFF"},
		{" TX depth        : ", "TX_depth", .number = e->tx_depth, .absent = !sends},
		{" Post List       : ", "Post_List", .number = x->post_list,
		 .absent = x->post_list <= 1},
		{" Recv Post List  : ", "Recv_Post_List", .number = x->recv_post_list,
		 .absent = x->recv_post_list <= 1 || x->recv_post_list == EXPERIMENT_AUTO},
		{" RX depth        : ", "RX_depth", .number = e->rx_depth,
		 .absent = !receives || !e->rx_depth},
		{" CQ Moderation   : ", "CQ_Moderation", .number = e->cq_mod,
		 .absent = r->about.latency},
		{" Mtu             : ", "Mtu", .number = e->mtu_bytes, .unit = "[B]"},
		{" Link type       : ", "Link_type",
		 is_word(end->nic.link_layer, "Ethernet") ? "Ethernet" : "IB"},
		{" GID index       : ", "GID_index", .number = (uint64_t)end->address.gid_index,
		 .absent = end->address.gid_index < 0},
		{" Outstand reads  : ", "Outstand_reads", .number = e->outs, .absent = !e->outs},
		{" Max inline data : ", "Max_inline_data", .number = e->inline_bytes, .unit = "[B]",
		 .absent = e->outs > 0},
		{" rdma_cm QPs\t : ", "rdma_cm_QPs", on_off(x->rdma_cm)},
		/* perftest has no -R without its -z. */
		{" Data ex. method : ", "Data_ex_method",
		 x->rdma_cm ? "rdma_cm" : "Ethernet"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!all[i].absent)
			emit(arg, &all[i]);
}
/* clang-format on */

bool perftest_shows(const struct report *r)
{
	return !(r->about.server && r->about.latency && r->run.effective.outs);
}

void perftest_rule(FILE *out)
{
	fprintf(out,
		"---------------------------------------------------------------------------------------\n");
}

/* Print perftest's warning that a server does not measure a peak, before any client connects. */
void perftest_warn(const struct report *r, FILE *out)
{
	const struct options *o = r->about.options;
	bool receives = r->about.server && o->traits & TRAIT_RECEIVES &&
			!o->experiment.bidirectional;

	if (!(r->perftest || (r->only && o->output.format == FORMAT_PERFTEST)) || r->about.latency)
		return;
	if (receives && !o->output.no_peak)
		fprintf(out, " WARNING: BW peak won't be measured in this run.\n");
	fflush(out);
}

void perftest_waiting(FILE *out)
{
	fprintf(out, "\n************************************\n"
		     "* Waiting for client to connect... *\n"
		     "************************************\n");
}

static void address_lines(const char *which, const struct report *r, const struct end *e,
			  const struct qp_address *a, FILE *out)
{
	unsigned traits = r->about.options->traits;

	for (unsigned i = 0; i < a->count; i++) {
		fprintf(out, " %s address: LID %#04x QPN %#06x PSN %#06x", which, a->lid, a->qpn[i],
			a->psn[i]);
		if (traits & TRAIT_READS)
			fprintf(out, " OUT %#04x", r->run.effective.outs);
		if (traits & (TRAIT_WRITES | TRAIT_READS))
			fprintf(out, " RKey %#08x VAddr %#016" PRIx64, a->rkey,
				a->addr + i * a->stride);
		fprintf(out, "\n");
		for (int b = 0; e->address.gid_index >= 0 && b < 16; b++)
			fprintf(out, "%s%02u%s", b ? "" : " GID: ", a->gid.raw[b],
				b < 15 ? ":" : "\n");
	}
}

/* The banner's lines so far. */
struct lines {
	FILE *out;
	const char *between;
};

static void put_fact(void *arg, const struct fact *fact)
{
	struct lines *l = arg;

	if (!fact->label)
		return;
	fprintf(l->out, "%s%s", fact->label[0] == ' ' ? l->between : "", fact->label);
	if (fact->word)
		fprintf(l->out, "%s", fact->word);
	else
		fprintf(l->out, "%" PRIu64 "%s", fact->number, fact->unit ? fact->unit : "");
	l->between = "\n";
}

uint64_t perftest_banner_lines(const struct report_ends *ends)
{
	uint64_t lines = 32; /* two for each QP are added */

	for (unsigned i = 0; i < ends->rails; i++)
		lines += 2 * (ends->my_qps[i]->count + ends->their_qps[i]->count);
	return lines;
}

void perftest_banner(struct report *r, const struct report_ends *ends, FILE *out)
{
	struct lines l = {.out = out, .between = ""};

	perftest_rule(out);
	emit_facts(r, put_fact, &l);
	fprintf(out, "\n");
	perftest_rule(out);
	for (unsigned i = 0; i < ends->rails; i++)
		address_lines("local", r, ends->mine[i], ends->my_qps[i], out);
	for (unsigned i = 0; i < ends->rails; i++)
		address_lines("remote", r, ends->theirs[i], ends->their_qps[i], out);
	perftest_rule(out);
}

/* Writes one key a line, for awk and grep; with a comma before all but the first. */
struct keys {
	FILE *out;
	bool begun;
};

static void put_key(struct keys *k, const char *key)
{
	fprintf(k->out, "%s\"%s\": ", k->begun ? ",\n" : "", key);
	k->begun = true;
}

/* Write V with as many digits as perftest. */
static void put_number(struct keys *k, const char *key, double v, int digits)
{
	put_key(k, key);
	fprintf(k->out, "%.*f", digits, !isfinite(v) ? 0 : digits ? v : fmin(v, WHOLE_MAX));
}

static void put_json_fact(void *arg, const struct fact *fact)
{
	struct keys *k = arg;
	json_t *word;
	char *text;

	if (!fact->key)
		return;
	if (!fact->word) {
		put_number(k, fact->key, (double)fact->number, 0);
		return;
	}
	word = json_text(fact->word);
	text = json_dumps(word, JSON_ENCODE_ANY);
	put_key(k, fact->key);
	fputs(text ? text : "\"\"", k->out);
	free(text);
	json_decref(word);
}

char *perftest_json(const struct report *r)
{
	const struct record *rec = &r->run.last;
	struct columns all = table_columns(r, rec, true);
	struct composed text;
	struct keys k = {composed_open(&text)};

	if (!k.out)
		return composed_close(&text);
	fprintf(k.out, "{\n\"test_info\": {\n");
	emit_facts(r, put_json_fact, &k);
	fprintf(k.out, "\n},\n\"results\": {\n");
	k.begun = false;
	for (const struct column *c = all.column; c < all.column + all.count; c++)
		put_number(&k, c->key, table_value(r, rec, c), c->decimals);
	fprintf(k.out, "\n}\n}\n");
	return composed_close(&text);
}
