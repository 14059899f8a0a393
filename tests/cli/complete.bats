#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2016,SC2034,SC2154 # $ of another shell; what the completion reads and sets
#
# Completion: what is offered, called as bash calls it; and the TAB key on a terminal, in bash with
# and without the package bash-completion, and in zsh.

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	bin=$(cd "${RDMARK_BIN:-$top/build/bin}" && pwd)
	completion=${bin%/*}/completions/rdmark
	cd "$BATS_TEST_TMPDIR" || return
	# shellcheck source=/dev/null
	. "$completion"
	mkdir -p sys/class/infiniband/{mlx5_0,mlx5_1,rxe0} sys/devices/system/node/node{0,1} nvidia/0000:{17,c1}:00.0
	export RDMARK_SYSFS=$PWD/sys HOSTFILE=$PWD/hosts
	_rdmark_nvidia=$PWD/nvidia
	printf '127.0.0.1 localhost\n10.0.0.1 node1\n10.0.0.2 node2\n' >hosts
}

# offers LINE [REPLY…]: what is offered at the end of LINE. A reply is complete with its blank, if
# it has one.
offers() {
	local reply
	COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
	_rdmark "${1%% *}"
	diff <(printf '%s|\n' "${@:2}" | grep -vx '|' | sort) <(printf '%s|\n' "${COMPREPLY[@]}" | grep -vx '|' | sort) ||
		{ echo "of: $1"; return 1; }
}

# replies LINE: what is offered, a line each, without blank or "=".
replies() {
	COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
	_rdmark "${1%% *}"
	printf '%s\n' "${COMPREPLY[@]}" | sed 's/[ =]$//' | sort -u
}

programs() {
	local program
	for program in "$top"/man/*.1.in; do
		program=${program##*/}
		[[ ! -d $top/${program%.1.in} || $program == rdmark.1.in ]] || echo "${program%.1.in}"
	done
}

# bats test_tags=long
@test "the options offered are those of --help=all, letters too, for every program" {
	local program name
	for program in $(programs); do
		"$bin/$program" --help=all >help
		diff <(sed -n 's/^  \(-., \|    \)\(--[a-zA-Z0-9_-]*\).*/\2/p' help | sort) <(replies "$program --")
		diff <(sed -n 's/^  \(-.\), --.*/\1/p' help | sort) <(replies "$program -" | grep -x -- '-.')
		diff <(replies "$program --") <(replies "/usr/bin/ib_$program --")
	done
}

@test "the words of a choice are those of --help, behind = and a blank" {
	local option words choices=0
	while read -r option words; do
		read -ra words <<<"${words//|/ }"
		offers "gdr_bw $option=" "${words[@]/%/ }"
		offers "gdr_bw -D 3 $option " "${words[@]/%/ }"
		((choices += 1))
	done < <("$bin/gdr_bw" --help=all | sed -n 's/^.*\(--[a-z-]*\)=<\([A-Za-z_]*|[A-Za-z_|]*\)>.*/\1 \2/p' | grep -v -- --numa)
	((choices >= 4))
	offers 'send_bw -c ' 'RC ' 'SRD ' 'UC ' 'UD ' 'XRC '
	offers 'send_bw -aNc U' 'UC ' 'UD '
	offers 'send_bw --gpu-path=d' 'dmabuf ' 'data_direct '
	offers 'send_bw --gpu-path x'
	offers 'send_bw --numa ' 'auto ' 'none ' '0 ' '1 '
}

@test "a value is asked for where there must be one" {
	offers 'send_bw --siz' '--size='
	offers 'send_bw --all' '--all '
	offers 'send_bw --auth' '--auth='
	offers 'send_bw --auth=' 'none ' 'key:'
	offers 'send_bw --auth=k' 'key:'
	offers 'send_bw --js' '--json ' '--json=' '--json-lines='
	offers 'send_bw --wind'
	offers 'gdr_bw --wind' '--windows='
	offers 'send_bw --size '
	offers 'send_bw --size=6'
}

