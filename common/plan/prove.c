// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "plan/prove.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/sweep.h"
#include "proto/fields.h"
#include "stat/interval.h"

#define TIMES       4    /* window, QPs, size, receives: large enough to be seen in any noise */
#define THREADS     2
#define LIST        32   /* as the advice of LIMIT_CORE has it */
#define TURNS_LEAST 3    /* with fewer an interval is too wide to tell anything */
#define CONFIDENCE  99.0 /* percent; of what is said to help, */
#define CERTAINTY   99.95 /* since there are ten changes, and a look after each turn */
#define MARGIN      0.05 /* a rate within that is the same */
/* Four times the size carries that much more: most of the time goes by messages, not by bytes; and
 * what helps no more than that comes second. */
#define BY_MESSAGES  1.6
#define HELPS_LITTLE 1.25

/* What a change is: its name in documents, what limits a run that it makes faster, and its words. */
static const struct {
	const char *name;
	enum finding_code limit;
	const char *what;
} changes[PROVE_CHANGES] = {
	[PROVE_BASE] = {"base", LIMIT_UNKNOWN, ""},
	[PROVE_WINDOW] = {"window", LIMIT_WINDOW, "the window"},
	[PROVE_OUTS] = {"outs", LIMIT_WINDOW, "the READs or atomics in flight"},
	[PROVE_QPS] = {"qps", LIMIT_NIC_QP, "what one QP, on its one way through the network, does"},
	[PROVE_SIZE] = {"size", LIMIT_MESSAGE_RATE, "the rate of messages"},
	[PROVE_RECEIVES] = {"receives", LIMIT_RECEIVER, "the receive queue"},
	[PROVE_ORDER] = {"order", LIMIT_PCIE, "the order of PCIe writes"},
	[PROVE_FOOTPRINT] = {"footprint", LIMIT_MEMORY, "memory that no cache holds"},
	[PROVE_THREADS] = {"threads", LIMIT_CORE, "the CPU of a single thread"},
	[PROVE_LIST] = {"list", LIMIT_CORE, "what posting each message costs"},
	[PROVE_TOGETHER] = {"together", LIMIT_UNKNOWN, "both"},
};

/* The field of ROW, an experiment's, in E. */
static uint64_t *field_of(const struct experiment *e, const struct option_row *row)
{
	return (uint64_t *)((char *)(uintptr_t)e + (row->field - offsetof(struct options, experiment)));
}

/* What of T differs from BASE, as typed. */
static void name_option(struct prove_try *t, const struct experiment *base)
{
	char name[64], word[32];

	for (const struct option_row *row = options_table(); row->name; row++) {
		uint64_t now;

		if (row->scope != SCOPE_EXPERIMENT ||
		    *field_of(base, row) == (now = *field_of(&t->experiment, row)))
			continue;
		snprintf(name, sizeof(name), row->letter ? "-%c" : "-", row->letter);
		if (!row->letter)
			text_add(name, sizeof(name), "-%s", row->name);
		text_add(t->option, sizeof(t->option), "%s%s%s", t->option[0] ? " " : "",
			 now && now != EXPERIMENT_AUTO ? "" : "without ", name);
		if (row->kind != OPTION_FLAG && now && now != EXPERIMENT_AUTO)
			text_add(t->option, sizeof(t->option), " %s",
				 sweep_word(row, now, word, sizeof(word)));
	}
}

/* E has TIMES of what goes on at a time, of which each has that much less of the window. */
static const char *divide_window(struct experiment *e)
{
	if (e->tx_depth < TIMES || e->post_list > e->tx_depth / TIMES)
		return "the window is too small to be divided";
	e->tx_depth /= TIMES;
	return NULL;
}

