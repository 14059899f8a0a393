// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The documents of a report and where they go. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/forms.h"

#define PERFTEST_JSON "perftest_out.json"

static const struct output_options *output(const struct report *r)
{
	return &r->about.options->output;
}

bool document_to_stdout(const char *file)
{
	return file && strcmp(file, "-") == 0;
}

int document_refused(const char *file, int errnum, struct fault *f)
{
	fault_raise(f, FAULT_LOCAL, errnum, "writing %s", file);
	if (errnum == ENOSPC)
		return fault_fix(f, "make room there, or name a file elsewhere");
	return fault_fix(f,
			 "name a file in a directory that exists and that this user may write to");
}

/* A device, pipe or link stays what it is: only a regular file is replaced by a new one. */
static bool is_special(const char *file)
{
	struct stat st;

	return lstat(file, &st) == 0 && !S_ISREG(st.st_mode);
}

/* A document is written beside its place and renamed; see now that this will work. */
static int try_place(const char *file, struct fault *f)
{
	char path[4096];
	FILE *out;

	if (!file || document_to_stdout(file) || is_special(file))
		return 0;
	snprintf(path, sizeof(path), "%s.%d.tmp", file, (int)getpid());
	out = fopen(path, "we");
	if (!out)
		return document_refused(file, errno, f);
	fclose(out);
	unlink(path);
	return 0;
}

static const char *perftest_json_file(const struct report *r)
{
	if (output(r)->out_json_file)
		return output(r)->out_json_file;
	return output(r)->out_json ? PERFTEST_JSON : NULL;
}

int document_try(const struct report *r, struct fault *f)
{
	return try_place(output(r)->json, f) || try_place(perftest_json_file(r), f) ? -1 : 0;
}

/* TEXT whole to FILE: a temporary name, then rename; "-" is stdout. */
static int write_whole(const char *file, const char *text, struct fault *f)
{
	bool special = is_special(file), bad;
	char path[4096];
	FILE *out;
	int err;

	if (!text)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "making the document for %s", file);
	if (document_to_stdout(file)) {
		fputs(text, stdout);
		return 0;
	}
	snprintf(path, sizeof(path), special ? "%s" : "%s.%d.tmp", file, (int)getpid());
	out = fopen(path, "we");
	if (!out)
		return document_refused(file, errno, f);
	errno = 0;
	bad = fputs(text, out) == EOF || fflush(out) == EOF;
	err = errno;
	bad |= fclose(out) == EOF;
	if (!err)
		err = errno;
	if (!bad && (special || rename(path, file) == 0))
		return 0;
	err = err ? err : errno;
	if (!special)
		unlink(path);
	return document_refused(file, err, f);
}

/* One more line at the end of FILE, in a single write, so that several may do it. */
static int write_line(const char *file, const char *text, struct fault *f)
{
	FILE *out;
	bool bad;
	int err;

	if (!text || document_to_stdout(file))
		return write_whole(file, text, f);
	out = fopen(file, "ae");
	if (!out)
		return document_refused(file, errno, f);
	setvbuf(out, NULL, _IOFBF, strlen(text) + 1);
	errno = 0;
	bad = fputs(text, out) == EOF;
	bad |= fclose(out) == EOF;
	err = errno;
	return bad ? document_refused(file, err, f) : 0;
}

static int write_own(struct report *r, const struct fault *problem, bool interrupted,
		     struct fault *f)
{
	const char *file = output(r)->json;
	bool persistent = r->about.options->local.persistent;
	/* With --interval the output is JSON lines, and the document is the last of them; a server
	 * that stays has one line for each client. */
	bool lines = persistent || (output(r)->interval_ns && document_to_stdout(file));
	json_t *d = json_document(r, problem, interrupted);
	char *text = NULL, *body = json_dumps(d, lines ? JSON_COMPACT : JSON_INDENT(2));
	int rc;

	if (body && asprintf(&text, "%s\n", body) < 0)
		text = NULL;
	rc = persistent ? write_line(file, text, f) : write_whole(file, text, f);
	free(text);
	free(body);
	json_decref(d);
	return rc;
}

int document_write(struct report *r, const struct fault *problem, bool interrupted, struct fault *f)
{
	const char *perftest_file = perftest_json_file(r);
	/* A server that stays, and that nobody was connected to. */
	bool idle = r->about.options->local.persistent && !json_object_size(r->ends) &&
		    !fault_is(problem);
	char *text;
	int rc = 0;

	if (output(r)->json && !idle)
		rc = write_own(r, problem, interrupted, f);
	if (perftest_file && json_array_size(r->shown)) {
		text = perftest_json(r);
		rc |= write_whole(perftest_file, text, f);
		free(text);
	}
	return rc;
}
