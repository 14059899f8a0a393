// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/sweep.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

#define ELEMENT_BYTES 64

bool sweep_is(const struct option_row *row, const char *text)
{
	if (row->kind == OPTION_LIST) /* a PCI address has colons */
		return strchr(text, ',');
	return row->scope == SCOPE_EXPERIMENT && row->kind != OPTION_FLAG &&
	       row->kind != OPTION_INDEX && strpbrk(text, ",:");
}

static bool has_ranges(const struct option_row *row)
{
	return row->kind != OPTION_CHOICE && row->kind != OPTION_RATE && row->kind != OPTION_LIST;
}

/* Raise WHY the list or range TEXT is invalid for ROW. Returns -1. */
static int refuse_axis(const struct option_row *row, const char *text, const char *why,
		       struct fault *f)
{
	char name[64];

	options_invalid(options_name(row, name, sizeof(name)), text, f);
	fault_cause(f, "%s", why);
	return fault_fix(f, has_ranges(row) ? "separate values by commas, or give FROM:TO:xK or "
					      "FROM:TO:+K, such as 1,4,16 or 1:16:x4"
					    : "separate values by commas");
}

static int add_point(struct sweep_axis *a, uint64_t value, const char *text, struct fault *f)
{
	unsigned most = a->row->dealt ? EXPERIMENT_LABELS_MAX : SWEEP_VALUES_MAX;
	char why[64];

	if (a->count == most) {
		snprintf(why, sizeof(why), "The list has more than %u values", most);
		return refuse_axis(a->row, text, why, f);
	}
	a->value[a->count++] = value;
	return 0;
}

/* Advance *V by one step, times K or plus K. Returns false if that is beyond TO. */
static bool next_value(uint64_t *v, uint64_t to, bool times, uint64_t k)
{
	uint64_t next;

	if (times ? __builtin_mul_overflow(*v, k, &next) : __builtin_add_overflow(*v, k, &next))
		return false;
	*v = next;
	return next <= to;
}

/* ONE is FROM:TO:xK, which adds FROM, FROM * K and so on up to TO, or FROM:TO:+K. */
static int add_range(struct sweep_axis *a, char *one, const char *text, struct fault *f)
{
	char *to = strchr(one, ':'), *by = strchr(to + 1, ':'), word[32];
	bool times = by && by[1] == 'x';
	uint64_t low, high, k;

	if (!has_ranges(a->row))
		return refuse_axis(a->row, text, "The option takes no ranges", f);
	if (!by || (by[1] != 'x' && by[1] != '+'))
		return refuse_axis(a->row, text,
				   "A range needs a step after a second colon, such as :x2 or :+8",
				   f);
	*to++ = *by++ = '\0';
	if (options_parse_value(a->row, one, &low, f) || options_parse_value(a->row, to, &high, f))
		return -1;
	if (low > high)
		return refuse_axis(a->row, text,
				   "A range must go from the smallest value to the largest", f);
	if (!times && options_parse_value(a->row, by + 1, &k, f))
		return -1;
	if ((times && units_parse_u64(by + 1, &k)) || k < (times ? 2 : 1) || (times && !low))
		return refuse_axis(a->row, text, "The step of the range does not advance", f);
	do {
		if (!options_in_range(a->row, low))
			return options_parse_value(
				a->row, options_format_value(a->row, low, word, sizeof(word)), &low,
				f);
		if (add_point(a, low, text, f))
			return -1;
	} while (next_value(&low, high, times, k));
	return 0;
}

int sweep_read(struct sweep_axis *a, const char *text, struct fault *f)
{
	const char *rest = text, *at = text;
	bool list = a->row->kind == OPTION_LIST;
	char one[ELEMENT_BYTES];
	uint64_t value;

	while (text_next(&rest, one, sizeof(one))) {
		if (strcspn(at, ",") >= sizeof(one))
			return refuse_axis(a->row, text, "A value is too long", f);
		if (!*one)
			return refuse_axis(a->row, text, "A value is empty", f);
		value = (uint64_t)(at - text);
		if (!list && strchr(one, ':')
			    ? add_range(a, one, text, f)
			    : (!list && options_parse_value(a->row, one, &value, f)) ||
				      add_point(a, value, text, f))
			return -1;
		at = rest;
	}
	return 0;
}