/* Change C in E. Returns why it cannot be, or NULL; *THERE: there is something to change. */
static const char *change(const struct prove_facts *f, enum prove_change c, struct experiment *e,
			  bool *there)
{
	const char *why;

	*there = true;
	switch (c) {
	case PROVE_WINDOW:
		e->tx_depth = e->tx_depth * TIMES < f->max_depth ? e->tx_depth * TIMES : f->max_depth;
		return e->tx_depth < 2 * f->base->tx_depth ? "the device has no deeper queues" : NULL;
	case PROVE_OUTS:
		*there = f->fetches && e->outs != EXPERIMENT_AUTO;
		e->outs = EXPERIMENT_AUTO;
		return NULL;
	case PROVE_QPS:
		*there = !e->mcg;
		e->qps *= TIMES;
		return divide_window(e);
	case PROVE_SIZE:
		e->size_bytes *= TIMES;
		return e->size_bytes > f->max_bytes ? "no message is so large" : divide_window(e);
	case PROVE_RECEIVES:
		*there = f->receives;
		e->rx_depth = f->rx_depth * TIMES;
		return e->rx_depth > f->max_depth ? "the device has no deeper queues" : NULL;
	case PROVE_ORDER:
		*there = !f->software;
		e->strict_order = !e->strict_order;
		return NULL;
	case PROVE_FOOTPRINT:
		*there = e->footprint_bytes > 0;
		e->footprint_bytes = 0;
		return NULL;
	case PROVE_THREADS:
		why = e->qps % THREADS ? change(f, PROVE_QPS, e, there) : NULL;
		e->threads *= THREADS;
		e->qps /= THREADS;
		*there = !e->mcg;
		return e->threads > f->cpus ? "this process has no other CPU" : why;
	case PROVE_LIST:
		*there = e->post_list < LIST;
		e->post_list = LIST;
		return e->tx_depth < 2 * LIST ? "the window is too small for lists" : NULL;
	default:
		*there = false;
		return NULL;
	}
}

/* Plan C in T, from the experiment that T has. */
static void plan_try(struct prove *p, enum prove_change c, struct prove_try *t)
{
	bool there;
	const char *why = change(&p->facts, c, &t->experiment, &there);

	t->planned = there;
	t->not_tried = t->not_tried ? t->not_tried : why;
}

void prove_plan(struct prove *p)
{
	const struct experiment *base = p->facts.base;

	for (enum prove_change c = PROVE_BASE; c < PROVE_CHANGES; c++) {
		struct prove_try *t = &p->try[c];

		*t = (struct prove_try){.experiment = *base};
		plan_try(p, c, t);
		name_option(t, base);
	}
	if (base->qps % THREADS)
		p->try[PROVE_THREADS].against = PROVE_QPS;
}

/* T is still to be measured. */
static bool is_open(const struct prove_try *t)
{
	return t->planned && !t->not_tried && t->so == PROVE_OPEN && t->windows < PROVE_WINDOWS_MAX;
}

unsigned prove_turn(struct prove *p, enum prove_change order[3 * PROVE_CHANGES])
{
	static const enum prove_change compared[] = {PROVE_BASE, PROVE_QPS};
	unsigned count = 0;

	for (int k = 0; k < 2; k++) {
		unsigned changed = 0;

		for (enum prove_change c = PROVE_BASE + 1; c < PROVE_CHANGES; c++) {
			if (!is_open(&p->try[c]) || p->try[c].against != compared[k] ||
			    (p->try[PROVE_TOGETHER].planned && c != PROVE_TOGETHER))
				continue;
			if (changed++ % 2 == 0)
				order[count++] = compared[k];
			order[count++] = c;
		}
		if (changed)
			order[count++] = compared[k];
	}
	for (unsigned i = 0; p->turn % 2 && i < count / 2; i++) { /* back again */
		enum prove_change c = order[i];

		order[i] = order[count - 1 - i];
		order[count - 1 - i] = c;
	}
	p->turn++;
	return count;
}

/*
 * What the windows of T tell: Student's t of the logarithms of their ratios. BOUND: another one that
 * the interval must not contain; 0: none.
 */
