// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* SIMCUDA_GPUS: a GPU a line, or after ';': words KEY=VALUE. */
#include "simcuda.h"

#include <stdlib.h>
#include <string.h>

static const char default_text[] = "name=Simulated_GPU";

static bool set_size(uint64_t *v, const char *text)
{
	char *end;

	*v = strtoull(text, &end, 0);
	switch (*end | 0x20) {
	case 'g':
		*v <<= 10; /* fallthrough */
	case 'm':
		*v <<= 10; /* fallthrough */
	case 'k':
		*v <<= 10;
		end++;
	}
	return end != text && !*end;
}

static bool set_int(int *v, const char *text)
{
	char *end;

	*v = (int)strtol(text, &end, 10);
	return end != text && !*end;
}

/* 32 digits, dashes and "GPU-" left out; what is missing is 0. */
static bool set_uuid(unsigned char uuid[16], const char *text)
{
	char digits[33] = "00000000000000000000000000000000";
	size_t n = 0;

	if (!strncmp(text, "GPU-", 4))
		text += 4;
	for (; *text; text++) {
		if (*text == '-')
			continue;
		if (!strchr("0123456789abcdefABCDEF", *text) || n == 32)
			return false;
		digits[n++] = *text;
	}
	for (int i = 0; i < 16; i++) {
		unsigned byte;

		if (sscanf(digits + 2 * i, "%2x", &byte) != 1)
			return false;
		uuid[i] = (unsigned char)byte;
	}
	return true;
}

static bool set_name(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text);
	for (; *to; to++)
		if (*to == '_')
			*to = ' ';
	return true;
}

static bool set_capability(int *to, const char *text)
{
	int major, minor;

	if (sscanf(text, "%d.%d", &major, &minor) != 2)
		return false;
	*to = major * 10 + minor;
	return true;
}

static bool set_word(struct sim_gpu *g, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return false;
	*value++ = '\0';
	if (!strcmp(word, "name"))
		return set_name(g->name, sizeof(g->name), value);
	if (!strcmp(word, "uuid"))
		return set_uuid(g->uuid, value);
	if (!strcmp(word, "pci"))
		return snprintf(g->pci, sizeof(g->pci), "%s", value) < (int)sizeof(g->pci);
	if (!strcmp(word, "cc"))
		return set_capability(&g->capability, value);
	if (!strcmp(word, "memory"))
		return set_size(&g->memory_bytes, value);
	if (!strcmp(word, "bar1"))
		return set_size(&g->bar1_bytes, value);
	if (!strcmp(word, "gpudirect"))
		return set_int(&g->gpudirect, value);
	if (!strcmp(word, "flush"))
		return set_int(&g->flush, value);
	if (!strcmp(word, "ordering"))
		return set_int(&g->ordering, value);
	if (!strcmp(word, "dmabuf"))
		return set_int(&g->dmabuf, value);
	if (!strcmp(word, "integrated"))
		return set_int(&g->integrated, value);
	if (!strcmp(word, "largebar"))
		return set_int(&g->largebar, value);
	if (!strcmp(word, "gtt"))
		return set_int(&g->gtt, value);
	if (!strcmp(word, "c2c"))
		return set_int(&g->c2c, value);
	return false;
}

static void defaults(struct sim_gpu *g, int index)
{
	*g = (struct sim_gpu){
		.name = "Simulated GPU",
		.uuid = {0x51, 0x3c, 0, (unsigned char)index},
		.capability = 90,
		.memory_bytes = UINT64_C(80) << 30,
		.bar1_bytes = UINT64_C(128) << 30,
		.gpudirect = 1,
		.flush = 1,
		.ordering = 200,
		.dmabuf = 1,
		.largebar = 1,
	};
	snprintf(g->pci, sizeof(g->pci), "0000:%02X:00.0", 0x17 + index);
}

static bool parse_line(struct sim_conf *c, char *line)
{
	char *save, *word = strtok_r(line, " \t\r", &save);

	if (!word || *word == '#')
		return true;
	if (c->ngpu == SIM_GPUS)
		return false;
	defaults(&c->gpu[c->ngpu], c->ngpu);
	for (; word; word = strtok_r(NULL, " \t\r", &save))
		if (!set_word(&c->gpu[c->ngpu], word))
			return false;
	c->ngpu++;
	return true;
}

bool sim_parse_gpus(struct sim_conf *c, const char *text)
{
	char *copy = strdup(text ? text : default_text), *line, *save;
	bool ok = true;

	if (!copy) {
		c->init = CUDA_ERROR_OUT_OF_MEMORY;
		return true;
	}
	for (line = strtok_r(copy, ";\n", &save); line && ok; line = strtok_r(NULL, ";\n", &save))
		ok = parse_line(c, line);
	free(copy);
	return ok;
}
