# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # what it sets is for tests/bench/native, and the other way round
#
# What tests/bench/native counts and times, and how the tools and the ideal loops are told.

# A case: its name, the option for its length, with a short and a long one for counts and one for the
# clock (0: it has no times); its arguments. Lengths are multiples of 32 and of 100, of lists and
# signals: what is left over costs more.
readonly cases=(
	'one -n 20000 260000 4000000' # so that what is done once a run hardly counts
	'default -n 5000 20000 20000'	# perftest measures the peak up to 20000 messages
	'inline -n 20000 60000 4000000 -I 8'
	'qps16 -n 1600 33600 249600 -q 16'
	'list32 -n 19200 1219200 4000000 -l 32'
	'qps16_list32 -n 1600 161600 249600 -q 16 -l 32'
	'qps1024 -n 800 1600 4000 -q 1024'
	'duration -D 1 2 1 -f 0'
	'counters -n 20000 820000 4000000'	# the port has counters: see mlx5_tree
	'list8 -n 19200 1619200 0 -l 8'
	'each -n 19200 219200 0 -Q 1'
	'footprint -n 19200 219200 0 --footprint 1m'
	# A rate beyond every machine's: all messages are late.
	'rate -n 19200 219200 0 --rate_limit 100000000p'
	'burst32 -n 19200 419200 0 --rate_limit 100000000p --burst_size 32'
	'rate_list32 -n 19200 3219200 0 --rate_limit 100000000p -l 32'
	'receive1 -n 19200 219200 0 --recv_post_list 1'
	'xrc -n 19200 219200 0 -c XRC'	# beside `one`
	'srd -n 19200 219200 0 -c SRD'	# beside `each`: an EFA completes each
)

# What the ideal loop is told for the client of a case, if it has one of its own.
declare -rA ideal_flags=([one]='' [inline]=-i [list32]='-l 32' [qps16_list32]='-q 16 -l 32' [list8]='-l 8' [each]=-1 [footprint]='-f 1048576'
	[rate]=-p [burst32]='' [rate_list32]='-p -l 32')

# has_case PROGRAM CASE: of READs and atomics the loop is that of WRITEs: what differs is how they are
# built. A case without times has one program: what it is about does not depend on it.
has_case() {
	local words
	case_words "$2"
	[[ $2 != receive1 ]] || { [[ $1 == send_bw ]]; return; }
	[[ $2 == counters || ${words[4]} == 0 ]] || { [[ $1 == @(write|send)_bw || $2 == @(one|list32|qps1024) ]]; return; }
	[[ $1 == write_bw ]]
}

# case_words NAME: sets words to its line.
case_words() {
	local line
	for line in "${cases[@]}"; do
		read -ra words <<<"$line"
		[[ ${words[0]} != "$1" ]] || return 0
	done
	die "no case $1"
}

# case_of NAME: sets length_option, short, long, timed and arguments.
case_of() {
	local words
	case_words "$1"
	length_option=${words[1]} short=${words[2]} long=${words[3]} timed=${words[4]}
	arguments=("${words[@]:5}")
}

# flags_of TOOL CASE: sets flags to what makes it that tool.
flags_of() {
	flags=()
	[[ $1 != perftest* || $2 == default ]] || flags+=(-N)
	case $1 in
	perftest_send) flags+=(--use_old_post_send) ;;
	rdmark_send | rdmark_wr) [[ ! $has_apis ]] || flags+=(--post-api "${1#rdmark_}") ;;
	esac
}

# has_ideal PROGRAM CASE TOOL: what only differs in when is posted is the same by either API.
has_ideal() {
	[[ $1 == send_bw_server ]] || { has_case "$1" "$2" && [[ ${ideal_flags[$2]+set} && ($3 == ideal_send || $2 == @(one|inline|list32|qps16_list32)) ]]; }
}

# ideal_of TOOL PROGRAM CASE: sets ideal to its command line.
ideal_of() {
	local flags=()
	case $2 in
	send_bw_server)
		flags=(recv)
		[[ $1 == ideal_send ]] || flags=(recv_ex)
		[[ $3 != receive1 ]] || flags+=(-l 1)
		;;
	*)
		read -ra flags <<<"${ideal_flags[$3]}"
		flags+=("${1#ideal_}")
		[[ $2 == send_bw ]] || flags+=(-o "${2%_bw}")
		;;
	esac
	ideal=("$tests/bench/ideal" "${flags[@]}")
}
