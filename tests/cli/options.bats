#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# How a command line is read. No RDMA device is needed: what was understood stands in the JSON
# document, which is written even when there is no device (then the exit status is 77). Every option that perftest has is
# either taken or named in the error, with what to use instead: perftest_options.txt, of which each line goes
# through the real parser in every way to write it. More than 400 lines, for there is one parser.

load ../lib/rdmark

# Not by lib/rdmark.bash's start, which is slower: none of these waits for long.
cli() {
	local began=${EPOCHREALTIME/[.,]/}
	status[cli]=0
	LD_PRELOAD=${RDMARK_PRELOAD-} "${through[@]}" "$RDMARK_BIN/$1" "${@:2}" >cli.out 2>cli.err </dev/null || status[cli]=$?
	took_ms[cli]=$(((${EPOCHREALTIME/[.,]/} - began) / 1000))
}

# understood FILTER PROGRAM [ARG…]: the experiment is as FILTER says.
understood() {
	cli "$2" --json=doc.json "${@:3}"
	[[ ${status[cli]} == 77 || ${status[cli]} == 4 ]] || fail "$* ended with status ${status[cli]}"
	json doc.json ".experiment | $1"
}

# The client form, where the host is, too: nothing listens on port 1.
understood_by_client() {
	with_device
	understood "$1" "$2" -p 1 --connect-timeout 0 "${@:3}"
	says cli.err 'connect to 127.0.0.1:1'
}

# answered TEXT PROGRAM ARG...: exit 2, and the answer has TEXT.
answered() {
	cli "${@:2}"
	ended cli 2
	says cli.err "$1"
	silent cli.out
}

no_device_here() {
	compgen -G '/sys/class/infiniband/*' >/dev/null && skip 'there is an RDMA device here'
	return 0
}

@test "every option with a number: letter, attached, long with = and blank, prefix" {
	no_device_here
	local letter value key prefix
	while read -r letter _ value key prefix; do
		cli send_bw --json=doc.json "-$letter" "$value" --output=bandwidth
		json doc.json ".experiment.$key == $value"
		understood ".$key == $value" send_bw "-$letter$value"
		understood ".$key == $value" send_bw "--$prefix=$value"
	done <<-'END'
		s size 4097 size_bytes siz
		n iters 17 iters it
		q qp 3 qp qp
		t tx-depth 33 tx_depth tx
		r rx-depth 65 rx_depth rx
		l post_list 5 post_list post_l
		Q cq-mod 7 cq_mod cq
		m mtu 1024 mtu_bytes mt
		I inline_size 12 inline_size_bytes inline_s
		S sl 3 sl sl
		T tos 104 tos to
		u qp-timeout 15 qp_timeout qp-
	END
}

@test "options without a letter, flags and choices" {
	no_device_here
	understood '.warmup == 0' send_bw --warmup 0
	understood '.warmup == 9' send_bw --warmup=9
	understood '.all' send_bw -a
	understood '.all' send_bw --all
	understood '.disable_pcie_relaxed' send_bw --disable_pcie
	understood '.connection == "RC"' send_bw -c RC
	understood '.connection == "RC"' send_bw --connection=rc
	understood 'true' send_bw --output=bandwidth --output message_rate --format=perftest --format table
	understood 'true' send_bw --timeout 3 --connect-timeout 1ms --interval 0.5 --numa auto --numa=none
	understood 'true' send_bw --repeat 10000 --until-stable 0.5 --cpu_util
	understood 'true' send_lat --until-stable=2% --json=x.json -H
	understood 'true' send_bw --csv=x.csv --out_json_file y.json -i 1 -x 0 -d any -p 1
}

@test "--dscp is --tos times four, and one of the two is enough" {
	no_device_here
	local other
	understood '.tos == 104' send_bw --dscp 26
	understood '.tos == 252' send_lat --dscp=63
	understood '.tos == 0' read_bw --dscp=0
	cli write_bw --dscp 64
	ended cli 2
	says cli.err '--dscp' 63
	for other in --tos=104 -T0,104 --tclass=1; do
		cli write_bw --dscp 26 $other
		ended cli 2
		says cli.err '--dscp cannot be used with -T/--tos' '--tos 104'
	done
}

