// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * CSV: one row for each result, of both directions one more for each, with what most readers want
 * of a record, and of its run. Rows are appended to a file with the same columns.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "plan/test.h"
#include "proto/fields.h"
#include "report/report.h"
#include "verbs/transport.h"

#define COLUMNS_BYTES 4096
/* What is in no record: put_behind(). The page has these lists from here (man/json). */
#define CSV_BEHIND                                                                          \
	",direction,quality_disturbed,quality_reasons,started_utc,client_host,server_host," \
	"connection,mtu_bytes,tx_depth,threads,runs_mean,runs_stdev,status,varied"

/* The header with its newline. Returns BUF. */
static const char *header_of(char *buf, size_t size)
{
	const struct fields *all = record_fields();
	char name[64];

	snprintf(buf, size, "test,measured_by");
	for (size_t i = 0; i < all->count; i++)
		if (all->row[i].column)
			text_add(buf, size, ",%s", field_name(&all->row[i], name, sizeof(name)));
	text_add(buf, size, CSV_BEHIND "\n");
	return buf;
}

/* Refuse an existing file with another header than this run's. */
static int check_header(const char *file, int fd, struct fault *f)
{
	char want[COLUMNS_BYTES], found[COLUMNS_BYTES];
	size_t size = strlen(header_of(want, sizeof(want)));
	ssize_t n = pread(fd, found, sizeof(found), 0);

	if (n < 0)
		return document_refused(file, errno, f);
	if (!n || ((size_t)n >= size && memcmp(found, want, size) == 0))
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "--csv=%s: the file has other columns than this test", file);
	return fault_fix(f, "name a new file: rows can only be added to a file with the same "
			    "columns");
}

/* Open a regular file to append to and to read its header; a pipe or device only to write. */
int csv_open(struct report *r, struct fault *f)
{
	const char *file = r->about.options->output.csv;
	struct outlet *o = &r->csv.outlet;
	struct stop *stop = r->about.streams->out.stop;
	struct stat st;
	int err;

	if (document_to_stdout(file)) {
		r->csv.file = stdout;
		return 0;
	}
	r->csv.appends = stat(file, &st) != 0 || S_ISREG(st.st_mode);
	err = outlet_open_file(o, file, r->csv.appends ? O_RDWR | O_APPEND | O_CREAT : O_WRONLY,
			       stop);
	if (err)
		return document_refused(file, err, f);
	if (r->csv.appends && check_header(file, o->fd, f)) {
		outlet_close(o);
		return -1;
	}
	r->csv.file = outlet_stream(o);
	if (r->csv.file)
		return 0;
	outlet_close(o);
	return document_refused(file, ENOMEM, f);
}

int csv_raise(struct report *r, struct fault *f)
{
	int why = r->csv.errnum;

	r->csv.errnum = 0;
	return why ? document_refused(r->about.options->output.csv, why, f) : 0;
}

int csv_close(struct report *r, struct fault *f)
{
	struct outlet *o = &r->csv.outlet;
	int err, late;

	if (!r->csv.file || r->csv.file == stdout)
		return 0;
	fclose(r->csv.file);
	r->csv.file = o->stream = NULL;
	err = outlet_finish(o);
	late = outlet_close(o);
	if (err || late)
		r->csv.errnum = err ? err : late;
	return csv_raise(r, f);
}

/* Wait for the lock of the file, since several runs may start with the same new one. */
static void lock_file(const struct outlet *o)
{
	uint64_t begin_ns = clock_now_ns();

	while (flock(o->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK &&
	       stop_output(o->stop, -1, begin_ns, clock_now_ns() + OUTLET_LOOK_NS) == 0)
		;
}

/* The stream for rows, after the header; NULL: without --csv. */
static FILE *csv_rows(struct report *r)
{
	struct csv *c = &r->csv;
	char header[COLUMNS_BYTES];
	struct stat st = {.st_size = 0};

	if (!c->file || c->begun)
		return c->file;
	c->begun = true;
	if (c->appends) {
		lock_file(&c->outlet);
		fstat(c->outlet.fd, &st);
	}
	if (!st.st_size)
		fputs(header_of(header, sizeof(header)), c->file);
	else if (document_is_cut(r->about.options->output.csv))
		fputs("\n", c->file);
	if (c->appends) {
		fflush(c->file);
		flock(c->outlet.fd, LOCK_UN);
	}
	return c->file;
}

/* Write END's host name. The peer chooses its own name, so replace what would break the CSV. */
static void put_host(const struct report *r, const char *end, FILE *out)
{
	const char *host = json_text_at(json_object_get(r->run.ends, end), "host");

	fputc(',', out);
	for (; *host; host++)
		fputc((unsigned char)*host < ' ' || strchr(",\"", *host) ? '_' : *host, out);
}

/* What to make of ROW, which is of a run that FAILED or did not. Wrong data are a failure. */
static const char *row_status(const struct result_row *row, bool failed)
{
	if (failed || row->verified.errors)
		return "failed";
	return row->record->interrupted ? "interrupted" : "ok";
}

/* Write N with a comma before it, 0 as nothing. */
static void put_number(double n, FILE *out)
{
	if (n > 0)
		fprintf(out, ",%.6g", n);
	else
		fputc(',', out);
}

/* Write what is not in a record, the columns of CSV_BEHIND. */
static void put_behind(const struct report *r, const struct result *of,
		       const struct result_row *row, FILE *out)
{
	const struct result none = {0}, *runs = row == of->main ? of : &none;
	const struct experiment *x = &r->about.options->experiment;
	const struct report_effective *e = &r->run.effective;
	json_t *reasons = json_reasons(&row->disturbed), *v;
	size_t i;

	fprintf(out, ",%s", result_direction_name(row->direction));
	fprintf(out, ",%d,", result_is_disturbed(row));
	json_array_foreach (reasons, i, v)
		fprintf(out, "%s%s", i ? " " : "", json_string_value(v));
	json_decref(reasons);
	fprintf(out, ",%s", r->run.started);
	put_host(r, "client", out);
	put_host(r, "server", out);
	fprintf(out, ",%s,%u,%u,%" PRIu64, experiment_transport(x)->name, e->mtu_bytes, e->tx_depth,
		(uint64_t)x->threads);
	put_number(runs->runs_mean, out);
	put_number(runs->runs_stdev, out);
	fprintf(out, ",%s,", row_status(row, of->failed));
	varied_csv(r, out);
}

static void put_row(const struct report *r, const struct result *of, const struct result_row *row,
		    FILE *out)
{
	const struct record known = record_known(row->record);
	const struct fields *all = record_fields();
	char text[40];

	fprintf(out, "%s,%s", r->about.test->name, result_end_name(row->by));
	for (size_t i = 0; i < all->count; i++)
		if (all->row[i].column)
			fprintf(out, ",%s",
				record_format(&known, &all->row[i], text, sizeof(text)));
	put_behind(r, of, row, out);
	fprintf(out, "\n");
}

void csv_result(struct report *r, const struct result *result)
{
	FILE *out = csv_rows(r);

	if (out && result->main)
		put_row(r, result, result->main, out);
	for (size_t i = 0; out && i < result->rows && result->main->by == RESULT_BOTH; i++) {
		const struct result_row *row = &result->row[i];

		if (row->by != RESULT_BOTH && row->thread < 0 && !row->device)
			put_row(r, result, row, out);
	}
	if (out && fflush(out) == EOF && out != stdout)
		r->csv.errnum = errno;
}