@test "devices, GPUs, files" {
	offers 'send_bw -d ' 'mlx5_0 ' 'mlx5_1 ' 'rxe0 '
	offers 'send_bw --ib-dev=mlx' 'mlx5_0 ' 'mlx5_1 '
	offers 'send_bw --gpu ' '0 ' '1 '
	offers 'send_bw --use_cuda=' '0 ' '1 '
	offers 'send_bw --use_cuda ' '0 ' '1 ' 'localhost ' 'node1 ' 'node2 '
	# readline replaces what is behind the last : only
	offers 'send_bw --use_cuda_bus_id ' '0000:17:00.0 ' '0000:c1:00.0 '
	offers 'send_bw --use_cuda_bus_id 0000:c' 'c1:00.0 '
	COMP_WORDBREAKS=${COMP_WORDBREAKS//[:=]/} offers 'send_bw --use_cuda_bus_id=0000:c' '--use_cuda_bus_id=0000:c1:00.0 '
	: >run.json
	offers 'send_bw --json=ru' run.json
	offers 'send_bw --out_json_file ru' run.json
	offers 'send_bw --auth=key:ru' run.json
	rm -r sys/class nvidia
	nvidia-smi() { return 9; }
	offers 'send_bw --gpu='
	offers 'send_bw -d '
}

@test "GPUs by nvidia-smi where /proc does not have them" {
	rm -r nvidia
	printf '#!/bin/sh\necho "GPU 0: NVIDIA H100 (UUID: GPU-1)"\necho "GPU 1: NVIDIA H100 (UUID: GPU-2)"\n' >nvidia-smi
	chmod +x nvidia-smi
	PATH=$PWD:$PATH offers 'send_bw --gpu=' '0 ' '1 '
	printf '#!/bin/sh\necho "no devices"; exit 1\n' >nvidia-smi
	PATH=$PWD:$PATH offers 'send_bw --gpu='
}

@test "one host, where none is yet" {
	offers 'send_bw ' 'localhost ' 'node1 ' 'node2 '
	offers 'send_bw -s 8 -a no' 'node1 ' 'node2 '
	offers 'send_bw node1 no'
	offers 'send_bw node1 -d mlx5_1 no'
	offers 'send_bw --use_cuda 0 no' 'node1 ' 'node2 '
	offers 'send_bw --use_cuda node1 no'
	offers 'send_bw --json no' 'node1 ' 'node2 '
	offers 'send_bw -- no' 'node1 ' 'node2 '
	offers 'send_bw -- --al'
	COMP_LINE='X=1 send_bw no' && COMP_POINT=${#COMP_LINE} && _rdmark send_bw
	[[ ${COMPREPLY[*]} == 'node1  node2 ' ]]
}

# offered LINE [REPLY…]: by rdmark's own completion.
offered() {
	COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
	_rdmark_front rdmark
	diff <(printf '%s|\n' "${@:2}" | grep -vx '|' | sort) <(printf '%s|\n' "${COMPREPLY[@]}" | grep -vx '|' | sort) ||
		{ echo "of: $1"; return 1; }
}

@test "rdmark: commands, tests and hosts, then what follows them" {
	touch run.json
	offered 'rdmark se' 'server ' 'self ' 'send_lat ' 'send_bw '
	offered 'rdmark n' 'node1 ' 'node2 '
	offered 'rdmark list ' '--json '
	offered 'rdmark check --s' '--self '
	offered 'rdmark check -d rx' 'rxe0 '
	offered 'rdmark p' 'pairs ' 'plot '
	offered 'rdmark compare ru' run.json
	offered 'rdmark compare run.json --w' '--within='
	offered 'rdmark send_bw -d mlx' 'mlx5_0 ' 'mlx5_1 '
	offered 'rdmark send_bw no' 'node1 ' 'node2 '
	offered 'rdmark node1 -d rx' 'rxe0 '
	offered 'rdmark node1 no'
	offered 'rdmark server --max-q' '--max-qps='
	diff <(COMP_LINE='rdmark gdr_bw --' COMP_POINT=16 && _rdmark_front rdmark && printf '%s\n' "${COMPREPLY[@]}") \
		<(COMP_LINE='gdr_bw --' COMP_POINT=9 && _rdmark gdr_bw && printf '%s\n' "${COMPREPLY[@]}")
}

@test "a table that is not what it was is refused" {
	echo 'static const struct option_row table[] = { {"size", 115}, };' >table
	run "$top/packaging/completion/gen" "$top/packaging/completion/rdmark.in" send_bw <table
	((status == 1))
	[[ $output == *'is not what it was'* ]]
	run "$top/packaging/completion/gen" "$top/packaging/completion/rdmark.in" send_bw </dev/null
	((status == 1))
}

# For a terminal: the programs show their arguments.
shown='for p in send_bw gdr_bw ib_send_bw; do eval "$p() { printf \"<%s>\" \"\$@\"; echo; }"; done'

need_terminal() {
	command -v python3 >/dev/null || skip 'python3 is not here (make deps)'
}

# typed KEYS ARGUMENTS SETUP SHELL…: typed into SHELL, they end in those arguments.
typed() {
	local seen
	seen=$("$top/tests/lib/tab" "$3; $shown" "$1" "${@:4}" 2>&1) || { echo "$seen"; return 1; }
	[[ $'\n'$seen == *$'\n'"$2" ]] || { printf 'not %s:\n%s\n' "$2" "$seen"; return 1; }
}

@test "the TAB key in bash" {
	need_terminal
	local in=(". '$completion'; _rdmark_nvidia='$PWD/nvidia'" bash --norc --noprofile -i)
	: >run.json
	typed 'send_bw --gpu-p\tdm\t --numa=no\t --report_\t-c R\t node1' '<--gpu-path=dmabuf><--numa=none><--report_gbits><-c><RC><node1>' "${in[@]}"
	typed 'gdr_bw -d rx\t--use_cuda_bus_id 0000:c\t--wind\t5 --json=ru\tloc\t' \
		'<-d><rxe0><--use_cuda_bus_id><0000:c1:00.0><--windows=5><--json=run.json><localhost>' "${in[@]}"
}

@test "the TAB key in bash with bash-completion, which finds the file by the program's name" {
	need_terminal
	local package=/usr/share/bash-completion/bash_completion
	[[ -r $package ]] || skip 'bash-completion is not here (make deps)'
	mkdir -p user/completions
	cp "$completion" user/completions/
	ln -s rdmark user/completions/send_bw
	ln -s rdmark user/completions/ib_send_bw
	export BASH_COMPLETION_USER_DIR=$PWD/user
	typed 'send_bw --gpu-path dm\t--persis\t loc\t' '<--gpu-path><dmabuf><--persistent><localhost>' ". $package" bash --norc --noprofile -i
	typed 'ib_send_bw --ib-dev=rx\t--noP\t' '<--ib-dev=rxe0><--noPeak>' ". $package" bash --norc --noprofile -i
}

@test "the TAB key in zsh, as rdmark(7) says" {
	need_terminal
	command -v zsh >/dev/null || skip 'zsh is not here (make deps)'
	local lines
	lines=$(sed -n '/^\.Sh COMPLETION/,/^\.Ed/p' "$top/man/rdmark.7.in" | sed '1,/^\.Bd/d; /^\.Ed/d')
	[[ $lines == *bashcompinit*/completions/rdmark ]]
	lines=${lines/compinit &&/compinit -D -u &&} # without a file in the home directory, nor a question
	lines=${lines/\/usr\/share\/bash-completion\/completions\/rdmark/"'$completion'"}
	: >run.json
	typed 'send_bw --gpu-p\tdm\t --numa=no\t --report_\t -c R\t -d rx\t --json=ru\t' \
		'<--gpu-path=dmabuf><--numa=none><--report_gbits><-c><RC><-d><rxe0><--json=run.json>' \
		"${lines//$'\n'/; }" zsh -f -o nopromptsp -i
}
