// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Drop-in mode: the text around the table that scripts written for perftest parse, and its JSON
 * document: the facts of its banner, and the last row of its table. tests/cli checks what known
 * parsers rely on.
 */
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/composed.h"
#include "base/text.h"
#include "plan/test.h"
#include "proto/fields.h"
#include "verbs/gid.h"
#include "verbs/qp.h"
#include "verbs/transport.h"

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

/* Those of a run, with the texts made for them. */
struct facts {
	char title[64], test[64], events[96];
	struct fact of[32];
	size_t count;
};

static const char *on_off(bool on)
{
	return on ? "ON" : "OFF";
}

/* "Atomic CMP_AND_SWAP Bidirectional Post List BW Test". */
static void make_title(const struct report *r, char *title, size_t size)
{
	size_t first = strcspn(r->about.test->title, " ");
	const char *rest = r->about.test->title + first;
	const struct experiment *x = &r->about.options->experiment;
	const struct option_row *type = options_find("atomic_type");
	char which[32] = " ";

	if (options_applies(type, r->about.options->traits))
		options_format_value(type, x->atomic_type, which + 1, sizeof(which) - 1);
	snprintf(title, size, "%.*s%s%s%s", (int)first, r->about.test->title, which[1] ? which : "",
		 x->bidirectional ? " Bidirectional" : "", x->post_list > 1 ? " Post List" : "");
	text_add(title, size, "%.*s%s Test", (int)(strlen(rest) - strlen(" Test")), rest,
		 x->mcg ? " Multicast" : "");
}

/* The names that perftest makes of several options. */
static void get_names(const struct report *r, struct facts *f)
{
	make_title(r, f->title, sizeof(f->title));
	strcpy(f->test, f->title);
	for (char *at = f->test; (at = strchr(at, ' ')); at++)
		*at = '_';
	snprintf(f->events, sizeof(f->events), "Using_%s_comp%" PRIu64, r->run.end.device,
		 r->about.options->local.vector);
}

/* clang-format off */
static void get_facts(const struct report *r, struct facts *f)
{
	const struct experiment *x = &r->about.options->experiment;
	const struct report_effective *e = &r->run.effective;
	const struct end *end = &r->run.end;
	bool sends = !r->about.server || x->bidirectional;
	bool receives = r->about.server || x->bidirectional;

	f->count = 0;
	get_names(r, f);

	const struct fact all[] = {
		{"                    ", NULL, f->title},
		{NULL, "test", f->test},
		{" Test with events. Using ", NULL, f->events + 6, .absent = !x->events},
		{NULL, "Test with events", f->events, .absent = !x->events},
		{" MultiCast runs on UD!", NULL, "", .absent = !x->mcg},
		{" Dual-port       : ", "Dual_port", on_off(r->run.rails > 1)},
		{"\t\tDevice         : ", "Device", end->device},
		{" Number of qps   : ", "Number_of_qps",
		 .number = x->qps * x->threads * r->run.rails},
		{"\t\tTransport type : ", "Transport_type",
		 end->transport == FABRIC_IWARP ? "IW"
		 : end->transport == FABRIC_EFA ? "Unknown"
						: "IB"},
		{" Connection type : ", "Connection_type", experiment_transport(x)->name},
		{"\t\tUsing SRQ      : ", "Using_SRQ", on_off(x->use_srq || experiment_transport(x)->receiver)},
		{" PCIe relax order: ", "PCIe_relax_order", on_off(!x->strict_order)},
		{"\t\tLock-free      : ", NULL, "OFF"},
		{" ibv_wr* API     : ", "ibv_wr_API", on_off(e->calls && !strcmp(e->calls, "ibv_wr"))},
		{"\t\tUsing DDP      : ", NULL, "OFF"},
		{" TX depth        : ", "TX_depth", .number = e->tx_depth, .absent = !sends},
		{" Post List       : ", "Post_List", .number = x->post_list,
		 .absent = x->post_list <= 1},
		{" Recv Post List  : ", "Recv_Post_List", .number = x->recv_post_list,
		 .absent = x->recv_post_list <= 1 || x->recv_post_list == EXPERIMENT_AUTO},
		{" RX depth        : ", "RX_depth", .number = e->rx_depth,
		 .absent = !receives || !e->rx_depth},
		{" CQ Moderation   : ", "CQ_Moderation", .number = e->cq_mod,
		 .absent = r->about.test->latency},
		{" Mtu             : ", "Mtu", .number = e->mtu_bytes, .unit = "[B]"},
		{" Link type       : ", "Link_type",
		 strcmp(fabric_row(end->transport)->link, "Ethernet") ? "IB" : "Ethernet"},
		{" GID index       : ", "GID_index", .number = (uint64_t)end->gid_index,
		 .absent = end->gid_index < 0},
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
			f->of[f->count++] = all[i];
}
/* clang-format on */

static void put_rule(FILE *out)
{
	fprintf(out,
		"---------------------------------------------------------------------------------------\n");
}

/* A server does not measure a peak, which perftest says before any client connects. */
void perftest_warn(const struct report *r)
{
	const struct options *o = r->about.options;

	if (o->output.format == FORMAT_PERFTEST && r->about.server && !r->about.test->latency &&
	    o->traits & TRAIT_RECEIVES && !o->experiment.bidirectional && !o->output.no_peak)
		printf(" WARNING: BW peak won't be measured in this run.\n");
	fflush(stdout);
}

static void say_waiting(void)
{
	printf("\n************************************\n"
	       "* Waiting for client to connect... *\n"
	       "************************************\n");
	fflush(stdout);
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
		if (a->srqn)
			fprintf(out, " SRQn %#08x", a->srqn[i]);
		fprintf(out, "\n");
		for (int b = 0; e->gid_index >= 0 && b < 16; b++)
			fprintf(out, "%s%02u%s",
				b                             ? ""
				: multicast_is_group(&a->gid) ? " MGID: "
							      : " GID: ",
				a->gid.raw[b], b < 15 ? ":" : "\n");
	}
}