@test "defaults are perftest's, but for a deeper send queue of small messages" {
	no_device_here
	understood '.size_bytes == 65536 and .iters == 1000 and .tx_depth == 128 and .qp == 1' send_bw
	understood '.size_bytes == 65536 and .iters == 5000 and .tx_depth == 128' write_bw
	understood '.tx_depth == 192' write_bw -s 8192
	understood '.tx_depth == 128' write_bw -s 8193
	understood '.tx_depth == 128' write_bw -s 64 -a
	understood '.tx_depth == 128' write_bw -s 64 -t 128
	understood '.tx_depth == 128' gdr_bw --plain -s 64
	understood '.size_bytes == 2 and .iters == 1000 and .tx_depth == 1' send_lat
	understood '.size_bytes == 2 and .iters == 1000 and .qp_timeout == 14' write_lat
}

@test "the host may stand anywhere, letters may be bundled, the last of a repeated option wins" {
	understood_by_client '.size_bytes == 8 and .qp == 4' send_bw -s 8 127.0.0.1 -q4
	understood_by_client '.size_bytes == 8' send_bw -s 8 -- 127.0.0.1
	understood_by_client '.all and .size_bytes == 16' send_bw -aFNs16 127.0.0.1
	understood_by_client '.size_bytes == 4 and .iters == 5' send_bw -s 1 -n 7 --size=4 -n5 127.0.0.1
}

@test "a port is taken from the last -p, and 65535 is one" {
	with_device
	cli send_bw -p 70 -p 65535 --connect-timeout 0 127.0.0.1
	ended cli 4
	says cli.err '127.0.0.1:65535'
}

@test "a value that is none is refused, naming the option and what is possible" {
	local option
	for option in --port={65536,-1,1x,,99999999999999999999} --size=1Gx --size=0 --size=1e-3 --size=k --size=-1 --size= --size='1 k' --size=9999999t \
		--iters=0 --iters=x --iters=1.5 --iters=-5 --duration=0 --duration=1y --duration=-1 --qp=0 --qp=65537 \
		--tx-depth=0 --rx-depth=0 --post_list=0 --cq-mod=0 --mtu=1500 --mtu=8192 --mtu=0 --inline_size=-1 \
		--connection=XX --sl=16 --tos=256 --qp-timeout=32 --ib-port=0 --gid-index=-1 --gid-index=x \
		--numa=some --numa=-3 --timeout=0 --timeout=x --connect-timeout=-1 --ready-fd=x --output=x \
		--format=x --interval=0 --warmup=x --repeat=0 --repeat=10001 --repeat=x --until-stable=0 \
		--until-stable=101 --until-stable=-1 --until-stable=1%% --until-stable=x --until-stable=0.001 --until-stable=%; do
		cli send_bw "$option"
		[[ ${status[cli]} == 2 ]] || fail "$option: status ${status[cli]}"
		says cli.err "${option%%=*}" 'Fix: '
		silent cli.out
	done
	answered "invalid value '0' for -D/--duration. Fix: give a time from 1 ns to 366 days" send_bw -D 0
	answered "invalid value '0' for -n/--iters. Fix: give a whole number from 1 to " send_bw -n 0
	answered "invalid value '1Gx' for -s/--size. Fix: give a size from 1 B to 1 TiB, such as 4096, 64k" send_bw -s 1Gx
	answered 'give 256, 512, 1024, 2048 or 4096' send_bw -m 9000
	answered 'remove it' send_bw -f g
	answered 'give --ib-dev=DEV' send_bw -d
	answered 'give --json=FILE' send_bw --json=
	cli send_bw -c DC
	ended cli 77
	says cli.err 'transport DC is not supported' 'give one of RC|UC|UD|XRC|SRD'
}

