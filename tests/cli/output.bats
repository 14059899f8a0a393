#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# What is printed where, without any RDMA device: help, version, errors; and a stdout that does not
# take it.

load ../lib/rdmark

cli() {
	start cli "$@"
	finish cli
}

no_device_here() {
	compgen -G '/sys/class/infiniband/*' >/dev/null && skip 'there is an RDMA device here'
	return 0
}

@test "--help: the usual options that the program has, two examples, in 80 columns" {
	local program option
	for program in "${all_programs[@]}"; do
		for option in --help -h; do
			cli "$program" "$option"
			ended cli 0
			silent cli.err
			says cli.out "$program" --iters --duration --ib-dev --json "$program --help=all"
			[[ $program == reg_lat ]] || says cli.out 'HOST' "  $program node1" "  $program -D 10 "
			[[ $program == *_bw ]] || says_no cli.out --qp --bidirectional
			# gdr_bw without --plain refuses --verify: it compares the data of each cell.
			case $program in
			gdr_bw | reg_lat | connect_lat) says_no cli.out --verify ;;
			*) says cli.out --verify ;;
			esac
			(($(wc -l <cli.out) < 40)) || fail 'more than a screen'
			! grep -E '.{81}' cli.out || fail 'too wide'
			# what scripts look for under perftest's names; atomics have no GPU memory
			[[ $option != ./* || $program == atomic_* ]] || says cli.out --tclass= --data_validation --report_gbits \
				--use_cuda_dmabuf --use_rocm --cuda_mem_type= --use_data_direct
		done
	done
	cli send_bw --help=most
	ended cli 2
	says cli.err --help=all
}

@test "--help=all, and --help of an ib_ name: every option and perftest's words, in 80 columns" {
	local program option
	for program in "${programs[@]}"; do
		ln -sf "$RDMARK_BIN/$program" "ib_$program"
		for option in "./ib_$program --help" "$program --format perftest -h" "$program --help=all"; do
			# shellcheck disable=SC2086 # words
			cli $option
			ended cli 0
			silent cli.err
			says cli.out "$program" 'HOST' '--connection=<RC' 'perform_warm_up'
			! grep -E '.{81}' cli.out || fail 'too wide'
		done
		for option in ib-dev ib-port port gid-index size all iters duration qp tx-depth rx-depth mtu \
			inline_size sl tos qp-timeout CPU-freq disable_pcie_relaxed out_json out_json_file \
			json csv quiet warmup interval timeout connect-timeout ready-fd numa \
			output format version help; do
			says cli.out "--$option"
		done
		says_no cli.out --tclass
		# Only what has an effect there.
		for option in cq-mod= report_gbits report-both 'on each QP'; do
			[[ $program == *_bw && $(<cli.out) == *"$option"* || $program == *_lat && $(<cli.out) != *"$option"* ]] ||
				fail "$program: $option"
		done
	done
}

# headings: those of the help in cli.out.
headings() { grep -E '^[A-Z].*:$' cli.out; }

@test "--help=all has its options under headings, the client's first, and none without options" {
	local program
	for program in "${programs[@]}"; do
		cli "$program" --help=all
		(($(headings | wc -l) >= 13)) || fail "$(headings)"
		[[ $(headings | head -n 1) == 'What to measure:' ]]
		! grep -A 1 -E '^[A-Z].*:$' cli.out | grep -v -e ':$' -e '^--$' -e '^  -' -e '^      --' || fail "$program: no option"
		[[ $(headings) != *'GPU memory compared'* || $program == gdr_bw ]]
		sed -n '/^THE EXPERIMENT/,/^THIS END/p' cli.out >client
		grep -q -- '--iters=' client
		! grep -e '--ib-dev=' -e '--json' client || fail "$program: not the client's"
	done
	cli send_lat --help=all
	says cli.out $'\nThe exit status is\n  0  success' '77  not available here'
	says_no cli.out 'latency: ' 'bandwidth: '
}

@test "--help shows the program's own defaults" {
	cli write_bw --help=all; says cli.out '(64 KiB)' '(5000)' '(128)' 'use 192' '(18515)'
	cli send_lat --help; says cli.out '(2 B)' '(1000)'
	# Options whose value is chosen later have none.
	cli gdr_bw --help=all; says_no cli.out '(0)'
}

@test "--help wins over everything but a mistake before it" {
	cli send_bw --help somehost; ended cli 0
	cli send_bw -s 8 -h; ended cli 0
	cli send_bw -s x -h; ended cli 2
}

@test "--list is told to be rdmark's list" {
	cli send_lat --list
	ended cli 2
	says cli.err 'unknown option --list. Fix: use `rdmark list`, which also lists GPUs'
	cli rdmark --list
	ended cli 2
	says cli.err 'Fix: did you mean `rdmark list`?'
}

@test "--version: exit 0, on stdout" {
	local program option
	for program in "${measuring_programs[@]}"; do
		for option in --version -V; do
			cli "$program" "$option"
			ended cli 0
			silent cli.err
			[[ $(<cli.out) =~ ^"$program (rdmark) "[0-9]+\.[0-9.]+$ ]] || fail 'not one line'
		done
		ln -sf "$RDMARK_BIN/$program" "ib_$program"
		cli "./ib_$program" --version
		[[ $(<cli.out) =~ ^'Version: '[0-9]+\.[0-9.]+$ ]] || fail 'not as perftest says it'
	done
}

@test "no RDMA device: exit 77 with the reason and what to do, in all programs and the list" {
	no_device_here
	local program
	for program in "${programs[@]}"; do
		cli "$program"
		ended cli 77
		says cli.err "$program: " RDMA 'Fix: ' modprobe
		silent cli.out
		cli "$program" --check
		ended cli 77
		silent cli.out
		says cli.err 'Fix: '
	done
	cli rdmark list
	ended cli 77
	says cli.err RDMA 'Fix: '
}

@test "a device that libibverbs does not reach: exit 77, and where it ends" {
	no_device_here
	mkdir -p sys/class/infiniband/rxe0 sys/class/infiniband_verbs/uverbs0
	echo rxe0 >sys/class/infiniband_verbs/uverbs0/ibdev
	export RDMARK_SYSFS=$PWD/sys RDMARK_DEV=$PWD/dev
	cli send_bw
	ended cli 77
	says cli.err 'The kernel has rxe0, but its node' 'dev/infiniband/uverbs0 does not exist' 'Fix: '
	says_no cli.err modprobe
	rm -r sys/class
	cli send_bw
	ended cli 77
	says cli.err "$PWD/sys, where the kernel shows its devices, does not exist" 'Fix: mount -t sysfs'
}

@test "no RDMA device: the JSON document says so" {
	no_device_here
	cli send_bw --json
	ended cli 77
	json cli.out '.status == "unavailable" and .error.exit_status == 77 and .error.code == "unavailable"
		and (.error.phase | length > 0) and (.error.call | length > 0) and (.error.fix | length > 0)
		and .test == "send_bw" and .role == "server" and .schema_version == 3 and .results == []'
	cli send_bw --json=doc.json
	ended cli 77
	silent cli.out
	json doc.json '.status == "unavailable"'
	[[ $(echo doc.json*) == doc.json ]] || fail "a temporary file was left: $(echo doc.json*)"
}

@test "an error is one line on stderr that begins with the name the program was called by" {
	ln -s "$RDMARK_BIN/send_bw" ib_send_bw
	cli ./ib_send_bw -s 0
	ended cli 2
	silent cli.out
	says cli.err 'ib_send_bw: '
	[[ $(wc -l <cli.err) == 1 ]] || fail 'more than one line'
}

@test "stdout closed or full: exit 1, and why on stderr" {
	local option
	[[ -c /dev/full ]] || skip 'no /dev/full'
	for option in --help --version --json; do
		code=0
		"$RDMARK_BIN/send_bw" $option >/dev/full 2>full.err || code=$?
		[[ $option == --json && $code == 77 || $code == 1 ]] || fail "$option >/dev/full: status $code"
		[[ $option == --json ]] || says full.err stdout 'No space left'
		code=0
		"$RDMARK_BIN/send_bw" $option >&- 2>closed.err || code=$?
		[[ $option == --json && $code == 77 || $code == 1 ]] || fail "$option >&-: status $code"
		[[ $option == --json ]] || says closed.err stdout
	done
}

@test "a result file that cannot be written is told at once" {
	local option
	for option in --json --json-lines --csv --out_json_file; do
		cli send_bw "$option=/no/such/folder/file"
		ended cli 1
		says cli.err /no/such/folder/file 'No such file'
		cli send_bw "$option=$PWD"
		ended cli 1
		says cli.err "$PWD" 'Is a directory' 'Fix: '
	done
	cli send_bw --json-lines -
	ended cli 2
	says cli.err '--json-lines needs the name of a file' 'Fix: use --json for standard output'
	[[ ! -e ./- ]] || fail 'it was written'
}

@test "a server that is not there: exit 4 within the deadline, with what to do" {
	local program
	with_device
	for program in "${programs[@]}"; do
		cli "$program" -p 1 --connect-timeout 0.3 127.0.0.1
		ended cli 4
		within cli 9 # the default is 10
		says cli.err "Couldn't connect to 127.0.0.1:1:" 'Connection refused' 'Fix: '
		cli "$program" -p 1 --connect-timeout 0 ::1
		says cli.err "Couldn't connect to [::1]:1:"
		silent cli.out
	done
	cli send_bw -p 1 --connect-timeout 0 --json '[::1]'
	ended cli 4
	json cli.out '.status == "failed" and .error.exit_status == 4 and .role == "client"'
}

@test "--timeout and --connect-timeout do not depend on each other" {
	with_device
	cli send_bw -p 1 --connect-timeout 0.2 --timeout 60 127.0.0.1
	ended cli 4
	within cli 9 # the default is 10
}
