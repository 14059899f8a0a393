#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The man pages say what the programs do: every option of --help stands in the page and the other
# way round, and so does every key of the JSON documents and column of the CSV; the examples parse,
# mandoc has no complaint.

bats_require_minimum_version 1.5.0

setup_file() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	bin=$(cd "${RDMARK_BIN:-$top/build/bin}" && pwd)
	version=$(sed -n 's/^VERSION := //p' "$top/Makefile")
	export top bin version
	local page
	for page in "$top"/man/*.in; do
		page=${page##*/}
		"$top/man/gen" "$top/man/$page" "$version" >"$BATS_FILE_TMPDIR/${page%.in}"
	done
}

# rdmark and rdmark-pairs start the programs; rdmark-plot and rdmark-prom are scripts: none of what follows is true of them.
programs() {
	local page
	for page in "$top"/man/*.1.in; do
		page=${page##*/}
		[[ $page == rdmark*.1.in ]] || echo "${page%.1.in}"
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
# What stands below an option is further in.
options() { awk '/^ +-/ && match($0, /-/) < 12 { print $1 ~ /,$/ ? $1 " " $2 : $1 }' | tr -d '<>' | sort; }

@test "every option of --help is in the page with the same value, and the other way round" {
	need_mandoc
	local program
	for program in $(programs); do
		(($("$bin/$program" --help=all | options | wc -l) > 30))
		diff <("$bin/$program" --help=all | options) \
			<(rendered "$program.1" | section OPTIONS | grep '^     -' | options)
	done
}

@test "rdmark-plot, rdmark-prom: every option of --help is in its page, and the other way round" {
	need_mandoc
	local script
	for script in rdmark-plot rdmark-prom; do
		diff <("$bin/$script" --help | options) \
			<(rendered "$script.1" | section OPTIONS | grep '^     -' | options)
	done
}

@test "rdmark-pairs: every option of its commands is in its page, and the other way round" {
	need_mandoc
	local command help=$BATS_TEST_TMPDIR/help
	for command in sweep run judge; do
		"$bin/rdmark-pairs" "$command" --help
	done | options | sort -u | grep -vx -e --help >"$help"
	diff "$help" <(rendered rdmark-pairs.1 | section OPTIONS | grep '^     -' | options | sort -u | grep -vx -e --help)
}

# first_page PAGE: its first 60 lines at 80 columns.
first_page() { mandoc -Tascii -Owidth=80 "$BATS_FILE_TMPDIR/$1" | sed 's/.\x08//g' | head -n 60; }

@test "the first page of rdmark(7) and of rdmark-pairs(1) is enough for most" {
	need_mandoc
	local page words
	while IFS=: read -r page words; do
		first_page "$page" | tr -s '\n ' ' ' | grep -qF -- "$words" || { echo "$page: $words"; return 1; }
	done <<-'END'
		rdmark.7:client1$ write_bw -D 2 server1
		rdmark.7:+- 87 % (95 %, 8 slices)
		rdmark.7:! Something other than the network
		rdmark.7:+- The uncertainty of the average
		rdmark.7:limited by What limits the rate
		rdmark.7:-D 10 --repeat 3
		rdmark.7:run --check on both ends
		rdmark.7:rdmark compare
		rdmark.7:exit status: 0 passed, 1 this host
		rdmark-pairs.1:rdmark-pairs sweep --launch srun
		rdmark-pairs.1:rdmark-pairs sweep --launch ssh --hosts
		rdmark-pairs.1:slow nodes: 1
		rdmark-pairs.1:suspects.txt has the nodes to drain
		rdmark-pairs.1:The exit status is 0 if all is well, 6 if
		rdmark-pairs.1:--schedule full measures every pair
	END
}