static void judge(struct prove_try *t, double bound)
{
	double n = t->windows, sum = 0, squares = 0, mean, error, half;

	if (t->windows < TURNS_LEAST)
		return;
	for (unsigned i = 0; i < t->windows; i++)
		sum += log(t->window[i].gbps / t->window[i].against_gbps);
	mean = sum / n;
	for (unsigned i = 0; i < t->windows; i++)
		squares += pow(log(t->window[i].gbps / t->window[i].against_gbps) - mean, 2);
	error = sqrt(squares / (n - 1) / n);
	half = interval_t(CONFIDENCE, n - 1) * error;
	t->ratio = exp(mean);
	t->half = t->ratio * (exp(half) - 1);
	t->least = exp(mean - half);
	t->so = exp(mean - interval_t(CERTAINTY, n - 1) * error) > 1 + MARGIN ? PROVE_BETTER
		: exp(mean + half) < 1 - MARGIN ? PROVE_WORSE
		: exp(mean + half) < 1 + MARGIN ? PROVE_SAME
						: PROVE_OPEN;
	if (t->least < bound && exp(mean + half) > bound)
		t->so = PROVE_OPEN;
}

/* The mean of the windows of AGAINST next to AT; NaN: there are none with a figure. */
static double rate_beside(const enum prove_change *order, const double *gbps, unsigned count,
			  unsigned at, enum prove_change against)
{
	bool before = at > 0 && order[at - 1] == against && gbps[at - 1] > 0;
	bool after = at + 1 < count && order[at + 1] == against && gbps[at + 1] > 0;
	double sum = (before ? gbps[at - 1] : 0) + (after ? gbps[at + 1] : 0);

	return sum / (before + after);
}

void prove_add(struct prove *p, const enum prove_change *order, const double *gbps, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct prove_try *t = &p->try[order[i]];
		double against = rate_beside(order, gbps, count, i, t->against);

		if (!is_open(t) || !(gbps[i] > 0) || !(against > 0))
			continue;
		t->window[t->windows].gbps = gbps[i];
		t->window[t->windows++].against_gbps = against;
		judge(t, order[i] == PROVE_SIZE ? BY_MESSAGES : 0);
	}
}

void prove_refuse(struct prove *p, enum prove_change c, const char *why)
{
	p->try[c].not_tried = why;
	if (c == PROVE_QPS && p->try[PROVE_THREADS].against == PROVE_QPS)
		p->try[PROVE_THREADS].not_tried = why;
}

/* How much faster T may be, at most. */
static double most_of(const struct prove_try *t)
{
	if (!t->planned || t->not_tried)
		return 1;
	return t->windows < TURNS_LEAST ? INFINITY : t->ratio + t->half;
}

/*
 * The change that surely helps most, but BUT; NULL: none does. Larger messages are no cause; nor are
 * more QPs where more READs may help, which they also have; and what helps no more than the
 * change that it is compared with may help by itself is not the first limit.
 */
static const struct prove_try *best_of(const struct prove *p, const struct prove_try *but)
{
	const struct prove_try *best = NULL, *outs = &p->try[PROVE_OUTS];

	for (enum prove_change c = PROVE_BASE + 1; c < PROVE_TOGETHER; c++) {
		const struct prove_try *t = &p->try[c];

		if (c == PROVE_SIZE || t == but || t->so != PROVE_BETTER ||
		    (c == PROVE_QPS && most_of(outs) > 1 + MARGIN) ||
		    (!but && most_of(&p->try[t->against]) >= t->least))
			continue;
		if (!best || t->ratio > best->ratio)
			best = t;
	}
	return best;
}

bool prove_plan_together(struct prove *p)
{
	const struct prove_try *best = best_of(p, NULL), *next = best_of(p, best);
	struct prove_try *t = &p->try[PROVE_TOGETHER];

	if (!best || !next)
		return false;
	*t = (struct prove_try){.experiment = *p->facts.base};
	/* in the order of the changes: threads divide the QPs that there are */
	plan_try(p, (enum prove_change)((best < next ? best : next) - p->try), t);
	plan_try(p, (enum prove_change)((best < next ? next : best) - p->try), t);
	name_option(t, p->facts.base);
	return is_open(t);
}