@test "thresholds: what is one, and what is none" {
	no_device_here
	local option
	for option in --min-bw=90 --min-bw=97.5 --min-bw=90G --min-bw=500Mb/s --min-bw=12.5GB/s --min-bw=1200MiB/s \
		--min-msgrate=1 --min-msgrate=2.5M --min-msgrate=900k -w0 -w=11000.5 -y2.5 --limit_bw=1 --limit_msgrate=0; do
		understood true send_bw "${option/-w=/-w}"
	done
	for option in --max-lat=5 --max-lat=p99=5 --max-lat=p99.9=8,mean=3.5,max=100 --max-lat=stdev=1 --min-msgrate=1k; do
		understood true send_lat "$option"
	done
	for option in --min-bw=0 --min-bw=x --min-bw=-1 --min-bw=10Mib --min-bw=10GG --min-bw=1e --min-msgrate=0 \
		--min-msgrate=1Mi --min-msgrate=k --limit_bw=1G --limit_bw=-1 --limit_msgrate=1M; do
		cli send_bw "$option"
		[[ ${status[cli]} == 2 ]] || fail "$option: status ${status[cli]}"
		says cli.err "invalid value '${option#*=}' for " "${option%%=*}" 'Fix: '
		silent cli.out
	done
	for option in --max-loss=0 --max-loss=1 --max-loss=0.1% --max-loss=100 --max-loss=1/1000000 --max-loss=1e-6; do
		understood true send_bw -c UD "$option"
	done
	for option in --max-loss=-1 --max-loss=101 --max-loss=x --max-loss=% --max-loss=1/0 --max-loss=2/1 --max-loss=1/ --max-loss=1%%; do
		cli send_bw -c UD "$option"
		[[ ${status[cli]} == 2 ]] || fail "$option: status ${status[cli]}"
		says cli.err "invalid value '${option#*=}' for --max-loss. Fix: give percent of the messages"
	done
	for option in 0 x p98=5 p99= p99=5, ,p99=5 p99=5,,mean=3 =5 mean=0 p99=1e 99=5 p99=5x; do
		cli send_lat --max-lat "$option"
		[[ ${status[cli]} == 2 ]] || fail "--max-lat $option: status ${status[cli]}"
		says cli.err "invalid value '$option' for --max-lat" 'Fix: '
	done
}

@test "--max-lat of a percentile: refused with the -n that it needs" {
	local p needs more
	while read -r p needs more; do
		# shellcheck disable=SC2086
		cli send_lat --max-lat "mean=1,$p=5" -n $((needs - 1)) $more localhost
		ended cli 2
		says cli.err '--max-lat: ' " samples are too few for $p. Fix: use -n $needs or more: a percentile needs 10 "
	done <<-'END'
		p50 20
		p90 100
		p99 1000
		p99.9 10000
		p99.99 100000
		p99.99 25000 --threads=4
		p99.9 1250 --threads=4 -d a,b
	END
	cli write_lat --max-lat p99.9=5 localhost
	ended cli 2
	says cli.err '--max-lat: 1000 samples are too few for p99.9. Fix: use -n 10000 or more'
}

@test "a threshold that the test has no figure for is refused, as is one for all cells of gdr_bw" {
	cli send_bw --max-lat 5 localhost; ended cli 2; says cli.err '--max-lat cannot be used in send_bw, a bandwidth test'
	cli write_bw --max-lat p99=5; ended cli 2
	cli send_lat --min-bw 5; ended cli 2; says cli.err '--min-bw cannot be used in send_lat, a latency test'
	cli write_lat -w 5 localhost; ended cli 2; says cli.err '-w/--limit_bw cannot be used in write_lat, a latency test'
	cli gdr_bw --min-bw 5 localhost; ended cli 2; says cli.err --min-bw --plain
	cli send_bw --max-loss 1 localhost; ended cli 2
	says cli.err '--max-loss cannot be used with transport RC, which loses no messages. Fix: omit it, or use -c UC or -c UD'
	cli write_bw --max-loss 1 -c UC localhost; ended cli 2
	says cli.err '--max-loss cannot be used with RDMA WRITE: the receiver does not count the messages. Fix: add --write_with_imm'
	cli send_bw --max-loss 1 -c UD,RC localhost; ended cli 2; says cli.err '-c RC: ' '--max-loss cannot be used with transport RC'
	cli read_bw --max-loss 1 localhost; ended cli 2; says cli.err '--max-loss cannot be used in read_bw' 'Fix: omit it'
	understood true write_bw --max-loss 1 -c UC --write_with_imm
	understood true write_lat --max-loss 1 -c UC
	cli gdr_bw -y 5 localhost; ended cli 2; says cli.err --limit_msgrate --plain
}