@test "rdmark-pairs(1) has every verdict and note of judge in its tables" {
	local name page=$BATS_FILE_TMPDIR/rdmark-pairs.1 names=$BATS_TEST_TMPDIR/names
	perl -0777 -ne '
		print "$1\n" while /^FINDING\(\w+, SUSPECT, "\w+",\s*"([^"[]+)/mg;
		print "$1\n" while /^FINDING\(\w+, PAIRS, "(\w+)"/mg' "$top/common/finding/catalogue.def" >"$names"
	(($(wc -l <"$names") > 25))
	while read -r name; do
		sed -n '/^\.TS/,/^\.TE/p' "$page" | grep -q "^$name" || { echo "$name"; return 1; }
	done <"$names"
}

# percent_of NAME [LESS]: a limit of the judge, or what it is less than 1, in percent.
percent_of() { limit_of "$1" "${2:+1 - }v" 100; }
# limit_of NAME [EXPRESSION]: its value, as v in EXPRESSION.
limit_of() {
	local v
	v=$(awk -v name="$1" '$1 == "#define" && $2 == name { print $3 }' "$top/pairs/judge/thresholds.h")
	[[ $v ]] || { echo "no limit $1" >&2; return 1; }
	perl -e 'printf "%.3g\n", eval(shift =~ s/v/shift/er) * shift' "${2:-v}" "$v" "${3:-1}"
}

@test "rdmark-pairs(1) has the limits by which judge decides" {
	local words page
	page=$(tr '\n' ' ' <"$BATS_FILE_TMPDIR/rdmark-pairs.1")
	for words in "lower by $(percent_of LEAST_RATE) % at least" \
		"with $(limit_of TEST_FIRST) references" \
		"with $(limit_of TEST_AGAIN) more" \
		"$(percent_of LOST_HARDLY) % of its runs fail" \
		"less than $(percent_of NETWORK_TAKES) % of what few pairs" \
		"Below $(percent_of DEEP less) %: exit status 6" \
		"less than $(percent_of LEAST_RATE less) % of --expect" \
		"less than $(percent_of PORTS_PART) % of their ports' rate"; do
		[[ $page == *"$words"* ]] || { echo "$words"; return 1; }
	done
}

@test "rdmark-pairs(1): how long every pair takes is what --dry-run prints" {
	local command words
	command=$(sed -n 's/^rdmark-pairs sweep --dry-run/sweep --dry-run/p' "$BATS_FILE_TMPDIR/rdmark-pairs.1" | tr -d "'")
	read -ra words <<<"$command"
	diff <(grep '^nodes: ' "$BATS_FILE_TMPDIR/rdmark-pairs.1") <("$bin/rdmark-pairs" "${words[@]}")
}

@test "rdmark: every command and option of its help is in its page" {
	need_mandoc
	local word
	for word in server list compare --json --within --help --version; do
		rendered rdmark.1 | grep -q -- "^     .*$word" || { echo "the page lacks $word"; return 1; }
	done
	for word in server HOST TEST list compare --json --within; do
		"$bin/rdmark" | grep -q -- "^  rdmark .*$word" || { echo "the help lacks $word"; return 1; }
	done
}

@test "each page is about its program" {
	local program
	for program in $(programs); do
		grep -q "^\.Dt ${program^^} 1$" "$BATS_FILE_TMPDIR/$program.1"
		grep -q "^\.Nm $program$" "$BATS_FILE_TMPDIR/$program.1"
	done
}

# bats test_tags=long
@test "the foot of a page is rdmark and its version, not the system that shows it" {
	need_mandoc
	local page
	for page in "$BATS_FILE_TMPDIR"/*.[157]; do
		[[ $(mandoc -Tascii "$page" | tail -n 1) == "rdmark $version "*" rdmark $version" ]] || { echo "$page"; return 1; }
		cmp "$page" "${bin%/*}/man/man${page##*.}/${page##*/}"
	done
}

