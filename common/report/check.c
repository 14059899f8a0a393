// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `--check`: problems of this host and its RDMA ports, without a peer. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/phase.h"
#include "base/terminal.h"
#include "base/text.h"
#include "explain/before.h"
#include "host/pci.h"
#include "proto/fields.h"
#include "proto/message.h"
#include "report/document.h"
#include "report/list.h"
#include "report/notes.h"
#include "verbs/hca.h"

#define GROWTH_NS UINT64_C(100000000) /* counters that grow in it without a load are suspicious */

#define LINE 2048

/* The facts and findings of a port, or of the host. */
struct checked {
	const struct hca_port *port; /* NULL: the host */
	struct port_facts facts;
	struct findings findings;
	bool told[FINDINGS_MAX]; /* which of them print_once() has printed */
	char line[LINE], *rest;  /* the line that it prints; what is left of it, NULL: nothing */
};

struct check {
	struct hca_list list;
	struct checked *entry; /* [0] is the host, then one for each checked port; owned */
	size_t count;
	unsigned findings[FINDING_LEVELS];
};

/* True if LIST, devices as -d names them, separated by commas, has P. NULL: true for all. */
static bool is_wanted(const struct hca_port *p, const char *list)
{
	const char *rest = list;
	char name[128];

	while (text_next(&rest, name, sizeof(name)))
		if (hca_is_named(p, name))
			return true;
	return !list;
}

/*
 * Read the facts of the host and of the ports of DEVICE, and find problems. Returns 0, or -1 with
 * the fault raised: there is no such device.
 */
static int check_all(struct check *k, const char *device, struct fault *f)
{
	struct hca_attr wanted = {.device = device};
	struct host_facts host;
	struct gpus gpus;
	char reason[160];

	fault_phase(f, PHASE_FIND_DEVICES);
	if (hca_scan(&k->list, NULL, f))
		return -1;
	k->entry = calloc(k->list.count + 1, sizeof(*k->entry));
	if (!k->entry)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "allocating findings");
	host_facts_read(&host);
	explain_host(&host, &k->entry[k->count++].findings);
	for (size_t i = 0; i < k->list.count; i++) {
		struct checked *c = &k->entry[k->count];

		if (!is_wanted(&k->list.port[i], device))
			continue;
		c->port = &k->list.port[i];
		port_facts_read(&c->facts, c->port, &k->list, &host);
		c->facts.named = device != NULL;
		k->count++;
	}
	if (k->count == 1) { /* hca_choose() raises the reason */
		if (hca_choose(&k->list, &wanted, reason, sizeof(reason), f))
			return fault_fix(f, "name a device of `rdmark list`");
		return -1;
	}
	/* Before the wait for the counters, so that it takes no time. */
	if (gpus_read(&gpus, &k->list, host.virtual_machine, f))
		return -1;
	explain_gpus(&gpus, &k->list, &k->entry[0].findings);
	for (size_t i = 1; i < k->count; i++) {
		port_facts_read_again(&k->entry[i].facts, GROWTH_NS);
		explain_port(&k->entry[i].facts, &k->entry[i].findings);
	}
	for (size_t i = 0; i < k->count; i++)
		for (size_t n = 0; n < k->entry[i].findings.count; n++)
			k->findings[k->entry[i].findings.list[n].is.level]++;
	return 0;
}

#define PORT_NAME 96

/* Write whose findings C has to TO: "ib0 port 1", "ib0" if it cannot be opened, or "host". */
static void name_of(const struct checked *c, char to[PORT_NAME])
{
	const struct hca_port *p = c->port;

	if (p)
		snprintf(to, PORT_NAME, p->open_errno ? "%s" : "%s port %u", p->device, p->port);
	else
		strcpy(to, "host");
}

/* True if F and G are one finding of two ports: the same line but for words with numbers. */
static bool is_same(const struct finding *f, const struct finding *g)
{
	static const char digits[] = "0123456789";
	char a[LINE], b[LINE], *of_f = a, *of_g = b;

	if (f->is.code != g->is.code || f->is.level != g->is.level || f->is.level == FINDING_FAULT)
		return f == g;
	finding_line(f, a, sizeof(a));
	finding_line(g, b, sizeof(b));
	while (of_f && of_g) {
		const char *v = strsep(&of_f, " "), *w = strsep(&of_g, " ");

		if (strcmp(v, w) && !(strpbrk(v, digits) && strpbrk(w, digits)))
			return false;
	}
	return of_f == of_g;
}

/* Begin the line of what the port C has of F, which is told then. Returns whether it has that. */
static bool find_same(struct checked *c, const struct finding *f)
{
	c->rest = NULL;
	for (size_t i = 0; i < c->findings.count && !c->rest; i++) {
		if (c->told[i] || !is_same(f, &c->findings.list[i]))
			continue;
		c->told[i] = true;
		finding_line(&c->findings.list[i], c->line, sizeof(c->line));
		c->rest = c->line;
	}
	return c->rest;
}

/* The length of WORD without the punctuation at its end. */
static int length_of(const char *word)
{
	size_t n = strlen(word);

	while (n && strchr(",.;:)", word[n - 1]))
		n--;
	return (int)n;
}