@test "two hosts, an empty host, a host that does not resolve" {
	cli send_bw one two; ended cli 2; says cli.err 'unexpected argument after the host: two'
	cli send_bw --json one two; ended cli 2; says cli.err 'did you mean --json=one?'
	cli send_bw ''; ended cli 2; says cli.err 'empty'
	with_device
	cli send_bw --connect-timeout 5 no-such-host.invalid; ended cli 2; says cli.err no-such-host.invalid resolve
}

@test "what cannot be together is refused" {
	local program
	for program in "${latency_programs[@]}"; do
		cli "$program" -q 2; ended cli 2; says cli.err '-q/--qp' latency
		cli "$program" -U -D 1; ended cli 2; says cli.err -U -D
		cli "$program" -H -D 1; ended cli 2; says cli.err -H -D
		cli "$program" -U --repeat 2; ended cli 2; says cli.err -U --repeat
		cli "$program" -H --until-stable 2; ended cli 2; says cli.err -H --repeat
		cli "$program" --output=bandwidth; ended cli 2; says cli.err "--output=bandwidth cannot be used in $program, a latency test" --output=latency
	done
	cli send_bw -p 0 localhost; ended cli 2; says cli.err '-p/--port 0' server
	cli send_bw --until-stable 1 --repeat 4; ended cli 2; says cli.err --until-stable '--repeat 4' 'Fix: '
	cli send_bw --until-stable 1 --repeat 9; ended cli 2; says cli.err --until-stable '--repeat 9' 'Fix: ' '--repeat 10 '
	cli gdr_bw --until-stable 1 localhost; ended cli 2; says cli.err --until-stable --plain
	cli send_bw --confidence 95,1; ended cli 2; says cli.err 'unknown option --confidence' 'Fix: use --until-stable=PERCENT'
	cli send_bw --strict; ended cli 2; says cli.err 'unknown option --strict' '.results[].quality.disturbed'
	cli gdr_bw --repeat 2 localhost; ended cli 2; says cli.err --repeat --plain
	cli gdr_bw --cpu_util localhost; ended cli 2; says cli.err --cpu_util --plain
	cli send_bw --json --csv; ended cli 2; says cli.err --json --csv stdout
	for program in "${bandwidth_programs[@]}"; do
		cli "$program" --output=latency; ended cli 2; says cli.err "--output=latency cannot be used in $program, a bandwidth test" --output=bandwidth
		cli "$program" -l 64 -t 32; ended cli 2; says cli.err '-l/--post_list' '-t/--tx-depth'
	done
	for program in write_lat write_bw; do
		cli $program -c UD; ended cli 2; says cli.err 'UD' "send_${program#write_}"
		cli $program --use-srq; ended cli 2; says cli.err --use-srq "send_${program#write_}"
	done
	cli gdr_bw --plain -c UD; ended cli 2; says cli.err UD send_bw
	cli gdr_bw -c UC localhost; ended cli 2; says cli.err UC --plain
	cli gdr_bw -e localhost; ended cli 2; says cli.err -e --plain
	cli gdr_bw --own-cqs localhost; ended cli 2; says cli.err --own-cqs --plain
	cli send_bw --run_infinitely -a; ended cli 2; says cli.err --run_infinitely -a 'Fix: '
}

# shown PROGRAM: the long options of its --help, with their value, if one must be given: "--size=1".
shown() { "$RDMARK_BIN/$1" --help=all | grep -o '^  \(-., \|    \)--[A-Za-z_0-9-]*=\?' | grep -o -- '--.*'; }

