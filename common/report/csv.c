// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CSV: one row for each result. Rows are appended to a file with the same columns. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/percentile.h"
#include "report/report.h"

#define COLUMNS_BYTES 4096
#define CSV_BEHIND                                           \
	",direction,calls,quality_disturbed,quality_reasons" \
	",started_utc,client_host,server_host,connection,tx_depth,threads,mtu_bytes,status,varied"

/* The header with its newline. */
static const char *csv_columns(const struct report *r, char *buf, size_t size)
{
	const struct fields *all = record_fields();
	char name[64];

	buf[0] = '\0';
	text_add(buf, size, "%s", r->about.csv_columns ? r->about.csv_columns : "test,measured_by");
	for (size_t i = 0; i < all->count && !r->about.csv_columns; i++)
		text_add(buf, size, ",%s", field_name(&all->row[i], name, sizeof(name)));
	if (!r->about.csv_columns)
		text_add(buf, size, "%s", CSV_BEHIND);
	text_add(buf, size, "\n");
	return buf;
}

/* Refuse an existing file whose header is not the one that this run would write. */
static int check_header(const struct report *r, const char *file, int fd, struct fault *f)
{
	char want[COLUMNS_BYTES], found[COLUMNS_BYTES];
	size_t size = strlen(csv_columns(r, want, sizeof(want)));
	ssize_t n = pread(fd, found, size, 0);

	if (n < 0)
		return document_refused(file, errno, f);
	if (!n || ((size_t)n == size && memcmp(found, want, size) == 0))
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
	if (r->csv.appends && check_header(r, file, o->fd, f)) {
		outlet_close(o);
		return -1;
	}
	r->csv.file = outlet_stream(o);
	if (r->csv.file)
		return 0;
	outlet_close(o);
	return document_refused(file, ENOMEM, f);
}

int csv_close(struct report *r)
{
	struct outlet *o = &r->csv.outlet;
	int err, late;

	fclose(r->csv.file);
	r->csv.file = o->stream = NULL;
	err = outlet_finish(o);
	late = outlet_close(o);
	return err ? err : late;
}

/*
 * Write the header into a new file, under a lock, since several runs may start with the same file.
 */
static void begin_file(const struct report *r, const char *header)
{
	const struct outlet *o = &r->csv.outlet;
	uint64_t begin_ns = clock_now_ns();
	struct stat st;
	char last = '\n';

	while (flock(o->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK &&
	       stop_output(o->stop, -1, begin_ns, clock_now_ns() + OUTLET_LOOK_NS) == 0)
		;
	if (fstat(o->fd, &st) == 0 && st.st_size == 0)
		fputs(header, r->csv.file);
	else if (pread(o->fd, &last, 1, st.st_size - 1) == 1 && last != '\n')
		fputs("\n", r->csv.file); /* the writer of the last row was killed */
	fflush(r->csv.file);
	flock(o->fd, LOCK_UN);
}

FILE *csv_rows(struct report *r)
{
	char header[COLUMNS_BYTES];

	if (!r->csv.file || r->csv.begun)
		return r->csv.file;
	csv_columns(r, header, sizeof(header));
	if (r->csv.appends)
		begin_file(r, header);
	else
		fputs(header, r->csv.file);
	r->csv.begun = true;
	return r->csv.file;
}

static void put_disturbances(const struct result_row *row, FILE *out)
{
	json_t *reasons = json_reasons(&row->disturbed), *v;
	size_t i;

	fprintf(out, ",%d,", result_is_disturbed(row));
	json_array_foreach (reasons, i, v)
		fprintf(out, "%s%s", i ? " " : "", json_string_value(v));
	json_decref(reasons);
}

/* Write END's host name. The peer chooses its own name, so replace what would break the CSV. */
static void put_host(const struct report *r, const char *end, FILE *out)
{
	const char *host = json_text_at(json_object_get(r->run.ends, end), "host");

	fputc(',', out);
	for (; *host; host++)
		fputc((unsigned char)*host < ' ' || strchr(",\"", *host) ? '_' : *host, out);
}

/* Write the start time, the hosts, and the parameters that a record does not have. */
static void put_circumstances(const struct report *r, FILE *out)
{
	const struct experiment *e = &r->about.options->experiment;

	fprintf(out, ",%s", r->run.started);
	put_host(r, "client", out);
	put_host(r, "server", out);
	fprintf(out, ",%s,%u,%" PRIu64 ",%u", experiment_transport(e)->name,
		r->run.effective.tx_depth, (uint64_t)e->threads, r->run.effective.mtu_bytes);
}

/* What to make of ROW, which is of a run that FAILED or did not. Wrong data are a failure. */
static const char *row_status(const struct result_row *row, bool failed)
{
	if (failed || row->verified.errors)
		return "failed";
	return row->record->interrupted ? "interrupted" : "ok";
}

void csv_row(const struct report *r, const struct result_row *row, bool failed, FILE *out)
{
	const struct fields *all = record_fields();
	const struct report_effective *e = &r->run.effective;
	char text[40];

	fprintf(out, "%s,%s", r->about.test, result_end_name(row->by));
	for (size_t i = 0; i < all->count; i++)
		fprintf(out, ",%s",
			percentile_known(row->record, all->row[i].key)
				? record_format(row->record, &all->row[i], text, sizeof(text))
				: "");
	fprintf(out, ",%s", result_direction_name(row->direction));
	fprintf(out, ",%s", e->calls ? e->calls : "");
	put_disturbances(row, out);
	put_circumstances(r, out);
	fprintf(out, ",%s,", row_status(row, failed));
	varied_csv(r, out);
	fprintf(out, "\n");
}
