// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Write the JSON documents of a report to their files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/forms.h"
#include "wire/json_memory.h"

#define PERFTEST_JSON "perftest_out.json"

static const struct output_options *document_output(const struct report *r)
{
	return &r->about.options->output;
}

int document_refused(const char *file, int errnum, struct fault *f)
{
	fault_raise(f, FAULT_LOCAL, errnum, "writing %s", file);
	if (errnum == ENOSPC)
		return fault_fix(f, "free some space there, or name a file on another file system");
	return fault_fix(f, "name a file in an existing directory that this user may write to");
}

/*
 * True if FILE is a device, pipe or link, which is written to directly; a regular file is replaced.
 */
static bool is_special(const char *file)
{
	struct stat st;

	return lstat(file, &st) == 0 && !S_ISREG(st.st_mode);
}

/* A temporary name in FILE's directory, to be renamed to FILE. */
static const char *temporary_name(const char *file, char path[4096])
{
	snprintf(path, 4096, "%s.%d.tmp", file, (int)getpid());
	return path;
}

/*
 * Write TEXT to FILE, opened with the flags HOW, in a single write, so that several processes can
 * add lines. Returns 0 or an errno.
 */
static int put_text(const char *file, int how, const char *text)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666), err = 0;
	size_t size = strlen(text);

	if (fd < 0)
		return errno;
	while (size && !err) {
		ssize_t n = write(fd, text, size);

		err = n < 0 ? errno : 0;
		text += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	if (close(fd) && !err)
		err = errno;
	return err;
}

/* Check before the run that a temporary file can be created where FILE will be. */
static int try_place(const char *file, struct fault *f)
{
	char path[4096];
	int err;

	if (!file || document_to_stdout(file) || is_special(file))
		return 0;
	err = put_text(temporary_name(file, path), O_TRUNC, "");
	unlink(path);
	return err ? document_refused(file, err, f) : 0;
}

static const char *perftest_json_file(const struct report *r)
{
	if (document_output(r)->out_json_file)
		return document_output(r)->out_json_file;
	return document_output(r)->out_json ? PERFTEST_JSON : NULL;
}

int document_try(const struct report *r, struct fault *f)
{
	return try_place(document_output(r)->json, f) || try_place(perftest_json_file(r), f) ? -1
											     : 0;
}

/* Replace FILE by TEXT, or append TEXT with ADD; "-" is stdout. */
static int write_text(const char *file, bool add, const char *text, struct fault *f)
{
	bool special = is_special(file);
	char path[4096];
	int err;

	if (!text)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "creating the document for %s", file);
	if (document_to_stdout(file)) {
		fputs(text, stdout);
		return 0;
	}
	if (add || special) {
		err = put_text(file, add ? O_APPEND : O_TRUNC, text);
	} else {
		err = put_text(temporary_name(file, path), O_TRUNC, text);
		if (!err && rename(path, file))
			err = errno;
		if (err)
			unlink(path);
	}
	return err ? document_refused(file, err, f) : 0;
}

int document_put(const char *file, const char *text, struct fault *f)
{
	return write_text(file, false, json_memory_failures() ? NULL : text, f);
}

/* True if nothing that the document is made of lacks a key, for want of memory. */
static bool is_whole(const struct report *r)
{
	return json_memory_failures() == r->run.json_failures;
}

static int write_own(struct report *r, const struct fault *problem, bool interrupted,
		     struct fault *f)
{
	const char *file = document_output(r)->json;
	bool persistent = r->about.options->local.persistent;
	/* With --interval the output is JSON lines, and the document is the last of them; a server
	 * that stays has one line for each client. */
	bool lines = persistent || (document_output(r)->interval_ns && document_to_stdout(file));
	size_t form = (lines ? JSON_COMPACT : JSON_INDENT(2)) | JSON_REAL_PRECISION(JSON_DIGITS);
	char *text = json_line(json_document(r, problem, interrupted), form);
	int rc = write_text(file, persistent, is_whole(r) ? text : NULL, f);

	free(text);
	return rc;
}

int document_write(struct report *r, const struct fault *problem, bool interrupted, struct fault *f)
{
	const char *perftest_file = perftest_json_file(r);
	/* A persistent server that no client has connected to writes no document. */
	bool idle = r->about.options->local.persistent && !json_object_size(r->run.ends) &&
		    !fault_is(problem);
	char *text;
	int rc = 0;

	if (document_output(r)->json && !idle)
		rc = write_own(r, problem, interrupted, f);
	if (perftest_file && r->run.last.message_bytes) {
		text = perftest_json(r);
		rc |= write_text(perftest_file, false, is_whole(r) ? text : NULL, f);
		free(text);
	}
	return rc;
}
