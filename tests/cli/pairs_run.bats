#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2034,SC2059,SC2154 # what the completion reads and sets; formats; what bats sets
#
# rdmark-pairs run without a device: its command line, what it refuses and why, and the completion.

bats_require_minimum_version 1.5.0

load ../lib/pairs

setup() {
	enter_folder
	unset SLURM_STEP_NODELIST SLURM_PROCID SLURMD_NODENAME OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK JOB_COMPLETION_INDEX
	printf 'a\nb\n' >hosts
	later=$((EPOCHSECONDS + 3600)) # no test is that late
}

# refused TEXT OPTION…: with exit status 2, one line that has TEXT, and nothing on standard output.
refused() {
	run -2 --separate-stderr timeout 20 "$bin/rdmark-pairs" run "${@:2}"
	[[ $stderr == *"$1"* && $stderr != *$'\n'* && ! $output ]] || { echo "$stderr"; return 1; }
}

@test "what is missing or makes no sense is refused, with the reason" {
	refused '--start is missing'
	refused "invalid value 'soon' for --start" --start soon
	refused 'is years away' --start 5 --hosts hosts --self a --auth none
	refused 's from now' --start $((EPOCHSECONDS + 200000)) --hosts hosts --self a --auth none
	refused 'was over' --start $((EPOCHSECONDS - 200)) --hosts hosts --self a --auth none
	refused '--title is longer than 200 bytes. Fix: shorten it' --start "$later" --hosts hosts --self a --auth none --title "$(printf '%0201d' 0)"
	local title
	refused '--title needs a value' --start "$later" --hosts hosts --self a --auth none --title ''
	for title in $'two\nlines' $'\xe2\x80\xaeb' $'\xff\xfe'; do
		refused '--title has control characters, or bytes that are no UTF-8. Fix: give plain text' --start "$later" --hosts hosts --self a --auth none --title "$title"
	done
	refused 'the hosts of the run are not known' --start "$later"
	refused 'is none of the 2 hosts' --start "$later" --hosts hosts --self c
	refused "'--bogus' is not an option" --bogus
	refused '--slot needs a value' --slot
	refused 'option --one-way takes no value. Fix: give --one-way alone' --one-way=1
	refused "invalid value '65536' for --port" --port 65536
	refused '--schedule fast' --start "$later" --hosts hosts --self a --schedule fast
	refused '--hosts nowhere is neither a list' --start "$later" --hosts nowhere
	refused "'ls' is no program that measures" --start "$later" -- ls
	refused "'--nothing' after --" --start "$later" -- write_bw --nothing
	refused 'rdmark-pairs sets this option itself' --start "$later" -- write_bw -p 1
	refused "'--prove' after --" --start "$later" -- write_bw --prove
	refused 'reg_lat measures one host, no pair' --start "$later" -- reg_lat -D 1
	local threshold
	for threshold in --min-bw=1 --limit_bw=1 --min-msgrate=1 --limit_msgrate=1 --max-lat=9; do
		refused 'what each pair must reach is --expect of judge' --start "$later" -- send_bw "$threshold"
	done
	refused 'use full, quick, incast=SENDERS or file=FILE; for groups, judge --groups FILE' --start "$later" --hosts hosts --self a --schedule ring=2
	printf '%s\n' a b c d e >five
	refused 'use a number from 1 to 4' --start "$later" --hosts five --self a --schedule incast=5
	refused 'the length of a slot is not known' --start "$later" --hosts hosts --self a -- write_bw -n 5
	refused '--auth is missing. Everybody could use' --start "$later" --hosts hosts --self a
	refused 'a slot of 1 s for 2 of 500 ms' --start "$later" --hosts hosts --self a --slot 1
}

@test "a dry run says pairs, rounds and duration" {
	run -0 "$bin/rdmark-pairs" run --dry-run --hosts 'n[1-9]' --schedule full
	[[ $output == 'nodes: 9, pairs: 36, rounds: 9 of 1.8 s, all: 16.2 s' ]]
	run -0 "$bin/rdmark-pairs" run --dry-run --hosts 'n[1-9]' --schedule full -- write_bw --omit 2 -D 0.5
	[[ $output == 'nodes: 9, pairs: 36, rounds: 9 of 5.8 s, all: 52.2 s' ]]
	run -0 "$bin/rdmark-pairs" run --dry-run --hosts 'n[1-9]' --schedule full --for 5 --one-way -- write_bw -D 0.1
	[[ $output == 'nodes: 9, pairs: 36, rounds: 9 of 500 ms, all: 4.5 s' ]]
	run -0 "$bin/rdmark-pairs" run --dry-run --hosts 'n[1-9]' --schedule full --for 1.4 --one-way -- write_bw -D 0.1
	[[ $output == 'nodes: 9, pairs: 8, rounds: 2 of 500 ms, all: 1 s' ]]
	SLURM_STEP_NODELIST='n[1-4]' run -0 "$bin/rdmark-pairs" run --dry-run --schedule full --at-once 1
	[[ $output == 'nodes: 4, pairs: 6, rounds: 6 of '* ]]
	printf '%s\n' '0 n1 n2 test' '0 n3 n4 control' '1 n3 n1 test' >plan
	run -0 "$bin/rdmark-pairs" run --dry-run --hosts 'n[1-4]' --plan plan --at-once 1
	[[ $output == 'nodes: 4, pairs: 3, rounds: 2 of 1.8 s, all: 3.6 s' ]]
	refused 'the hosts of the run are not known' --dry-run
	refused 'parts of an incast' --dry-run --hosts 'n[1-9]' --schedule incast=2 --at-once 3
}

