#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# Every option that perftest has for these four tests is either taken or named in the error, with
# what to use instead: nobody who comes from there is left with "unknown option". The list is
# perftest_options.txt, and each of its lines goes through the real parser in every way to write it.

load ../lib/rdmark

# each WHAT FUNCTION: calls FUNCTION NAME LETTER VALUE PROGRAM TEXT for the lines that say WHAT.
each() {
	local name letter value among what text program lines=0
	while read -r name letter value among what text; do
		[[ $name && $name != \#* && $what == "$1" ]] || continue
		for program in ${among//,/ }; do
			value=${value/@host/127.0.0.1}
			value=${value/@gid/3}
			"$2" "$name" "$letter" "${value/@device/sim0}" "$program" "$text"
			((lines += 1))
		done
	done <"$BATS_TEST_DIRNAME/perftest_options.txt"
	((lines)) || fail "no line says $1"
}

# spellings NAME LETTER VALUE: into the array lines, an option for each.
spellings() {
	lines=("--$1")
	[[ $3 == - ]] || lines=("--$1=$3" "--$1 $3")
	[[ $2 != - ]] || return 0
	if [[ $3 == - ]]; then
		lines+=("-$2" "-F$2" "-$2 -F")
	else
		lines+=("-$2 $3" "-$2$3" "-F$2 $3" "-F$2$3")
	fi
}

# said PROGRAM WORD…: sets status, out and err to what it said; cli PROGRAM WORD…: the same under that name.
said() {
	status=0
	"$RDMARK_BIN/$1" "${@:2}" >out 2>err </dev/null || status=$?
}

cli() {
	status[cli]=0
	LD_PRELOAD=${RDMARK_PRELOAD-} "$RDMARK_BIN/$1" "${@:2}" >cli.out 2>cli.err </dev/null || status[cli]=$?
}

taken() {
	local line words lines
	spellings "$1" "$2" "$3"
	for line in "${lines[@]}"; do
		read -ra words <<<"$line"
		[[ $1 != use_@(*_dmabuf|data_direct|cuda_pcie_mapping) ]] || words+=(--use_cuda) # it is about a GPU
		[[ $1 != use_cuda_pcie_mapping ]] || words+=(--use_data_direct)
		said "$4" host "${words[@]}" --help
		[[ $status == 0 && ! -s err ]] || fail "$4 host $line: $(<err)"
	done
}

needless() {
	taken "$@"
	said "$4" --help=all
	grep -q -- "--$1[= ].*ignored: " out || fail "$1: --help does not say why it is needless"
}

refused() {
	local line words lines
	spellings "$1" "$2" "$3"
	for line in "${lines[@]}"; do
		read -ra words <<<"$line"
		said "$4" "${words[@]}"
		[[ $status == 2 && ! -s out ]] || fail "$4 $line: status $status"
		says err "--$1 " perftest 'Fix: ' "$5"
	done
}

@test "what is supported is taken: with = and blank, by letter, attached, in a bundle, behind the host" {
	each supported taken
}

@test "what is accepted is taken, and --help says why it is needless" {
	each accepted needless
}

@test "what is refused is named, with what to use instead, however it is written" {
	each refused refused
}

# listed START: the list has a line that begins so.
list=$'\n'$(<"${BATS_TEST_FILENAME%.bats}.txt")
listed() { [[ $list == *$'\n'"$1"* ]]; }

# The names in the rows of the table of advice: all texts of a row but the last one.
advised() {
	sed -n '/^} advices/,/^};/p' "$root/common/cli/options_refuse.c" | tr -d '\n\t' | sed 's/},/\n/g' |
		sed -n 's/^.*{"\(.*\)", *"[^"]*"$/\1/p' | sed 's/" *"//g'
}

@test "every option that the table refuses is in the list" {
	local name unlisted='' names=0
	while read -r name; do
		names=$((names + 1))
		listed "$name " || unlisted+=" $name"
	done < <(advised | tr ' ' '\n' | sed 's/=.*//; /^$/d')
	((names > 60)) || fail "only $names"
	[[ ! $unlisted ]] || fail "unlisted:$unlisted"
}

@test "every option of the perftest that is installed here is in the list" {
	local program name unlisted=''
	command -v ib_send_bw >/dev/null || skip 'perftest is not here'
	for program in "${measuring_programs[@]}"; do
		while read -r name; do
			# 6.06 calls --comm_rdma_cm so in its help; its parser does not.
			[[ $name == com_rdma_cm ]] || listed "${name/report-histogram/report-histogrm} " || unlisted+=" $name"
		done < <("ib_$program" --help 2>&1 | sed -n 's/^[ \t]*\(-., \)\?--\([a-zA-Z_0-9-]*\).*/\2/p' | sort -u)
	done
	[[ ! $unlisted ]] || fail "unlisted:$unlisted"
}

@test "perftest's names can be shortened, and no others: what follows might be a host" {
	local program name short said names=0
	for program in send_bw send_lat gdr_bw; do
		while read -r name; do
			short=${name%?}
			said "$program" "--$short" h
			contents err said
			if listed "${name/report-histogram/report-histogrm} "; then
				[[ $said != *'unknown option'* ]] || fail "$program --$short: $said"
			elif ! listed "$short"; then
				names=$((names + 1))
				[[ $status == 2 && $said == *"unknown option --$short. Fix: did you mean --$name"[?,]* ]] ||
					fail "$program --$short h: $said"
			fi
		done < <("$RDMARK_BIN/$program" --help=all | sed -n 's/^[ \t]*\(-., \)\?--\([a-zA-Z_0-9-]*\).*/\2/p' | sort -u)
	done
	((names > 100)) || fail "only $names"
}

@test "no letter of perftest is unknown" {
	local i unknown='' letters=abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ
	for ((i = 0; i < ${#letters}; i++)); do
		said send_bw "-${letters:i:1}"
		! grep -q unknown err || unknown+=" -${letters:i:1}"
	done
	[[ ! $unknown ]] || fail "unknown:$unknown"
}

@test "an option of another program is refused by name" {
	refused_here() {
		cli "$@"
		ended cli 2
		says cli.err "$2 cannot be used in $1" "use another test; $1 --help=all"
	}
	refused_here send_bw --write_with_imm
	refused_here send_lat --write_with_imm
	refused_here write_lat --send_with_imm
	refused_here gdr_bw --send_with_imm
	refused_here send_bw --latency_gap 5
	refused_here write_lat --recv_post_list 5
	refused_here gdr_bw --run_infinitely
}

@test "other names of an option are that option" {
	compgen -G '/sys/class/infiniband/*' >/dev/null && skip 'there is an RDMA device here'
	cli send_bw --json=doc.json --tclass 12
	json doc.json '.experiment.tos == 12'
	cli send_bw --json=doc.json --tclass 12 -T 16
	json doc.json '.experiment.tos == 16'
	cli send_bw --tclass 256
	ended cli 2
	says cli.err '--tos' 256
	cli send_bw --disable_numa=1
	ended cli 2
	says cli.err '--numa' 'no value'
	cli send_bw --numa_node
	ended cli 2
	says cli.err '--numa' 'needs a value'
}

@test "what perftest has of CUDA's memory and rdmark has not is refused with the reason" {
	local kind
	for kind in 1:managed 2:'no such memory' 3:'no such memory' 4:malloc; do
		cli write_bw --use_cuda --cuda_mem_type="${kind%%:*}" host
		ended cli 2
		says cli.err "--cuda_mem_type=${kind%%:*} is not supported" "${kind#*:}" 'Fix: '
	done
	cli write_bw --use_cuda --use_cuda_dmabuf --use_cuda_pcie_mapping host
	ended cli 2
	says cli.err '--use_cuda_pcie_mapping needs --use_data_direct' 'Fix: '
	cli write_bw --use_data_direct host
	ended cli 2
	says cli.err '--use_data_direct' 'needs a GPU'
}

@test "under perftest's names --help has the words that scripts look for" {
	local program word
	for program in "${measuring_programs[@]}"; do
		ln -s "$RDMARK_BIN/$program" "ib_$program"
		[[ $program != atomic_* ]] || continue # no GPU memory
		"./ib_$program" --help >out
		for word in '--connection=<RC/' --tclass= --data_validation --report_gbits --use_cuda --use_cuda_dmabuf --use_rocm \
			--cuda_mem_type= --use_data_direct --perform_warm_up; do
			grep -q -e "$word" out || fail "$program: $word"
		done
		"$RDMARK_BIN/$program" --help=all >out
		! grep -q -e --tclass out || fail "$program: --tclass"
	done
}

@test "the order of options does not matter" {
	compgen -G '/sys/class/infiniband/*' >/dev/null && skip 'there is an RDMA device here'
	local options=(-s4096 --iters=77 -q2 '-t 64' '-Q 4' --report_gbits -F '--tclass 8' -N '-m 1024' '--hop_limit=9'
		'--retry_count 2' '-l 4' --disable_pcie_relaxed '--flow_label 7' -x3 127.0.0.1 '-p 1' '--connect-timeout 0')
	local i line
	with_device
	for ((i = 0; i < ${#options[@]}; i++)); do
		read -ra line <<<"${options[*]:i} ${options[*]:0:i}"
		cli write_bw --json=doc.json --quiet "${line[@]}"
		ended cli 4
		jq -S .experiment doc.json >"order$i"
		cmp order0 "order$i" || fail "${line[*]}"
	done
	json doc.json '.experiment | .size_bytes == 4096 and .tos == 8 and .retry_count == 2 and .flow_label == 7'
}

@test "what cannot be together: --run_infinitely with -a, -H or -U with it" {
	cli send_bw --run_infinitely -a
	ended cli 2
	says cli.err --run_infinitely -a 'Fix: '
	cli send_lat --run_infinitely -U
	ended cli 2
	says cli.err -U
}
