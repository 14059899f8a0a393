// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/streams.h"

#include <unistd.h>

/* Make *STREAM write through O, in MODE of setvbuf(3). Returns the former one, or NULL. */
static FILE *replace(FILE **stream, struct outlet *o, int mode)
{
	FILE *was = *stream, *now = outlet_stream(o);

	if (!now)
		return NULL;
	fflush(was);
	setvbuf(now, NULL, mode, BUFSIZ);
	*stream = now;
	return was;
}

void streams_open(struct streams *s, struct stop *stop)
{
	outlet_open(&s->out, STDOUT_FILENO, OUTLET_ROOM);
	outlet_open(&s->err, STDERR_FILENO, 0);
	s->out.stop = s->err.stop = stop;
	s->was_out = replace(&stdout, &s->out, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
	s->was_err = replace(&stderr, &s->err, _IONBF);
}

static void restore(FILE **stream, FILE *was, struct outlet *o)
{
	if (was) {
		fclose(*stream);
		*stream = was;
		o->stream = NULL;
	}
	outlet_finish(o);
	outlet_close(o);
}

void streams_close(struct streams *s)
{
	restore(&stdout, s->was_out, &s->out);
	restore(&stderr, s->was_err, &s->err);
	*s = (struct streams){.was_out = NULL};
}