@test "a plan that breaks its rules, is cut or is none is refused, with the reason and what to do" {
	plan() {
		printf "$@" >plan
		refused "$said" --start "$later" --hosts 'n[1-4]' --self n1 --auth none --plan plan
		[[ $stderr == *' Fix: '* ]]
	}
	said='plan: n1 has two partners in round 0. Two runs on a host would slow each other down.'
	plan '0 n1 n2 test\n0 n3 n1 control\n'
	said='line 2 of plan is not SLOT FROM TO PART'
	plan '0 n1 n2 test\n0 n3 n4 con'
	plan '0 n1 n2 test\n0 n3'
	plan '0 n1 n2 test\n4294967296 n3 n4 test\n'
	plan '0 n1 n2 test\n16000000 n3 n4 test\n'
	said="'n9' is none of the 4 hosts"
	plan '0 n1 n9 test\n'
	said='plan: the plan is empty'
	plan ''
	refused "'--only' is not an option of rdmark-pairs run. Fix: judge --plan FILE plans" --start "$later" --only plan
	run "$bin/rdmark-pairs" sweep --launch ssh -H n1
	[[ $status == 2 && $output == *"'-H' is not an option of rdmark-pairs sweep. Fix: "* ]]
	run "$bin/rdmark-pairs" sweep --launch ssh --hosts n1 --auth none
	[[ $status == 2 && $output == *'--hosts n1 is neither a list, such as a,b[1-9], nor a file. Fix: give a list of two hosts'* ]]
}

@test "any bytes in what launchers set are refused, or read" {
	local bytes
	for bytes in 'n[1-' $'\xff\xfe' '[[[[]]]]' "$(printf 'n%.0s' {1..5000})" 'n[1-99999999]' '0x1' '-1' ',,,,'; do
		SLURM_STEP_NODELIST=$bytes refused '' --start "$later"
		SLURM_STEP_NODELIST='n[1-2]' SLURM_PROCID=$bytes refused 'is none of the 2 hosts' --start "$later"
	done
}

@test "a line is short enough for launchers to keep it whole, whatever is in it" {
	local options=() i
	for ((i = 0; i < 50; i++)); do options+=(-n 0000000000009); done
	run -0 --separate-stderr timeout 60 "$bin/rdmark-pairs" run --start "$EPOCHSECONDS" --hosts hosts --self a --auth none --slot 2 --title 'a b' -- write_bw -n 20 "${options[@]}"
	[[ $stderr == *'a began '*' s late and may miss slots. Fix: give a later --start '* ]]
	[[ ${lines[0]} == '{"kind":"player"'* && ${lines[-1]} == '{"kind":"done"'* ]]
	for i in "${lines[@]}"; do
		((${#i} <= 1000)) || { echo "${#i}: $i"; return 1; }
	done
	[[ $(jq -s '.[0].title' <<<"$output") == '"a b"' ]]
	[[ $(jq -s '.[0] | .options[:2] == ["-n", "20"] and (.options | length > 10)' <<<"$output") == true ]]
}

@test "the help fits 80 columns, and the completion offers its options" {
	local COMP_LINE='rdmark-pairs --' COMP_POINT=15 COMPREPLY=() command
	for command in sweep run judge; do
		run -0 "$bin/rdmark-pairs" $command --help
		run ! grep -E '.{81}' <<<"$output"
	done
	for command in sweep run judge; do "$bin/rdmark-pairs" $command --help; done | grep -o '^  --[a-z-]*' | tr -d ' ' >help
	printf '%s\n' --help --version >>help
	# shellcheck source=/dev/null
	. "${bin%/*}/completions/rdmark"
	_rdmark_pairs rdmark-pairs
	diff <(sort -u help) <(printf '%s\n' "${COMPREPLY[@]}" | sed 's/[ =]$//' | sort -u)
}