static const char *what_of(const struct prove *p, const struct prove_try *t)
{
	return changes[t - p->try].what;
}

/* "-q 4 -t 32 makes it 1.93 ± 0.02 times faster" */
static void add_ratio(const struct prove *p, const struct prove_try *t, char *buf, size_t size)
{
	text_add(buf, size, "%s makes it %.2f \302\261 %.2f times as fast", t->option, t->ratio,
		 t->half);
	if (t->against != PROVE_BASE)
		text_add(buf, size, " as %s", p->try[t->against].option);
}

/* What the second best does, and both. */
static void add_second(const struct prove *p, const struct prove_try *best, char *buf, size_t size)
{
	const struct prove_try *next = best_of(p, best), *both = &p->try[PROVE_TOGETHER];

	if (!next)
		return;
	text_add(buf, size, "; then by %s: ", what_of(p, next));
	add_ratio(p, next, buf, size);
	if (both->so == PROVE_BETTER)
		text_add(buf, size, "; both: %.2f \302\261 %.2f", both->ratio, both->half);
}

/* Nothing but larger messages helps. */
static void add_messages(const struct prove *p, char *buf, size_t size)
{
	const struct prove_try *larger = &p->try[PROVE_SIZE], *list = &p->try[PROVE_LIST],
			       *threads = &p->try[PROVE_THREADS];

	text_add(buf, size, "limited by the rate of messages: with four times the size (%s) it is %.2f "
			    "\302\261 %.2f times as fast",
		 larger->option, larger->ratio, larger->half);
	if (threads->so >= PROVE_SAME && list->so >= PROVE_SAME)
		text_add(buf, size, "; threads and lists do not help: it is an adapter's, or the "
				    "network's");
	else
		text_add(buf, size, "; cannot tell whether it is an adapter's or a CPU's");
}

/* The changes that are STATE, with commas. Returns how many. */
static unsigned add_changes(const struct prove *p, bool open, char *buf, size_t size)
{
	unsigned count = 0;

	for (enum prove_change c = PROVE_BASE + 1; c < PROVE_TOGETHER; c++) {
		const struct prove_try *t = &p->try[c];

		if (t->planned && !t->not_tried && (t->so == PROVE_OPEN) == open)
			text_add(buf, size, "%s%s", count++ ? ", " : "", t->option);
	}
	return count;
}

enum finding_code prove_limit(const struct prove *p, enum finding_strength *strength)
{
	const struct prove_try *best = best_of(p, NULL), *larger = &p->try[PROVE_SIZE];
	bool messages = larger->so == PROVE_BETTER && larger->least >= BY_MESSAGES;

	/* each of these may carry more messages, too */
	for (enum prove_change c = PROVE_WINDOW; c < PROVE_TOGETHER; c++)
		messages &= c == PROVE_SIZE || most_of(&p->try[c]) < HELPS_LITTLE;
	*strength = FINDING_IS;
	if (messages)
		return LIMIT_MESSAGE_RATE;
	if (best)
		return changes[best - p->try].limit;
	*strength = FINDING_CANNOT_TELL; /* what could not be tried may be it */
	return LIMIT_UNKNOWN;
}

bool prove_is_unmoved(const struct prove *p)
{
	char text[256] = "";

	return !add_changes(p, true, text, sizeof(text)) &&
	       add_changes(p, false, text, sizeof(text)) && !best_of(p, NULL) &&
	       p->try[PROVE_SIZE].so != PROVE_BETTER;
}