/* Print F, of entry FIRST, once for all ports that have it; a word that differs is one of each. */
static void print_once(struct check *k, size_t first, const struct finding *f)
{
	struct checked *c = &k->entry[first], *end = k->entry + (c->port ? k->count : 1);
	char line[4 * LINE] = "", names[LINE] = "", name[PORT_NAME];
	size_t ports = 0;

	for (struct checked *d = c; d < end; d++)
		if (find_same(d, f)) {
			name_of(d, name);
			text_add(names, sizeof(names), "%s%s", ports++ ? ", " : "", name);
		}
	if (ports == 1)
		printf("%s: ", names);
	else if (ports == k->count - 1)
		printf("at %zu ports: ", ports);
	else
		printf("at %zu ports (%s): ", ports, names);
	while (c->rest) { /* all have as many words */
		const char *word = strsep(&c->rest, " "), *other;
		char others[LINE] = "";
		int len = length_of(word);
		bool differs = false;

		for (struct checked *d = c + 1; d < end; d++) {
			other = d->rest ? strsep(&d->rest, " ") : word;
			differs |= strcmp(word, other) != 0;
			if (other != word)
				text_add(others, sizeof(others), ", %.*s", length_of(other), other);
		}
		text_add(line, sizeof(line), "%s%.*s%s%s", line[0] ? " " : "", len, word,
			 differs ? others : "", word + len);
	}
	terminal_verdict(stdout, line);
	printf("\n");
}

/* ", NAME BYTES", "-" for unknown. */
static void print_size(const char *name, unsigned bytes)
{
	printf(bytes ? ", %s %u" : ", %s -", name, bytes);
}

static void print_checked(struct check *k, size_t entry)
{
	const struct checked *c = &k->entry[entry];
	const struct hca_port *p = c->port;
	char name[PORT_NAME], link[96], rate[24];

	for (size_t i = 0; i < c->findings.count; i++)
		if (!c->told[i])
			print_once(k, entry, &c->findings.list[i]);
	if (c->findings.count || !p)
		return;
	name_of(c, name);
	topo_format_link(&p->place, link, sizeof(link));
	snprintf(rate, sizeof(rate), hca_rate_gbps(p) > 0 ? "%.4g Gb/s" : "rate unknown",
		 hca_rate_gbps(p));
	printf("%s: ", name);
	terminal_verdict(stdout, "ok");
	printf(": %s, %s, %s, MTU %u%s%s", hca_state_name(p), list_link_name(p), rate,
	       hca_mtu_bytes(p->port_attr.active_mtu), link[0] ? ", " : "", link);
	if (p->place.pci[0]) {
		struct pci_sizes sizes = pci_read_sizes(p->place.pci);

		print_size("MaxPayload", sizes.payload_bytes);
		print_size("MaxReadReq", sizes.request_bytes);
	}
	printf("\n");
}

/* A number of a port; NULL: it is unknown. */
static json_t *known_json(unsigned n)
{
	return n ? json_integer(n) : NULL;
}

static json_t *checked_to_json(const struct checked *c)
{
	json_t *findings = findings_json(&c->findings), *finding;
	const struct hca_port *p = c->port;
	struct pci_sizes sizes = pci_read_sizes(p ? p->place.pci : "");
	char name[PORT_NAME];
	size_t i;

	name_of(c, name);
	json_array_foreach (findings, i, finding)
		if (p)
			json_object_set_new(finding, "port", json_string(name));
	return json_pack("{s:s*, s:o*, s:o*, s:o*, s:o}", "device", p ? p->device : NULL, "port",
			 known_json(p && !p->open_errno ? p->port : 0), "max_payload_bytes",
			 known_json(sizes.payload_bytes), "max_read_request_bytes",
			 known_json(sizes.request_bytes), "findings", findings);
}

/* The document: what was found, or, after F, why nothing could be checked. */
static json_t *check_to_json(const struct check *k, const char *title, const struct fault *f)
{
	char utc[CLOCK_UTC_BYTES];
	json_t *ports = fault_is(f) ? NULL : json_array();

	for (size_t i = 1; i < k->count; i++)
		json_array_append_new(ports, checked_to_json(&k->entry[i]));
	return json_pack("{s:s, s:s, s:o*, s:o*, s:o*, s:o*}", "generator", "rdmark " RDMARK_VERSION,
			 "finished_utc", clock_utc(utc), "title", title ? json_text(title) : NULL,
			 "error", fault_is(f) ? message_fault_json(f) : NULL, "host",
			 ports ? checked_to_json(&k->entry[0]) : NULL, "ports", ports);
}

static void print_check(struct check *k)
{
	static const char *const names[] = {"note", "warning", "fault"};

	for (size_t i = 0; i < k->count; i++)
		print_checked(k, i);
	printf("%zu port%s:", k->count - 1, k->count == 2 ? "" : "s");
	for (int i = FINDING_LEVELS; i-- > 0;)
		printf(" %u %s%s%s", k->findings[i], names[i], k->findings[i] == 1 ? "" : "s",
		       i ? "," : "\n");
}

/*
 * Write the document D (stolen) to the files of --json and --json-lines; without --json, and
 * without F, K as text.
 */
static void write_check(struct check *k, json_t *d, const struct output_options *o, struct fault *f)
{
	fault_phase(f, PHASE_WRITE);
	if (o->json)
		document_save(o->json, false, json_incref(d), f);
	else if (!fault_is(f))
		print_check(k);
	if (o->json_lines)
		document_save(o->json_lines, true, json_incref(d), f);
	json_decref(d);
}

int check_ports(const char *program, const char *device, const struct output_options *output)
{
	struct check k = {.list = {NULL, 0}};
	struct fault f = {0};
	int status;

	if (document_try(output, &f) == 0) {
		check_all(&k, device, &f);
		write_check(&k, check_to_json(&k, output->title, &f), output, &f);
	}
	status = list_finish(program, &f, k.findings[FINDING_FAULT] ? FAULT_THRESHOLD : 0);
	free(k.entry);
	hca_list_free(&k.list);
	return status;
}
