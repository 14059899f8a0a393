// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a plan is made of: pairs that are wanted, and slots in which their hosts are free. */
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "proto/json_memory.h"

uint32_t plan_draw(struct plan *p, uint32_t n)
{
	uint64_t z = p->x += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(z >> 33) % n;
}

void plan_shuffle(struct plan *p, uint32_t *list, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = plan_draw(p, i), was = list[i - 1];

		list[i - 1] = list[k];
		list[k] = was;
	}
}

void plan_add(struct plan *p, uint32_t from, uint32_t to, bool back)
{
	if (p->matches == p->size) {
		uint32_t size = 2 * p->size + 64;
		struct match *more = realloc(p->match, size * sizeof(*more));

		if (!more) {
			json_memory_lacked();
			return;
		}
		p->match = more;
		p->size = size;
	}
	p->match[p->matches++] = (struct match){from, to, back, false};
}

bool plan_is_free(const struct plan *p, uint32_t player)
{
	return p->busy[plan_host(p, player)] != p->slot + 1;
}

void plan_put(struct plan *p, uint32_t from, uint32_t to, const char *part, bool back)
{
	fprintf(p->to, "%u %s %s %s\n", p->slot, evidence_name(p->j->e, back ? to : from),
		evidence_name(p->j->e, back ? from : to), part);
	p->busy[plan_host(p, from)] = p->busy[plan_host(p, to)] = p->slot + 1;
}

bool plan_same_rail(const struct plan *p, uint32_t a, uint32_t b)
{
	return strcmp(strchrnul(evidence_name(p->j->e, a), '/'),
		      strchrnul(evidence_name(p->j->e, b), '/')) == 0;
}
