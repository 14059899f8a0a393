#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# What a message costs the programs by themselves, as `make bench` counts it (tests/bench/native):
# instructions, of which there are as many on a busy machine.

load ../lib/rdmark

setup_file() {
	[[ ! ${RDMARK_SANITIZED-} ]] || { skip_file 'sanitizers count, too'; return; }
	type -P valgrind >/dev/null || { skip_file 'no valgrind'; return; }
	local dir=$BATS_FILE_TMPDIR tests=${RDMARK_PRELOAD-} counts
	tests=${tests%/*}
	[[ -x $tests/bench/ideal ]] || { skip_file 'no ideal loop beside the stand-in'; return; }
	counts=('*.ideal*' '*.rdmark*' 'cost.*' 'ir.*')
	! type -P ib_send_bw >/dev/null || counts+=('*.one.perftest_send')
	# The ideal loops read the TSC, whatever the kernel of this machine says of it.
	export RDMARK_SYSFS=$dir/sysfs
	mkdir -p "$RDMARK_SYSFS/devices/system/clocksource/clocksource0"
	echo tsc >"$RDMARK_SYSFS/devices/system/clocksource/clocksource0/current_clocksource"
	"$lib/../bench/native" "$RDMARK_BIN" "$tests" 0 "$dir" "${counts[@]}" 2>"$dir/err" 3>&- || { cat "$dir/err"; return 1; }
}

# at_most LIMIT THIS [THAT]: THIS has at most LIMIT instructions, or LIMIT times those of THAT. Both are
# "MEASUREMENT TOOL".
at_most() {
	awk -v limit="$1" -v this="$2" -v that="${3-one}" '
		{ count[$1 " " $2] = $4 }
		END {
			count["one"] = 1
			printf "%s: %s, %s: %s, wanted at most %s times that\n", this, count[this], that, count[that], limit
			exit !(count[this] > 0 && count[this] <= limit * count[that])
		}' "$BATS_FILE_TMPDIR/samples"
}

# Sets apis to those that the programs can be made to use.
which_apis() {
	apis=(send)
	[[ $("$RDMARK_BIN/write_bw" --help=all) != *--post-api* ]] || apis+=(wr)
}

# verdicts FILE: of the samples in FILE, what `make bench` says of instructions. Not of those of write_lat from
# message to message: it differs by two of 16 where in its spin a message is seen.
verdicts() (
	cd "$lib/../.." || exit
	awk -v json=/dev/null -f tests/bench/stats.awk -f tests/bench/native.awk "$BATS_FILE_TMPDIR/facts" "$1" |
		grep -E '^(PASS|below|not measured) .*(: instructions / ideal|(send|read|atomic)_lat( -e)?: .* / ideal|instructions a sample) '
)

@test "no path costs more than its limit, and what costs 10 % more is above it" {
	local samples=$BATS_FILE_TMPDIR/samples rows
	verdicts "$samples" | tee before
	# Those of the file; latency tests' from message to message, and in all; of histogram and peak.
	rows=$(($(grep -vc '^#' "$lib/../bench/limits") + 3 + 4 + 2))
	(($(grep -c ^PASS before) == rows && $(wc -l <before) == rows))
	awk '$2 ~ /^rdmark/ { $4 *= 1.1 } { print }' "$samples" >dearer
	verdicts "$PWD/dearer" >after
	(($(grep -c ^below after) == rows)) || fail "10 % more is within a limit: $(grep -v ^below after)"
}

@test "a message costs at most 1.15 times as much with 1024 QPs as with one" {
	local program api apis
	which_apis
	for program in "${bandwidth_programs[@]}" read_bw atomic_bw; do
		for api in "${apis[@]}"; do
			at_most 1.15 "ir.$program.qps1024 rdmark_$api" "ir.$program.one rdmark_$api"
		done
	done
}

@test "a message costs at most 0.35 times what it costs perftest, 0.4 times where it is received" {
	type -P ib_send_bw >/dev/null || skip 'no perftest'
	at_most 0.35 'ir.write_bw.one rdmark_send' 'ir.write_bw.one perftest_send'
	at_most 0.35 'ir.send_bw.one rdmark_send' 'ir.send_bw.one perftest_send'
	at_most 0.4 'ir.send_bw_server.one rdmark_send' 'ir.send_bw_server.one perftest_send'
	at_most 0.4 'ir.send_bw_server.qps1024 rdmark_send' 'ir.send_bw_server.one perftest_send'
}