int sweep_add(struct sweep *s, const struct option_row *row, const char *text, struct fault *f)
{
	struct sweep_axis *a;

	sweep_forget(s, row);
	if (s->axes == SWEEP_AXES_MAX)
		return fault_usage(f, "vary fewer options at a time",
				   "more than %d options have several values", SWEEP_AXES_MAX);
	a = &s->axis[row->counted ? 0 : s->axes];
	memmove(a + 1, a, (size_t)(&s->axis[s->axes] - a) * sizeof(*a));
	*a = (struct sweep_axis){.row = row};
	if (sweep_read(a, text, f))
		return -1;
	s->axes++;
	if (sweep_points(s) <= SWEEP_POINTS_MAX)
		return 0;
	return fault_usage(f, "give fewer values, or run several sweeps",
			   "the values of all options give more than %d experiments",
			   SWEEP_POINTS_MAX);
}

void sweep_forget(struct sweep *s, const struct option_row *row)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->axes; i++)
		if (s->axis[i].row != row)
			s->axis[n++] = s->axis[i];
	s->axes = n;
}

const struct sweep_axis *sweep_axis(const struct sweep *s, const struct option_row *row)
{
	for (unsigned i = 0; i < s->axes; i++)
		if (s->axis[i].row == row)
			return &s->axis[i];
	return NULL;
}

bool sweep_has(const struct sweep_axis *axis, uint64_t value)
{
	for (unsigned i = 0; i < axis->count; i++)
		if (axis->value[i] == value)
			return true;
	return false;
}

unsigned sweep_points(const struct sweep *s)
{
	unsigned points = 1;

	/* 128^4 fits an unsigned; the loop ends as soon as there are too many */
	for (unsigned i = 0; i < s->axes && points <= SWEEP_POINTS_MAX; i++)
		points *= s->axis[i].count ? s->axis[i].count : 1;
	return points;
}

void sweep_set(struct options *o, unsigned point)
{
	for (unsigned i = o->sweep.axes; i-- > 0;) {
		const struct sweep_axis *a = &o->sweep.axis[i];

		*options_number(o, a->row) = a->value[point % a->count];
		point /= a->count;
	}
	options_use_rate_units(o);
}

const char *sweep_word(const struct option_row *row, uint64_t value, char *buf, size_t size)
{
	char *to = buf;

	if (row->kind == OPTION_SIZE && value != EXPERIMENT_AUTO)
		snprintf(buf, size, "%" PRIu64, value);
	else
		options_format_value(row, value, buf, size);
	for (const char *from = buf; *from; from++)
		if (*from != ' ')
			*to++ = *from;
	*to = '\0';
	return buf;
}

const char *sweep_value(const struct options *o, const struct option_row *row, char *buf,
			size_t size)
{
	uint64_t value = *options_number((struct options *)o, row);
	const struct option_list *l = (const void *)((const char *)o + row->field);

	if (row->kind != OPTION_LIST)
		return sweep_word(row, value, buf, size);
	snprintf(buf, size, "%.*s", (int)strcspn(l->list + value, ","), l->list + value);
	return buf;
}

const char *sweep_point(const struct options *o, char *buf, size_t size)
{
	char word[64];

	buf[0] = '\0';
	for (unsigned i = 0; i < o->sweep.axes; i++) {
		const struct option_row *row = o->sweep.axis[i].row;

		sweep_value(o, row, word, sizeof(word));
		if (row->letter)
			text_add(buf, size, "%s-%c %s", i ? " " : "", row->letter, word);
		else
			text_add(buf, size, "%s--%s %s", i ? " " : "", row->name, word);
	}
	return buf;
}