@test "man finds the pages where they are built, as README says" {
	need_mandoc
	local build=${bin%/*} page man name seen=0
	grep -qF '`MANPATH=build/man man send_lat`' "$top/README.md"
	cd "${build%/*}"
	for page in "$BATS_FILE_TMPDIR"/*.[157]; do
		name=${page##*/}
		# mandoc's, and the other one.
		for man in mman man; do
			command -v "$man" >/dev/null || continue
			[[ $(MANPATH=${build##*/}/man "$man" -w "${name##*.}" "${name%.*}") == "$build/man/man${page##*.}/$name" ]] ||
				{ echo "$man $name"; return 1; }
			((seen += 1))
		done
	done
	((seen >= 10)) || skip 'neither man nor mman is here'
}

# lint PAGE…: what mandoc says of them. Not what NetBSD wants in pages of its own (-Wstyle); and whether other
# packages' pages are installed is no fault of ours: but a name like those of our pages is one of them.
lint() {
	local page ours
	ours=$(cd "$BATS_FILE_TMPDIR" && printf '%s|' *.[157])
	for page; do
		mandoc -Tlint -Wstyle "$page" 2>&1 || :
	done | grep -v 'mandoc\.db' | awk -v ours="|$ours" '
		match($0, /not found: Xr [^ ]+ [1-9]/) {
			split(substr($0, RSTART, RLENGTH), word)
			if (word[4] !~ /^rdmark|_bw$|_lat$/ || index(ours, "|" word[4] "." word[5] "|"))
				next
		}
		{ print; said = 1 }
		END { exit said }'
}

# bats test_tags=long
@test "mandoc has nothing to say" {
	need_mandoc
	lint "$BATS_FILE_TMPDIR"/*.[157]
}

@test "what mandoc says of a page is found" {
	need_mandoc
	local page=$BATS_FILE_TMPDIR/rdmark-plot.1
	cd "$BATS_TEST_TMPDIR"
	sed 's/^\.Sh EXAMPLES OF USE/.Sh EXAMPLES/' "$page" >order.1
	run ! lint order.1
	[[ $output == *'out of conventional order: Sh EXIT STATUS'* ]]
	sed 's/^\.Xr rdmark 7/.Xr rdmark 5/' "$page" >dangling.1
	run ! lint dangling.1
	[[ $output == *'not found: Xr rdmark 5'* ]]
	sed 's/^\.Xr jq 1/.Xr jp 1/' "$page" >other.1
	lint other.1
}

# bats test_tags=long
@test "the examples come before the options" {
	local page
	for page in "$BATS_FILE_TMPDIR"/*.1; do
		[[ $(grep -E '^\.Sh (DESCRIPTION|EXAMPLES|OPTIONS)' "$page" | tr '\n' ' ') == \
			'.Sh DESCRIPTION .Sh EXAMPLES OF USE .Sh OPTIONS ' ]] || { echo "$page"; return 1; }
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
		done < <(rendered "$program.1" | section 'EXAMPLES OF USE' | sed -n 's/^ *\$ //p')
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

# rows TABLE FILE [BUT]: the first argument of each macro in a table of fields, but of BUT(…): the
# keys; that of QUALITY(…) with the group before it.
rows() {
	sed -n "/struct field $1\[\]/,/^}/p" "$top/$2" | grep -v "^	${3:-none}(" | grep -o '[A-Z_]*("\?[a-z0-9_]*"\?[,)]' |
		sed 's/^QUALITY(/quality_/; s/.*(//; s/[,)]$//' | tr -d '"'
}

# def_keys FILE [WORD]: of the rows in a *.def, which may be of several lines, or of those with WORD.
def_keys() {
	sed ':a; /^[A-Z]*(.*,$/ { N; s/\n */ /; ba }' "$top/$1" | grep '^[A-Z]*(' | grep -e "${2-}" | sed 's/^PERCENTILE([A-Z0-9_]*, \([a-z0-9_]*\).*/latency_\1_us/
		s/^LIMIT([A-Z0-9_]*, \([a-z0-9_]*\), \([a-z]*\).*/latency_\1_\2_us/
		s/^[A-Z]*([^,]*, \([a-z0-9_]*\).*/\1/'
}

# Those of a record are columns of the CSV.
record_columns() {
	def_keys common/proto/record.def
	def_keys common/finding/quality.def | sed 's/^/quality_/'
}

# Those of no group, and the groups themselves.
record_fields() {
	record_columns | sed 's/^quality_.*/quality/' | uniq
}

# source_keys NAME: of that object, in the source. Those of the experiment are the option table's.
source_keys() {
	case $1 in
	document)
		literals json_document common/report/json.c
		literals note_threshold common/session/program.c
		literals tell common/session/prove.c | grep -x prove
		literals add_verdict gdr_bw/show.c | grep -x -e gpu_ends -e verdict -e verdicts
		;;
	error)
		literals message_fault_json common/proto/message.c
		rows error_rows common/proto/message.c
		;;
	experiment)
		local program
		for program in $(programs); do
			"$bin/$program" --json -p 1 --connect-timeout 0 --quiet --flow_label 1,2 localhost 2>/dev/null |
				jq -r '.experiment | keys[]'
		done | sort -u
		;;
	effective)
		def_keys common/report/effective.def
		;;
	end)
		def_keys common/proto/end.def
		literals end_to_json common/proto/end.c
		literals ends_json common/report/report.c
		;;
	result)
		literals varied_json common/report/varied.c
		record_fields
		literals json_row common/report/json.c | grep -vx interrupted
		literals json_result common/report/json.c
		;;
	quality)
		record_columns | sed -n 's/^quality_//p'
		literals add_quality common/report/json.c | grep -vx quality
		;;
	summary)
		literals varied_json common/report/varied.c
		literals repeat_summary common/measure/repeat.c
		literals add_aim common/measure/repeat.c
		sed -n '/_figures\[\] = {/,/;/p' "$top/common/measure/repeat.c" | grep -o '"[a-z0-9_]*"' | tr -d '"'
		;;
	spread) literals spread_json common/measure/repeat.c ;;
	verification)
		rows rows common/proto/verified.c FIRST
		echo first_error
		;;
	first_error) rows rows common/proto/verified.c ROW ;;
	snapshot) literals port_to_json common/proto/snapshot.c | uniq ;;
	port_change) literals change_to_json common/proto/snapshot.c ;;
	cell)
		literals varied_json common/report/varied.c
		literals result_json gdr_bw/show.c
		rows result_rows gdr_bw/show.c
		;;
	verdict)
		literals varied_json common/report/varied.c
		literals verdict_json gdr_bw/show.c
		;;
	gpu_end)
		literals gdr_side_json gdr_bw/meet.c
		rows side_rows gdr_bw/meet.c
		;;
	path) rows rows common/proto/path_json.c ;;
	evidence) rows rows common/proto/evidence.c ;;
	limit) literals explained_limit common/report/explained.c ;;
	prove) literals prove_json common/plan/prove_words.c ;;
	change) literals try_json common/plan/prove_words.c | grep -vx -e bandwidth_gbps -e against_gbps ;;
	proved_window) literals try_json common/plan/prove_words.c | grep -x -e bandwidth_gbps -e against_gbps ;;
	ceilings) literals ceilings_json common/report/explained.c ;;
	finding) { literals finding_to_json common/finding/finding.c; literals checked_to_json common/report/check.c | grep -x port; } | sort -u ;;
	reading) literals evidence_json common/finding/finding.c ;;
	player) { literals player_line pairs/run/run_rows.c; literals run_say_player pairs/run/run_rows.c; } | grep -vx -e gbps -e us | uniq | sort -u ;;
	pair)
		echo client
		literals pair_line pairs/run/run_rows.c | grep -vx -e pair -e us
		literals run_say_pair pairs/run/run_rows.c | grep -vx -e measured -e cut -e failed
		literals put_worth pairs/run/run_rows.c | grep -vx from
		literals put_problem pairs/run/run_rows.c
		echo findings
		;;
	pair_finding) literals put_findings pairs/run/run_rows.c | grep -vx findings ;;
	server)
		literals player_line pairs/run/run_rows.c
		literals run_say_server pairs/run/run_rows.c | grep -vx server
		literals put_problem pairs/run/run_rows.c
		;;
	done)
		literals player_line pairs/run/run_rows.c
		literals run_say_done pairs/run/run_rows.c | grep -vx 'done'
		;;
	judgement) literals judge_json pairs/judge/forms.c | grep -vx -e gbps -e us ;;
	suspect) literals suspect_json pairs/judge/forms.c | grep -vx -e once -e tested ;;
	candidate) literals candidate_json pairs/judge/forms.c | grep -vx -e open -e good -e unclear -e times -e place -e slow ;;
	note)
		literals note_json pairs/judge/forms.c | grep -vx code
		literals finding_to_json common/finding/finding.c | grep -vx -e code -e end -e share
		;;
	level) literals player_json pairs/judge/forms.c ;;
	link) sed -n '/^#define LINK(/,/^$/p' "$top/common/proto/path_json.c" | grep -o 'link, [a-z_]*' | cut -d' ' -f2 ;;
	point) literals begin_point common/report/report.c ;;
	interval)
		literals varied_json common/report/varied.c
		literals interval_json common/report/progress.c | uniq
		;;
	esac | sort
}

