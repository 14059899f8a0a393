#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The man pages say what the programs do: every option of --help stands in the page and the other
# way round, and so does every key of the JSON documents and column of the CSV; the examples parse,
# mandoc has no complaint.

setup_file() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	bin=$(cd "${RDMARK_BIN:-$top/build/bin}" && pwd)
	export top bin
	local page
	for page in "$top"/man/*.in; do
		page=${page##*/}
		"$top/man/gen" "$top/man/$page" >"$BATS_FILE_TMPDIR/${page%.in}"
	done
}

# rdmark-plot is a script, and none of what follows is true of it.
programs() {
	local page
	for page in "$top"/man/*.1.in; do
		page=${page##*/}
		[[ $page == rdmark-plot.1.in ]] || echo "${page%.1.in}"
	done
}

need_mandoc() {
	command -v mandoc >/dev/null || skip 'mandoc is not here (make deps)'
}

# rendered PAGE: as plain text.
rendered() { mandoc -Tascii -Owidth=160 "$BATS_FILE_TMPDIR/$1" | sed 's/.\x08//g'; }

# section NAME: of a rendered page on standard input.
section() { awk -v name="$1" '/^[A-Z]/ { on = $0 == name; next } on'; }

@test "every program has a page, and every page its program" {
	local folders
	folders=$(cd "$top" && for f in *_lat/*.c *_bw/*.c; do
		[[ ${f%%/*}.c != "${f##*/}" ]] || echo "${f%%/*}"
	done | sort)
	diff <(echo "$folders") <(programs | sort)
}

# options: the left column of --help or of a list in a page: "-s, --size=BYTES".
options() { awk '/^ +-/ { print $1 ~ /,$/ ? $1 " " $2 : $1 }' | tr -d '<>' | sort; }

@test "every option of --help is in the page with the same value, and the other way round" {
	need_mandoc
	local program
	for program in $(programs); do
		(($("$bin/$program" --help | options | wc -l) > 40))
		diff <("$bin/$program" --help | options) \
			<(rendered "$program.1" | section OPTIONS | grep '^     -' | options)
	done
}

@test "rdmark-plot: every option of --help is in its page, and the other way round" {
	need_mandoc
	diff <("$bin/rdmark-plot" --help | options) \
		<(rendered rdmark-plot.1 | section OPTIONS | grep '^     -' | options)
}

@test "each page is about its program" {
	local program
	for program in $(programs); do
		grep -q "^\.Dt ${program^^} 1$" "$BATS_FILE_TMPDIR/$program.1"
		grep -q "^\.Nm $program$" "$BATS_FILE_TMPDIR/$program.1"
	done
}

@test "mandoc has nothing to say" {
	need_mandoc
	local page said
	for page in "$BATS_FILE_TMPDIR"/*.[157]; do
		# Whether other packages' pages are installed here is no fault of ours.
		said=$(mandoc -Tlint "$page" 2>&1 | grep -v -e 'referenced manual not found' -e 'mandoc.db') || :
		[[ -z $said ]] || { echo "$said"; return 1; }
	done
}

@test "the examples parse" {
	need_mandoc
	local program line words examples=0
	for program in $(programs); do
		while read -r line; do
			line=${line%%|*}
			line=${line%%>*}
			line=${line% 3}		# what stands before >
			read -ra words <<<"$line"
			[[ ${words[0]} == "$program" ]] || { echo "$program: $line"; return 1; }
			"$bin/$program" "${words[@]:1}" --help >/dev/null || { echo "$line"; return 1; }
			((examples += 1))
		done < <(rendered "$program.1" | section EXAMPLES | sed -n 's/^ *\$ //p')
	done
	((examples >= 4 * 2))
}

# page_keys NAME: what a subsection of rdmark-json(5) explains.
page_keys() {
	sed -n "/^\.Ss $1\$/,/^\.S[hs] /s/^\.It Li //p" "$BATS_FILE_TMPDIR/rdmark-json.5" | sort
}

# literals FUNCTION FILE: the strings in a function that can be keys.
literals() {
	sed -n "/^[a-z].*[ *]$1(/,/^}/p" "$top/$2" | grep -o '"[a-z][a-z0-9_]*"' | tr -d '"' |
		grep -vx -e client -e server -e client_to_server -e server_to_client -e ping_pong | sort
}

# The first argument of each INTEGER(…), REAL(…) and REAL_WITH(…).
record_fields() {
	sed -n '/record_field fields\[\]/,/^}/p' "$top/common/wire/record.c" | grep -o '([a-z0-9_]*[,)]' | tr -d '(,)'
}

# source_keys NAME: of that object, in the source. Those of the experiment are the option table's.
source_keys() {
	case $1 in
	document)
		literals json_document common/report/json.c
		literals to_document gdr_bw/show.c | grep -x -e gpu_ends -e verdict
		;;
	error) literals message_fault_json common/wire/message.c ;;
	experiment)
		local program
		for program in $(programs); do
			"$bin/$program" --json -p 1 --connect-timeout 0 --quiet localhost 2>/dev/null |
				jq -r '.experiment | keys[]'
		done | sort -u
		;;
	effective)
		literals set_effective common/report/report.c
		literals report_calls common/report/report.c | grep -x '.*calls.*'
		;;
	end)
		grep -o 'FIELD([A-Z]*, [a-z0-9_]*' "$top/common/wire/end.c" | sed 's/.* //'
		literals ends_json common/report/report.c
		;;
	result)
		record_fields
		literals json_result common/report/json.c
		literals report_result common/report/report.c
		;;
	summary)
		literals repeat_summary common/session/repeat.c
		sed -n '/_figures\[\] = {/,/;/p' "$top/common/session/repeat.c" | grep -o '"[a-z0-9_]*"' | tr -d '"'
		;;
	spread) literals spread_json common/session/repeat.c ;;
	verification)
		literals verified_to_json common/wire/verified.c | grep -x -e messages -e bytes -e errors -e first_error
		sed -n '/^const char \*slots_wrong_name(/,/^}/p' "$top/common/base/slots.c" | grep -o '"[a-z]*"' | tr -d '"'
		;;
	first_error)
		literals verified_to_json common/wire/verified.c | grep -vx -e messages -e bytes -e errors -e first_error
		;;
	cell) literals result_json gdr_bw/show.c ;;
	verdict) literals to_document gdr_bw/show.c | grep -vx -e gpu_ends -e verdict ;;
	gpu_end)
		literals gdr_side_json gdr_bw/side.c
		grep -o '^	\(TEXT\|REAL\)(.*' "$top/gdr_bw/side.c" | grep -o '([a-z_]*)' | tr -d '()'
		;;
	path) literals path_to_json common/wire/path_json.c ;;
	link) literals link_to_json common/wire/path_json.c ;;
	interval)
		sed -n '/^void report_interval(/,/^}/p' "$top/common/report/progress.c" | grep -o '\\"[a-z_]*\\":' |
			tr -d '\\":' | grep -vx interval
		;;
	esac | sort
}

@test "every key of the JSON documents is in rdmark-json(5) and in the schema, and the other way round" {
	local objects object schema=$top/schema/rdmark.schema.json
	objects=$(jq -r '.definitions | keys[]' "$schema")
	(($(wc -l <<<"$objects") == 16))
	for object in $objects; do
		echo "$object:"
		diff <(jq -r ".definitions.$object.properties | keys[]" "$schema" | sort) <(page_keys "$object")
		diff <(source_keys "$object") <(page_keys "$object")
	done
}

@test "every column of the CSV is in rdmark-json(5), in that order" {
	diff <(sed -n '/^\.Sh CSV/,/^\.Sh FILES/{/^test,/,/^\.Ed/p}' "$BATS_FILE_TMPDIR/rdmark-json.5" | tr -d '\n' | sed 's/\.Ed/\n/g') \
		<(csv_of_records; csv_of_cells)
}

csv_of_records() {
	echo -n 'test,measured_by'
	record_fields | sed 's/^/,/' | tr -d '\n'
	echo ',direction,thread,device'
}

csv_of_cells() {
	sed -n '/"test,cell/,/^$/p' "$top/gdr_bw/gdr.h" | grep -o '"[a-z_,]*' | tr -d '"\n'
	echo
}

@test "every exit status of the source is in the pages" {
	need_mandoc
	local number page
	for page in gdr_bw.1 rdmark.7; do
		rendered "$page" | section 'EXIT STATUS' | grep -qF "     6" || { echo "$page: 6"; return 1; }
	done
	for page in $(programs | sed 's/$/.1/') rdmark.7; do
		for number in 0 1 2 3 4 5 77 128+N; do
			rendered "$page" | section 'EXIT STATUS' | grep -qF "     $number" || { echo "$page: $number"; return 1; }
		done
	done
}
