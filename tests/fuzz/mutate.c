// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A mutator that knows what a script is made of: lines, and JSON in them. libFuzzer's own works on
 * bytes and seldom leaves a message that parses; here every second mutation keeps the form.
 */
#include <jansson.h>

#include "fuzz.h"

static uint64_t state;

static uint64_t roll(uint64_t sides)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % sides;
}

static json_t *odd_integer(void)
{
	static const json_int_t odd[] = {
		0,          1,          2,
		-1,         3,          127,
		255,        256,        4095,
		4096,       65535,      65536,
		0xffffff,   0x1000000,  1 << 30,
		0x7fffffff, 0xffffffff, 0x100000000,
		INT64_MAX,  INT64_MIN,  INT64_MAX / 65536,
	};

	if (roll(3) == 0)
		return json_integer((json_int_t)roll(200));
	return json_integer(odd[roll(sizeof(odd) / sizeof(odd[0]))]);
}

static json_t *odd_text(void)
{
	static const char *const odd[] = {"",
					  "RC",
					  "\x1b[31m\n",
					  "%s%n",
					  "\xc3\xa4\xe2\x82\xac",
					  "\xc2\x9b\x33\x31m",
					  "usage",
					  "interrupted",
					  "send_lat",
					  "error",
					  "00000000000000000000ffff7f000001"};
	char text[1200];
	size_t n = roll(sizeof(text) - 4);

	if (roll(3))
		return json_string(odd[roll(sizeof(odd) / sizeof(odd[0]))]);
	/* A long one, of characters that take several bytes, to be cut anywhere. */
	for (size_t i = 0; i < n; i += 3)
		memcpy(text + i, "\xe2\x82\xac", 4);
	return json_string(text + (n > 3 ? 0 : n));
}

static json_t *odd_value(void)
{
	static const double real[] = {0.0, -1.0, 1e308, 5e-324, 0.5, 1e18};

	switch (roll(8)) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(roll(2));
	case 2:
		return json_real(real[roll(sizeof(real) / sizeof(real[0]))]);
	case 3:
		return json_pack("[i, i]", (int)roll(9), (int)roll(9));
	case 4:
		return odd_text();
	case 5:
		return json_object();
	default:
		return odd_integer();
	}
}

static void change(json_t *at);

static void change_object(json_t *at)
{
	size_t n = json_object_size(at), which = n ? roll(n) : 0, i = 0;
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(at, next, key, value)
	{
		if (i++ != which)
			continue;
		if (json_is_object(value) || json_is_array(value))
			change(value);
		else if (roll(6))
			json_object_set_new(at, key, odd_value());
		else
			json_object_del(at, key);
		return;
	}
}

/* Change one value somewhere below AT. */
static void change(json_t *at)
{
	size_t n = json_array_size(at), which = n ? roll(n) : 0;

	if (json_is_object(at)) {
		change_object(at);
	} else if (json_is_array(at)) {
		if (!n || roll(8) == 0)
			json_array_append_new(at, odd_value());
		else if (roll(8) == 0)
			json_array_remove(at, which);
		else
			json_array_set_new(at, which, odd_value());
	}
}

/* The line of TEXT that byte AT belongs to: its start, and its end behind the newline. */
static void line_at(const uint8_t *text, size_t size, size_t at, size_t *start, size_t *end)
{
	for (*start = at; *start && text[*start - 1] != '\n'; (*start)--)
		;
	for (*end = at; *end < size && text[*end] != '\n'; (*end)++)
		;
	if (*end < size)
		(*end)++;
}

/* TEXT with WITH of N bytes in the place of [START, END); its new size, or SIZE if it is too long.
 */
static size_t replace(uint8_t *text, size_t size, size_t max, size_t start, size_t end,
		      const void *with, size_t n)
{
	if (size - (end - start) + n > max)
		return size;
	memmove(text + start + n, text + end, size - end);
	memcpy(text + start, with, n);
	return size - (end - start) + n;
}

static size_t change_json(uint8_t *text, size_t size, size_t max, size_t start, size_t end)
{
	size_t from = start + (text[start] == '>'), to = end - (text[end - 1] == '\n');
	json_t *m = to > from ? json_loadb((char *)text + from, to - from, 0, NULL) : NULL;
	char *made;

	if (!m)
		return LLVMFuzzerMutate(text, size, max);
	for (uint64_t n = 1 + roll(2); n; n--)
		change(m);
	made = json_dumps(m, JSON_COMPACT | (roll(4) ? 0 : JSON_ENSURE_ASCII));
	json_decref(m);
	if (made)
		size = replace(text, size, max, from, to, made, strlen(made));
	free(made);
	return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	size_t start, end, other, other_end;
	uint8_t *copy;

	state = seed;
	if (!size || roll(10) < 3)
		return LLVMFuzzerMutate(data, size, max);
	line_at(data, size, roll(size), &start, &end);
	if (end == start || roll(10) < 7)
		return end == start ? size : change_json(data, size, max, start, end);
	if (roll(3) == 0)
		return replace(data, size, max, start, end, "", 0);
	/* a copy of the line elsewhere */
	copy = malloc(end - start + 1);
	if (!copy)
		return size;
	memcpy(copy, data + start, end - start);
	line_at(data, size, roll(size), &other, &other_end);
	size = replace(data, size, max, other, roll(2) ? other : other_end, copy, end - start);
	free(copy);
	return size;
}