@test "every key of the JSON documents is in rdmark-json(5) and in the schema, and the other way round" {
	local objects object schema=$top/build/man/rdmark.schema.json
	objects=$(jq -r '.definitions | keys[]' "$schema")
	(($(wc -l <<<"$objects") == 38))
	for object in $objects; do
		echo "$object:"
		diff <(jq -r ".definitions.$object.properties | keys[]" "$schema" | sort) <(page_keys "$object")
		diff <(source_keys "$object") <(page_keys "$object")
	done
}

# Names in the rows ROW(…) of the table of events.
event_names() {
	sed -n "s/^$1([A-Z_]*, \"\([a-z_]*\)\".*/\1/p" "$top/common/host/port_events.def"
}

@test "every event of a port, and every reason why one is unknown, is in rdmark-json(5) and in the schema" {
	local page=$BATS_FILE_TMPDIR/rdmark-json.5 at=.definitions.snapshot.properties schema=$top/build/man/rdmark.schema.json
	(($(event_names PORT_EVENT | wc -l) > 30))
	diff <(event_names PORT_EVENT) <(jq -r "$at.unchanged.items.enum[]" "$schema")
	diff <(event_names PORT_EVENT) <(sed -n '/^The events:/,/^\.El/s/^\.It //p' "$page")
	diff <(event_names PORT_KNOWN | grep -vx -e exact -e at_least) <(jq -r "$at.unknown.propertyNames.enum[]" "$schema")
	diff <(event_names PORT_KNOWN | grep -vx -e exact -e at_least) \
		<(sed -n '/^Reasons are/,/^\.It/s/^\.Dq \(.*\) :$/\1/p' "$page")
}