static void put_banner(struct report *r, const struct report_ends *ends)
{
	const char *between = "";
	struct facts f;

	put_rule(stdout);
	get_facts(r, &f);
	for (const struct fact *k = f.of; k < f.of + f.count; k++) {
		if (!k->label)
			continue;
		printf("%s%s", k->label[0] == ' ' ? between : "", k->label);
		if (k->word)
			printf("%s", k->word);
		else
			printf("%" PRIu64 "%s", k->number, k->unit ? k->unit : "");
		between = "\n";
	}
	printf("\n");
	put_rule(stdout);
	for (unsigned i = 0; i < ends->rails; i++)
		address_lines("local", r, ends->mine[i], ends->my_qps[i], stdout);
	for (unsigned i = 0; i < ends->rails; i++)
		address_lines("remote", r, ends->theirs[i], ends->their_qps[i], stdout);
	put_rule(stdout);
	fflush(stdout); /* rows of intervals are not written through stdio */
}

/* Its figures count one direction. */
static struct record record_of(const struct result *result, const struct result_row *shown)
{
	struct record rec = *shown->record;

	if (shown->by == RESULT_BOTH && result->local)
		rec.messages = result->local->record->messages;
	return rec;
}

/* True if there are two more tables, one per end, below the first one: with -b. */
static bool is_split(const struct report *r, const struct result *result)
{
	const struct options *o = r->about.options;

	return o->output.both_rows && !o->experiment.sweep && result->local && result->remote;
}

struct record perftest_last(const struct report *r, const struct result *result,
			    const struct result_row *shown)
{
	return is_split(r, result) ? *result->remote->record : record_of(result, shown);
}

static void put_header(const struct report *r, FILE *out)
{
	char text[COLUMNS_ROW];

	varied_columns(r, true, out);
	fprintf(out, "%s\n", columns_row(r, NULL, text, sizeof(text)));
}

static void put_row(const struct report *r, const struct record *rec, FILE *out)
{
	char text[COLUMNS_ROW];

	varied_columns(r, false, out);
	fprintf(out, "%s\n", columns_row(r, rec, text, sizeof(text)));
}

static void put_end(const struct report *r, const char *whose, const struct result_row *end,
		    FILE *out)
{
	put_rule(out);
	fprintf(out, "\n %s results: \n", whose);
	put_rule(out);
	put_header(r, out);
	put_row(r, end->record, out);
}

static void perftest_row(struct report *r, const struct result *result,
			 const struct result_row *shown, FILE *out)
{
	struct record rec = record_of(result, shown);
	bool only_answers = r->about.server && r->about.test->latency && r->run.effective.outs;

	/* A server that only answers has no latency to show. */
	if (only_answers)
		return;
	if (!r->header_done)
		put_header(r, out);
	r->header_done = true;
	if (result->samples_us) {
		columns_samples(r, result, shown, out);
		put_rule(out);
		put_header(r, out);
	}
	put_row(r, &rec, out);
	if (is_split(r, result)) {
		put_end(r, "Local", result->local, out);
		put_end(r, "Remote", result->remote, out);
	}
}

static void put_last_rule(struct report *r)
{
	if (r->header_done)
		put_rule(stdout);
	r->header_done = false;
	fflush(stdout); /* notes come after it */
}

static const struct form form_perftest = {
	.perftest = true,
	.open = perftest_warn,
	.listening = say_waiting,
	.connected = put_banner,
	.row = perftest_row,
	.close = put_last_rule,
};

const struct form *perftest_form(void)
{
	return &form_perftest;
}

/* Write KEY's number V, with as many digits as perftest, to a line of its own, for awk and grep. */
static void put_number(FILE *out, const char *before, const char *key, double v, int digits)
{
	fprintf(out, "%s\"%s\": %.*f", before, key, digits,
		!isfinite(v) ? 0
		: digits     ? v
			     : fmin(v, WHOLE_MAX));
}

static void put_word(FILE *out, const char *before, const struct fact *fact)
{
	json_t *word = json_text(fact->word);
	char *text = json_dumps(word, JSON_ENCODE_ANY);

	fprintf(out, "%s\"%s\": %s", before, fact->key, text ? text : "\"\"");
	free(text);
	json_decref(word);
}

char *perftest_json(const struct report *r)
{
	const struct record *rec = &r->run.last;
	struct columns all = columns_of(r, rec, true);
	const char *before = "";
	struct composed text;
	struct facts f;
	FILE *out = composed_open(&text);

	if (!out)
		return composed_close(&text);
	get_facts(r, &f);
	fprintf(out, "{\n\"test_info\": {\n");
	for (const struct fact *k = f.of; k < f.of + f.count; k++) {
		if (k->key && k->word)
			put_word(out, before, k);
		else if (k->key)
			put_number(out, before, k->key, (double)k->number, 0);
		before = k->key ? ",\n" : before;
	}
	fprintf(out, "\n},\n\"results\": {\n");
	for (size_t i = 0; i < all.count; i++)
		put_number(out, i ? ",\n" : "", all.column[i].key,
			   column_value(r, rec, &all.column[i]), all.column[i].decimals);
	fprintf(out, "\n}\n}\n");
	return composed_close(&text);
}
