// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CSV: one row for each record. A file of the same columns is added to, so that a sweep has one. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "report/forms.h"

#define COLUMNS_BYTES 1024

/* The header with its newline. */
static const char *columns(const struct report *r, char *buf, size_t size)
{
	size_t n;
	const struct record_field *field = record_fields(&n);

	buf[0] = '\0';
	text_add(buf, size, "%s", r->about.csv_columns ? r->about.csv_columns : "test,measured_by");
	for (size_t i = 0; i < n && !r->about.csv_columns; i++)
		text_add(buf, size, ",%s", field[i].name);
	if (!r->about.csv_columns)
		text_add(buf, size, ",direction,thread,device");
	text_add(buf, size, "\n");
	return buf;
}

static int other_columns(const char *file, struct fault *f)
{
	fault_raise(f, FAULT_USAGE, 0, "--csv=%s: it begins with other columns than this test's",
		    file);
	return fault_fix(f, "name a new file: rows are added to a file of the same columns only");
}

/* Whether a regular file that is there already begins as this run's would. */
static int check_header(const struct report *r, const char *file, int fd, struct fault *f)
{
	char want[COLUMNS_BYTES], found[COLUMNS_BYTES];
	size_t size = strlen(columns(r, want, sizeof(want)));
	ssize_t n = pread(fd, found, size, 0);

	if (n < 0)
		return document_refused(file, errno, f);
	if (n && ((size_t)n != size || memcmp(found, want, size) != 0))
		return other_columns(file, f);
	return 0;
}

/* For appending, and for reading what is there; a pipe or device takes whatever comes. */
static int open_file(const char *file, bool *appends)
{
	struct stat st;

	*appends = stat(file, &st) != 0 || S_ISREG(st.st_mode);
	if (*appends)
		return open(file, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	return open(file, O_WRONLY | O_CLOEXEC);
}

int csv_open(struct report *r, struct fault *f)
{
	const char *file = r->about.options->output.csv;
	int fd;

	if (document_to_stdout(file)) {
		r->csv = stdout;
		return 0;
	}
	fd = open_file(file, &r->csv_appends);
	if (fd < 0)
		return document_refused(file, errno, f);
	if (r->csv_appends && check_header(r, file, fd, f)) {
		close(fd);
		return -1;
	}
	r->csv = fdopen(fd, r->csv_appends ? "a+" : "w");
	if (r->csv)
		return 0;
	close(fd);
	return document_refused(file, errno, f);
}

/* Locked, since several may begin with the same new file. */
static void begin_file(const struct report *r, const char *header)
{
	int fd = fileno(r->csv);
	struct stat st;
	char last = '\n';

	flock(fd, LOCK_EX);
	if (fstat(fd, &st) == 0 && st.st_size == 0)
		fputs(header, r->csv);
	else if (pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n')
		fputs("\n", r->csv); /* whoever wrote that row was cut off */
	fflush(r->csv);
	flock(fd, LOCK_UN);
}

FILE *csv_rows(struct report *r)
{
	char header[COLUMNS_BYTES];

	if (!r->csv || r->csv_begun)
		return r->csv;
	columns(r, header, sizeof(header));
	if (r->csv_appends)
		begin_file(r, header);
	else
		fputs(header, r->csv);
	r->csv_begun = true;
	return r->csv;
}

void csv_row(const struct report *r, const struct report_row *row, FILE *out)
{
	size_t n;
	const struct record_field *field = record_fields(&n);
	char text[40];

	fprintf(out, "%s,%s", r->about.test, forms_by(row->by));
	for (size_t i = 0; i < n; i++)
		fprintf(out, ",%s", record_format(row->record, &field[i], text, sizeof(text)));
	fprintf(out, ",%s,", report_direction_name(row->direction));
	if (row->thread >= 0)
		fprintf(out, "%d", row->thread);
	fprintf(out, ",%s\n", row->device ? row->device : "");
}