# Of those that not all programs have: the others' rows have no condition.
@test "--help shows what is accepted, and no more" {
	local program option
	for program in "${all_programs[@]}"; do shown "$program" | sort >"$program.has"; done
	sort ./*.has | uniq -c | awk -v programs=${#all_programs[@]} '$1 < programs { print $2 }' >some
	[[ -s some ]]
	for program in "${all_programs[@]}"; do
		while read -r option; do
			cli "$program" "${option/%=/=none-such}" --help
			[[ $(<cli.err) != *'cannot be used in'* ]] || fail "$program $option"
		done < <(comm -12 "$program.has" some)
		while read -r option; do
			cli "$program" "${option/%=/=4}" -p 1 --connect-timeout 0 localhost
			case $program$option in
			# which none of perftest's has
			reg_lat* | connect_lat*)
				ended cli 2
				says cli.err "${option%=} cannot be used in $program" 'Fix: ' ;;
			# perftest's scripts have them
			*_lat--cq-mod= | *_lat--report_gbits | *_lat--report-both)
				says cli.err "${option%=} is ignored in a latency test" ;;
			*)
				ended cli 2
				says cli.err "${option%=} cannot be used in $program" 'Fix: ' ;;
			esac
		done < <(comm -13 "$program.has" some)
	done
}

@test "what says no more than the default is accepted, in a script for all" {
	cli send_lat -q 1 localhost --connect-timeout 0
	! grep 'cannot be used in' cli.err || fail 'it is refused'
	cli atomic_bw -s 8 localhost --connect-timeout 0
	! grep 'cannot be used in' cli.err || fail 'it is refused'
}

@test "an option of an earlier version is unknown, with what to do instead" {
	answered 'unknown option --load-size. Fix: run write_bw at the same time' send_lat --load-size 64 localhost
	answered 'unknown option --prom. Fix: run rdmark-prom FILE -o OUT' send_lat --prom x localhost
	answered 'unknown option --prom=x. Fix: run rdmark-prom FILE -o OUT' rdmark localhost --prom=x
	answered 'unknown option --load=1g. Fix: run write_bw at the same time' send_lat --load=1g localhost
}

@test "an option has other names: - is _, and perftest's" {
	no_device_here
	understood '.tx_depth == 33' send_bw --tx_depth 33
	understood '.rx_depth == 65' send_bw --rx_depth=65
	understood '.post_list == 5' send_bw --post-list 5
	understood '.rate_limit == "2g"' send_bw --rate-limit 2g
	understood '.inline_size_bytes == 12' send_bw --inline-size=12
	understood '.tos == 12' send_bw --tclass 12
	understood '.tos == 16' send_bw --tclass 12 -T 16
	answered "'256' for -T/--tos" send_bw --tclass 256
}

@test "numbers have one grammar: prefixes, units, fractions, exponents" {
	no_device_here
	local size
	for size in 4KiB 4k 4Ki 4096 4kib 4.0k 4096B 4.096e3; do
		understood '.size_bytes == 4096' send_bw -s $size
	done
	for size in 4KB 4kb 4000; do
		understood '.size_bytes == 4000' send_bw -s $size
	done
	understood '.size_bytes == 1536' send_bw -s 1.5k
	understood '.iters == 1000' send_bw -n 1k
	understood '.iters == 1000000' send_bw -n 1e6
	understood '.duration_s == 60' send_bw -D 1min
	understood '.duration_s == 0.5' send_bw -D .5
	understood '.latency_gap_us == 5' send_lat --latency_gap 5us
	understood '.rate_limit == "10g"' send_bw --rate_limit 10Gb/s
	understood true send_lat --max-lat 1ms
	understood true send_bw --min-bw 90GB
	understood true send_bw --min-bw 90Gbps
}

@test "an unknown option: what was meant; a value that is missing, or for a flag" {
	local word
	answered 'did you mean --iters?' send_bw --itres=3
	answered 'did you mean --duration?' send_bw --durration=3
	answered 'did you mean --tx-depth, --rx-depth?' send_bw --depth=3
	for word in --waitfor --max-foo -9; do # nothing is near
		answered 'Fix: see --help=all' send_bw "$word"
	done
	answered 'ambiguous. Fix: give one of --output, --out_json, --out_json_file' send_bw --out=x
	answered 'ambiguous. Fix: give one of --disable_pcie_relaxed, --disable_dynamic_polling, --disable_numa' send_bw --dis
	# Only perftest's names can be shortened: what follows an option of ours may be the host.
	answered 'unknown option --foo. Fix: did you mean --footprint?' send_bw --foo h
	answered 'unknown option --ti=3. Fix: did you mean --timeout, --title, --time?' send_bw --ti=3
	cli send_bw --itres
	says_no cli.err '?.'
	# What the test does not have is not suggested.
	cli send_bw --latency_gab=3
	says_no cli.err latency_gap
	cli send_bw -aF9; ended cli 2; says cli.err "-9"
	cli send_bw --size; ended cli 2; says cli.err '-s/--size' 'needs a value' --size=BYTES
	cli send_bw --all=1; ended cli 2; says cli.err '-a/--all' 'no value'
}

@test "habits of iperf3 and of curl" {
	no_device_here
	understood '.duration_s == 10' send_bw --time 10
	answered 'give the port with -p: -p 18516 127.0.0.1' send_bw 127.0.0.1:18516
	answered 'give the port with -p: -p 18516 [::1]' send_bw '[::1]:18516'
	with_device
	cli send_bw --connect-timeout 0 -p 1 ::1
	ended cli 4
}

@test "an option without effect is noted" {
	noted() {
		cli "${@:2}" -p 1 --connect-timeout 0 localhost
		says cli.err "$1"
	}
	with_device
	noted '-n/--iters is ignored: -D/--duration ends the run' send_bw -D 2 -n 100
	noted '-n/--iters is ignored: only a signal ends --run_infinitely' send_bw --run_infinitely -n 100
	noted '--share is ignored without --threads' write_bw --share=context
	noted '-s/--size is ignored: -a/--all measures all sizes' write_lat -a -s 64
	noted '--burst_size is ignored without --rate_limit' send_bw --burst_size 2
	noted '--report-both is ignored without -b/--bidirectional' send_bw --report-both
	noted '-Q/--cq-mod is ignored in a latency test' send_lat -Q 4
	noted '--report_gbits is ignored in a latency test' write_lat --report_gbits
	noted '--report-both is ignored in a latency test' send_lat --report-both
	says_no cli.err 'without -b'
	noted '--ready-fd is ignored in a client' send_lat --ready-fd 5
	with_device
	cli send_bw -D 2 -s 64 --rate_limit 1 --burst_size 2 -p 1 --connect-timeout 0 localhost
	says_no cli.err 'is ignored'
	cli send_bw -b --report-both -Q 4 --report_gbits --share=none --threads 2 --run_infinitely -p 1 --connect-timeout 0 localhost
	says_no cli.err 'is ignored'
}

@test "what is wrong with this end is said without a server" {
	with_device
	answered "there is no RDMA device 'typo'" send_bw -d typo -p 1 --connect-timeout 60 localhost
	within cli 45
}

@test "a server that is not there: what is waited for, and no hint that is of no use" {
	with_device
	cli send_bw -p 1 --connect-timeout 0.8 localhost
	ended cli 4
	says cli.err 'waiting for a server on localhost:1, up to' 'tried for' 'Fix: start the server there'
	says_no cli.err 'tried for 0.8'
	cli send_bw -p 1 --connect-timeout 0.1 localhost
	says_no cli.err 'waiting for a server'
}

@test "no route to the server: said at once" {
	with_device
	unshare --map-root-user --net true || skip 'no network namespace of our own here'
	through=(unshare --map-root-user --net)
	cli send_bw --connect-timeout 60 10.99.99.99
	ended cli 4 # as of one that does not answer
	within cli 45
	says cli.err 'Network is unreachable' 'This host has no route to 10.99.99.99' 'ip route get'
}

@test "several values: what is no list or range of an option, or cannot be varied there" {
	answered 'A value is empty. Fix: separate values by commas, or give FROM:TO:xK' send_bw -q 1,,4 localhost
	answered 'needs a step after a second colon, such as :x2 or :+8' send_bw -s 64:64k localhost
	answered 'from the smallest value to the largest' send_bw -s 64k:64:x2 localhost
	answered 'does not advance' send_bw -s 64:64k:x1 localhost
	answered 'more than 128 values' send_bw -s 1:1m:+1 localhost
	answered 'more than 1000 experiments' send_bw -q 1:100:+1 -t 1:100:+1 localhost
	answered "'99999' for -q/--qp" send_bw -q 1,99999 localhost
	answered '--qp cannot be used in send_lat, a latency test' send_lat -q 1,4 localhost
	answered "invalid value '1,2' for -p/--port" send_bw -p 1,2 localhost
	answered 'at -l 256: -l/--post_list 256 is more than -t/--tx-depth 128' \
		send_bw -l 1,64,256 -t 128 localhost
	answered 'several values of -s/--size cannot be used without --plain. Fix: give one value, or add --plain' gdr_bw -s 64,4k localhost
	answered 'several values of -q/--qp cannot be used with --run_infinitely' send_bw -q 1,2 --run_infinitely localhost
	answered "several values of -q/--qp cannot be used in perftest's format" send_bw -q 1,2 --format perftest localhost
	answered "several values of -q/--qp cannot be used in perftest's format" send_bw -q 1,2 --out_json localhost
	answered 'several values of --size cannot be used with --all' send_bw -s 64,128 -a localhost
	answered 'several values of --iters cannot be used with --duration' send_bw -n 5,10 -D 1 localhost
}

# --- perftest's options -----------------------------------------------------------------------------

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

taken() {
	local line words lines
	spellings "$1" "$2" "$3"
	for line in "${lines[@]}"; do
		read -ra words <<<"$line"
		[[ $1 != use_@(*_dmabuf|data_direct|cuda_pcie_mapping) ]] || words+=(--use_cuda) # it is about a GPU
		[[ $1 != use_cuda_pcie_mapping ]] || words+=(--use_data_direct)
		cli "$4" host "${words[@]}" --help
		[[ ${status[cli]} == 0 && ! -s cli.err ]] || fail "$4 host $line: $(<cli.err)"
	done
}

needless() {
	taken "$@"
	cli "$4" --help=all
	grep -q -- "--$1[= ].*ignored: " cli.out || fail "$1: --help does not say why it is needless"
}

refused() {
	local line words lines
	spellings "$1" "$2" "$3"
	for line in "${lines[@]}"; do
		read -ra words <<<"$line"
		cli "$4" "${words[@]}"
		[[ ${status[cli]} == 2 && ! -s cli.out ]] || fail "$4 $line: status ${status[cli]}"
		says cli.err "--$1 " perftest 'Fix: ' "$5"
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
list=$'\n'$(<"$BATS_TEST_DIRNAME/perftest_options.txt")
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
			cli "$program" "--$short" h
			contents cli.err said
			if listed "${name/report-histogram/report-histogrm} "; then
				[[ $said != *'unknown option'* ]] || fail "$program --$short: $said"
			elif ! listed "$short"; then
				names=$((names + 1))
				[[ ${status[cli]} == 2 && $said == *"unknown option --$short. Fix: did you mean --$name"[?,]* ]] ||
					fail "$program --$short h: $said"
			fi
		done < <("$RDMARK_BIN/$program" --help=all | sed -n 's/^[ \t]*\(-., \)\?--\([a-zA-Z_0-9-]*\).*/\2/p' | sort -u)
	done
	((names > 100)) || fail "only $names"
}

@test "no letter of perftest is unknown" {
	local i unknown='' letters=abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ
	for ((i = 0; i < ${#letters}; i++)); do
		cli send_bw "-${letters:i:1}"
		! grep -q unknown cli.err || unknown+=" -${letters:i:1}"
	done
	[[ ! $unknown ]] || fail "unknown:$unknown"
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

@test "the order of options does not matter" {
	no_device_here
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
