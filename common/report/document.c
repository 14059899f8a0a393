// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Write the JSON documents of a report to their files. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/phase.h"
#include "proto/fields.h"
#include "proto/json_memory.h"
#include "report/report.h"

#define PERFTEST_JSON "perftest_out.json"

/* Add the cause if nobody reads the output. */
static void add_unread(int errnum, struct fault *f)
{
	if (errnum == EINTR)
		fault_cause(f, "It was not read until a signal came");
	if (errnum == EAGAIN)
		fault_cause(f, "It is not read, and other clients must not wait for that");
}

int document_stdout_refused(enum fault_code code, int errnum, struct fault *f)
{
	fault_raise(f, code, errnum, "writing to stdout");
	if (errnum == EBADF)
		fault_cause(f, "stdout is closed");
	if (errnum == ENOSPC)
		fault_fix(f, "free some space there, or send stdout elsewhere");
	add_unread(errnum, f);
	return -1;
}

int document_refused(const char *file, int errnum, struct fault *f)
{
	fault_raise(f, FAULT_LOCAL, errnum, "writing %s", file);
	add_unread(errnum, f);
	if (errnum == EINTR || errnum == EAGAIN)
		return fault_fix(f, "start its reader first");
	if (errnum == EFBIG)
		return fault_fix(f, "raise the limit: ulimit -f, or LimitFSIZE= of a service");
	if (errnum == ENOSPC)
		return fault_fix(f, "free some space there, or name a file on another file system");
	return fault_fix(f, "name a file in an existing directory that this user may write to");
}

/* True if FILE is a device, pipe or link, which is written to directly; a file is replaced. */
static bool is_special(const char *file)
{
	struct stat st;

	return lstat(file, &st) == 0 && !S_ISREG(st.st_mode);
}

/*
 * Where FILE is, if it is a link to a file: its reader may look at any moment, so the file itself
 * is replaced, too. /dev/stdout and such are no files, whatever they lead to.
 */
static const char *behind_link(const char *file, char path[PATH_MAX])
{
	struct stat st;

	if (lstat(file, &st) || !S_ISLNK(st.st_mode) || strncmp(file, "/dev/", 5) == 0 ||
	    strncmp(file, "/proc/", 6) == 0)
		return file;
	return stat(file, &st) == 0 && S_ISREG(st.st_mode) && realpath(file, path) ? path : file;
}

/* The document D (stolen) as text, in one LINE or in many; the caller frees it. NULL: no memory. */
static char *text_of(json_t *d, bool line)
{
	return json_line(d, (line ? JSON_COMPACT : JSON_INDENT(2)) |
				    JSON_REAL_PRECISION(JSON_DIGITS));
}

/*
 * Write TEXT to FILE, opened with the flags HOW, in a single write, so that several processes can
 * add lines. Returns 0 or an errno.
 */
static int put_text(const char *file, int how, const char *text, struct stop *stop)
{
	struct outlet o;
	int err = outlet_open_file(&o, file, O_WRONLY | O_CREAT | how, stop), late;

	if (err)
		return err;
	err = outlet_write(&o, text, strlen(text));
	late = outlet_close(&o);
	return err ? err : late;
}

/*
 * Write TEXT to a new file next to FILE, and let it become FILE; just try it without TEXT. Nobody
 * can guess its name, and put a link there to a file that this user may write to. Returns 0 or an
 * errno.
 */
static int put_aside(const char *file, const char *text)
{
	char path[PATH_MAX];
	uint64_t name;
	int err;

	do {
		if (getrandom(&name, sizeof(name), 0) != (ssize_t)sizeof(name))
			return errno;
		if (snprintf(path, sizeof(path), "%s.%016" PRIx64 ".tmp", file, name) >=
		    (int)sizeof(path))
			return ENAMETOOLONG;
		err = put_text(path, O_EXCL | O_NOFOLLOW, text ? text : "", NULL);
	} while (err == EEXIST);
	if (!err && text && rename(path, file))
		err = errno;
	if (err || !text)
		unlink(path);
	return err;
}

bool document_is_cut(const char *file)
{
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	char last = '\n';

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    pread(fd, &last, 1, st.st_size - 1) != 1)
		last = '\n';
	close(fd);
	return last != '\n';
}

/* Append TEXT, a line, to FILE. Returns 0 or an errno. */
static int add_line(const char *file, const char *text, struct stop *stop)
{
	char *line = NULL;
	int err;

	if (!document_is_cut(file))
		return put_text(file, O_APPEND, text, stop);
	if (asprintf(&line, "\n%s", text) < 0)
		return ENOMEM;
	err = put_text(file, O_APPEND, line, stop);
	free(line);
	return err;
}