@test "every column of the CSV is in rdmark-json(5), in that order" {
	diff <(sed -n '/^\.Sh CSV/,/^\.Sh FILES/{/^test,/,/^\.Ed/p}' "$BATS_FILE_TMPDIR/rdmark-json.5" | tr -d '\n' | sed 's/\.Ed/\n/g') \
		<(csv_columns)
}

csv_columns() {
	echo -n 'test,measured_by'
	def_keys common/proto/record.def COLUMN | sed 's/^/,/' | tr -d '\n'
	sed -n '/define CSV_BEHIND/,/"$/p' "$top/common/report/csv.c" | grep -o '".*"' | tr -d '"\n'
	echo
}

@test "a row of a field, with the text above it, is in rdmark-json(5), in the schema and in the CSV's columns" {
	cd "$top"
	cp --parents man/json man/rdmark-json.keys man/rdmark.schema.json.in common/*/*.def common/report/csv.c "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	sed -i '/^PERCENTILE(P90,/a /* 95 % are no larger than `this`. */\nPERCENTILE(P95, p95, 95, COLUMN)' common/proto/record.def
	[[ $(man/json page) == *$'.It Li latency_p95_us\n95 % are no larger than\n.Li this .\n.It Li latency_p99_us\n'* ]]
	{ echo '{' && man/json keys result | sed '$s/,$//' && echo '}'; } |
		jq -e '.properties.latency_p95_us == {type: ["number", "null"], exclusiveMinimum: 0}'
	[[ $(man/json csv | tr -d '\n') == *,latency_p90_us,latency_p95_us,latency_p99_us,* ]]
}

@test "a row of an option of the experiment, with its help, is in rdmark-json(5) and in the schema" {
	cd "$top"
	cp --parents man/json man/rdmark-json.keys man/rdmark.schema.json.in common/*/*.def common/cli/options_table.c common/plan/test.h "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	sed -i '/^\tEXPERIMENT(PATH, "sl"/i \
\tEXPERIMENT(PATH, "of-two", 0, SIZE, of_two, 2, UINT64_C(1) << 10, "BYTES",\
\t\t"a row, "\
\t\t"of three lines", OURS, CONNS),\
\tEXPERIMENT(PATH, "of-few", '"'f'"', NUMBER, of_few, 0, 0x1f, "N", "fewer", LAT, .own = true),' common/cli/options_table.c
	sed -i 's/\.outs = EXPERIMENT_AUTO/&, .of_few = EXPERIMENT_AUTO/' common/plan/test.h
	[[ $(man/json page) == *$'.It Li of_two_bytes\n.Fl -of-two :\na row, of three lines.\n.It Li of_few\n.Fl f :\nfewer.\n.It Li sl\n'* ]]
	{ echo '{' && man/json keys experiment | sed '$s/,$//' && echo '}'; } |
		jq -e '(.required | index("of_two_bytes") and (index("of_few") | not)) and
			.properties.of_two_bytes == {type: "integer", minimum: 2, maximum: 1024} and
			.properties.of_few == {type: ["integer", "null"], minimum: 0, maximum: 31}'
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