/* What each end's adapter reaches with itself, and what follows for a rate that no change moves. */
static void add_loopbacks(const struct prove *p, char *buf, size_t size)
{
	const struct prove_try *t = &p->try[PROVE_WINDOW];
	double client = p->loopback_gbps[0], server = p->loopback_gbps[1];
	double base = t->windows ? t->window[t->windows - 1].against_gbps : NAN;
	double least = fmin(client, server);

	if (!(least > 0))
		return;
	text_add(buf, size, "; each adapter with itself: the client's %.3g Gb/s, the server's %.3g",
		 client, server);
	if (least > HELPS_LITTLE * base)
		text_add(buf, size, ": not by one host alone, but the network or both at once");
	else if (least < (1 + MARGIN) * base && fmax(client, server) > HELPS_LITTLE * base)
		text_add(buf, size, ": may be by the %s's host", client < server ? "client" : "server");
}

const char *prove_text(const struct prove *p, char *buf, size_t size)
{
	const struct prove_try *best = best_of(p, NULL), *larger = &p->try[PROVE_SIZE];
	enum finding_strength strength;
	char text[256] = "";
	enum finding_code code = prove_limit(p, &strength);

	buf[0] = '\0';
	if (code == LIMIT_MESSAGE_RATE) {
		add_messages(p, buf, size);
		add_second(p, NULL, buf, size);
	} else if (best) {
		text_add(buf, size, "limited by %s: ", what_of(p, best));
		add_ratio(p, best, buf, size);
		add_second(p, best, buf, size);
	} else if (add_changes(p, true, text, sizeof(text)) ||
		   !add_changes(p, false, text, sizeof(text))) {
		text_add(buf, size,
			 "cannot tell what limits it: there are too few windows in which no thread "
			 "lacked its CPU, or their rates vary too much%s%s; use a longer --prove",
			 text[0] ? ", with " : "", text);
	} else if (larger->so == PROVE_BETTER) {
		text_add(buf, size, "nothing helps but larger messages, a little: ");
		add_ratio(p, larger, buf, size);
	} else {
		text_add(buf, size, "limited by none of what was changed (%s): by the path, a port, PCIe or "
				    "a host's memory",
			 text);
		add_loopbacks(p, buf, size);
	}
	return buf;
}

const char *prove_so_name(const struct prove_try *t)
{
	static const char *const names[] = {"cannot_tell", "faster", "not_faster", "slower"};

	return t->not_tried ? "not_tried" : names[t->so];
}

/* Null of 0, which is unknown. */
static json_t *known_or_null(double number)
{
	return json_number_or_null(number > 0 ? number : NAN);
}

static json_t *try_json(const struct prove *p, enum prove_change c)
{
	const struct prove_try *t = &p->try[c];
	json_t *windows = json_array();

	for (unsigned i = 0; i < t->windows; i++)
		json_array_append_new(windows, json_pack("{s:f, s:f}", "bandwidth_gbps", t->window[i].gbps,
							 "against_gbps", t->window[i].against_gbps));
	return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:o, s:o, s:o}", "change", changes[c].name,
			 "options", t->option, "against", changes[t->against].name, "so",
			 prove_so_name(t), "not_tried", t->not_tried, "times",
			 known_or_null(t->ratio), "plus_minus",
			 json_number_or_null(t->ratio > 0 ? t->half : NAN), "windows", windows);
}

json_t *prove_json(const struct prove *p)
{
	json_t *tries = json_array();
	enum finding_strength strength;
	enum finding_code code = prove_limit(p, &strength);
	char text[1024];

	for (enum prove_change c = PROVE_BASE + 1; c < PROVE_CHANGES; c++)
		if (p->try[c].planned)
			json_array_append_new(tries, try_json(p, c));
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "bound_by", finding_name(code), "strength",
			 finding_strength_name(strength), "text", prove_text(p, text, sizeof(text)),
			 "client_loopback_gbps", known_or_null(p->loopback_gbps[0]),
			 "server_loopback_gbps", known_or_null(p->loopback_gbps[1]), "changes",
			 tries);
}