/* True if FILE, an option's argument, is given and does not mean stdout. */
static bool is_file(const char *file)
{
	return file && !document_to_stdout(file);
}

/* Refuse FILE, which OPTION names, if it means standard output. */
static int check_name(const char *option, const char *file, struct fault *f)
{
	if (!document_to_stdout(file))
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "%s needs the name of a file", option);
	return fault_fix(f, "use --json for standard output, or %s ./-", option);
}

/*
 * Check before the run that FILE can be written: by a temporary file that will be renamed, or
 * appended to with ADD. A new file that is appended to stays: to delete it might delete the line of
 * another run.
 */
static int try_file(const char *file, bool add, struct fault *f)
{
	char path[PATH_MAX];
	struct stat st;
	int err = 0;

	if (!is_file(file))
		return 0;
	if (!is_special(behind_link(file, path)))
		err = add ? put_text(file, O_APPEND, "", NULL)
			  : put_aside(behind_link(file, path), NULL);
	else if (stat(file, &st) == 0) /* else a link to a file that will be created */
		err = S_ISDIR(st.st_mode) ? EISDIR : access(file, W_OK) ? errno : 0;
	return err ? document_refused(file, err, f) : 0;
}

static const char *perftest_json_file(const struct output_options *o)
{
	if (o->out_json_file)
		return o->out_json_file;
	return o->out_json ? PERFTEST_JSON : NULL;
}

int document_try(const struct output_options *o, struct fault *f)
{
	fault_phase(f, PHASE_OPEN_OUTPUT);
	if (check_name("--json-lines", o->json_lines, f) || try_file(o->json, false, f) ||
	    try_file(perftest_json_file(o), false, f))
		return -1;
	return try_file(o->json_lines, true, f);
}

/* Replace FILE by TEXT, or append TEXT with ADD; "-" is stdout. */
static int write_text(const char *file, bool add, const char *text, struct stop *stop,
		      struct fault *f)
{
	char path[PATH_MAX];
	const char *place;
	int err;

	if (!text)
		return fault_raise(f, FAULT_LOCAL, ENOMEM, "creating the document for %s", file);
	if (document_to_stdout(file)) {
		fputs(text, stdout);
		return 0;
	}
	place = behind_link(file, path);
	if (add)
		err = add_line(file, text, stop);
	else
		err = is_special(place) ? put_text(place, O_TRUNC, text, stop)
					: put_aside(place, text);
	return err ? document_refused(file, err, f) : 0;
}

int document_put(const char *file, const char *text, struct stop *stop, struct fault *f)
{
	return write_text(file, false, json_memory_failures() ? NULL : text, stop, f);
}

int document_save(const char *file, bool add, json_t *d, struct fault *f)
{
	char *text = text_of(d, add);
	int rc = write_text(file, add, json_memory_failures() ? NULL : text, NULL, f);

	free(text);
	return rc;
}

/* Write TEXT (freed), which is of R's run, as write_text() does, unless a key lacked memory. */
static int write_own(struct report *r, const char *file, bool add, char *text, struct fault *f)
{
	bool whole = json_memory_failures() == r->run.json_failures;
	int rc = write_text(file, add, whole ? text : NULL, r->about.streams->out.stop, f);

	free(text);
	return rc;
}

int document_write(struct report *r, const struct fault *problem, bool interrupted, struct fault *f)
{
	const struct output_options *o = &r->about.options->output;
	const struct local_options *l = &r->about.options->local;
	/* A persistent server that no client has connected to writes no document. */
	bool idle = l->persistent && !json_object_size(r->run.ends) && !fault_is(problem);
	bool wanted = document_keeps(r->about.options) && !idle;
	bool to_stdout = document_to_stdout(o->json);
	/* With --interval the output is JSON lines, and the document is the last of them; a server
	 * that stays has one line for each client. */
	bool line = l->persistent || (o->interval_ns && to_stdout);
	json_t *d = NULL; /* if wanted: there was no memory for it, which is told below */
	int rc = 0;

	if (wanted)
		d = json_document(r, problem, interrupted);
	if (wanted && is_file(o->json_lines))
		rc = write_own(r, o->json_lines, true, text_of(json_incref(d), true), f);
	if (to_stdout)
		json_object_del(d, "intervals"); /* they stand before it */
	if (wanted && o->json)
		rc |= write_own(r, o->json, l->persistent, text_of(json_incref(d), line), f);
	json_decref(d);
	if (perftest_json_file(o) && r->run.last.message_bytes)
		rc |= write_own(r, perftest_json_file(o), false, perftest_json(r), f);
	return rc;
}
