// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The stand-in's settings, its lock, failures on demand and the report at the end. */
#include "simcuda.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The variant: which driver this library is at most, and whether it is the toolkit's stub. */
#ifndef SIM_DRIVER
#define SIM_DRIVER 13000
#endif
#ifndef SIM_INIT
#define SIM_INIT 0
#endif

static struct {
	pthread_mutex_t mutex;
	pthread_once_t once;
	struct sim_conf conf;
	bool started; /* cuInit succeeded */
} sim = {.mutex = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static __attribute__((noreturn)) void usage(const char *name, const char *value)
{
	fprintf(stderr, SIM_NAME ": %s: cannot use '%s'\n", name, value);
	_exit(2);
}

static double number(const char *name, double otherwise)
{
	const char *text = getenv(name);
	char *end;
	double v;

	if (!text || !*text)
		return otherwise;
	v = strtod(text, &end);
	if (*end || v < 0)
		usage(name, text);
	return v;
}

/* CALL:N[+]:RESULT,… */
static void parse_fails(struct sim_conf *c, char *list)
{
	char *save, *item;

	for (item = strtok_r(list, ", ", &save); item; item = strtok_r(NULL, ", ", &save)) {
		struct sim_fail *f = &c->fail[c->nfail];
		char plus = 0;

		if (c->nfail == SIM_FAILS)
			usage(SIM_ENV "FAIL", item);
		if (sscanf(item, "%63[^:]:%lu+:%d%c", f->call, &f->nth, &f->result, &plus) == 3)
			f->ever_after = true;
		else if (sscanf(item, "%63[^:]:%lu:%d%c", f->call, &f->nth, &f->result, &plus) != 3)
			usage(SIM_ENV "FAIL", item);
		if (!f->nth || f->result <= 0)
			usage(SIM_ENV "FAIL", item);
		c->nfail++;
	}
}

/* in:N or out:N, or both with a comma */
static void parse_flip(struct sim_conf *c, const char *text)
{
	const char *at = text;

	while (at && *at) {
		enum sim_way way = strncmp(at, "in:", 3) ? SIM_OUT : SIM_IN;
		char *end;

		if (way == SIM_OUT && strncmp(at, "out:", 4))
			usage(SIM_ENV "FLIP", text);
		c->flip[way] = strtoul(strchr(at, ':') + 1, &end, 10);
		if (!c->flip[way] || (*end && *end != ','))
			usage(SIM_ENV "FLIP", text);
		at = *end ? end + 1 : end;
	}
}

static void setup(void)
{
	struct sim_conf *c = &sim.conf;
	const char *text = getenv(SIM_ENV "FAIL");
	char *copy;

	c->driver = (int)number(SIM_ENV "DRIVER", SIM_DRIVER);
	if (c->driver > SIM_DRIVER)
		c->driver = SIM_DRIVER;
	c->init = SIM_INIT ? SIM_INIT : (int)number(SIM_ENV "INIT", 0);
	c->gbps[SIM_IN] = number(SIM_ENV "H2D_GBPS", 0);
	c->gbps[SIM_OUT] = number(SIM_ENV "D2H_GBPS", 0);
	c->latency_ns = (uint64_t)number(SIM_ENV "LATENCY_NS", 0);
	c->misalign_bytes = (uint64_t)number(SIM_ENV "MISALIGN", 0);
	c->touchable = number(SIM_ENV "TOUCHABLE", 0) > 0;
	c->report = getenv(SIM_ENV "REPORT");
	parse_flip(c, getenv(SIM_ENV "FLIP"));
	if (text) {
		copy = strdup(text);
		parse_fails(c, copy);
		free(copy);
	}
	if (!sim_parse_gpus(c, getenv(SIM_ENV "GPUS")))
		usage(SIM_ENV "GPUS", getenv(SIM_ENV "GPUS"));
	if (!c->init && !c->ngpu)
		c->init = CUDA_ERROR_NO_DEVICE;
}

struct sim_conf *sim_conf(void)
{
	pthread_once(&sim.once, setup);
	return &sim.conf;
}

void sim_lock(void)
{
	pthread_mutex_lock(&sim.mutex);
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&sim.mutex);
}

/* Is the call FAIL names this one? It may name it without its _v2. */
static bool names(const char *fail, const char *call)
{
	size_t len = strlen(fail);

	return !strncmp(fail, call, len) && (!call[len] || !strncmp(call + len, "_v", 2));
}

static int wanted_failure(struct sim_conf *c, const char *call)
{
	int result = 0;

	for (int i = 0; i < c->nfail; i++) {
		struct sim_fail *f = &c->fail[i];

		if (!names(f->call, call))
			continue;
		f->seen++;
		if (!result && (f->seen == f->nth || (f->ever_after && f->seen > f->nth)))
			result = f->result;
	}
	return result;
}

CUresult sim_enter(const char *call, bool needs_context)
{
	struct sim_conf *c = sim_conf();
	CUresult rc;

	sim_lock();
	rc = (CUresult)wanted_failure(c, call);
	if (!rc && !sim.started)
		rc = CUDA_ERROR_NOT_INITIALIZED;
	if (!rc && needs_context && !sim_current())
		rc = CUDA_ERROR_INVALID_CONTEXT;
	if (!rc)
		sim_progress();
	else
		sim_unlock();
	return rc;
}

CUresult sim_leave(CUresult result)
{
	sim_unlock();
	return result;
}

EXPORTED CUresult cuInit(unsigned flags)
{
	struct sim_conf *c = sim_conf();
	CUresult rc;

	sim_lock();
	rc = (CUresult)wanted_failure(c, "cuInit");
	if (!rc)
		rc = flags ? CUDA_ERROR_INVALID_VALUE : (CUresult)c->init;
	sim.started = sim.started || !rc;
	sim_unlock();
	return rc;
}

EXPORTED CUresult cuDriverGetVersion(int *version)
{
	struct sim_conf *c = sim_conf();

	if (c->init == CUDA_ERROR_STUB_LIBRARY)
		return CUDA_ERROR_STUB_LIBRARY;
	*version = c->driver;
	return CUDA_SUCCESS;
}

/* One line for each process, so that tests see what was left open. */
static __attribute__((destructor)) void report(void)
{
	const struct sim_counts *n = &sim.conf.count;
	FILE *out = sim.conf.report ? fopen(sim.conf.report, "ae") : NULL;

	if (!out)
		return;
	fprintf(out,
		"memory %lu/%lu streams %lu/%lu events %lu/%lu contexts %lu/%lu host %lu/%lu "
		"exports %lu flushes %lu in %lu out %lu\n",
		n->frees, n->allocs, n->streams_gone, n->streams, n->events_gone, n->events,
		n->releases, n->retains, n->unregisters, n->registers, n->exports, n->flushes,
		n->copies[SIM_IN], n->copies[SIM_OUT]);
	fclose(out);
}
