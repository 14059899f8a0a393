#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What people type before they read: habits from other tools, spellings, units, and mistakes. Each
# either works or is answered with what to type instead.
# shellcheck disable=SC2154 # what lib/rdmark.bash sets

load ../lib/rdmark

cli() {
	start cli "$@"
	finish cli
}

# understood FILTER PROGRAM ARG...: PROGRAM takes the command line, and its document says FILTER.
understood() {
	cli "$2" --json=doc.json "${@:3}"
	[[ ${status[cli]} != 2 ]] || fail "${*:2}"
	json doc.json ".experiment | $1"
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

@test "an option of an earlier version is unknown, with what to do instead" {
	answered 'unknown option --load-size. Fix: run write_bw at the same time' send_lat --load-size 64 localhost
	answered 'unknown option --prom. Fix: run rdmark-prom FILE -o OUT' send_lat --prom x localhost
	answered 'unknown option --prom=x. Fix: run rdmark-prom FILE -o OUT' rdmark localhost --prom=x
	answered 'unknown option --load=1g. Fix: run write_bw at the same time' send_lat --load=1g localhost
}

@test "- and _ are the same in the name of an option" {
	no_device_here
	understood '.tx_depth == 33' send_bw --tx_depth 33
	understood '.rx_depth == 65' send_bw --rx_depth=65
	understood '.post_list == 5' send_bw --post-list 5
	understood '.rate_limit == "2g"' send_bw --rate-limit 2g
	understood '.inline_size_bytes == 12' send_bw --inline-size=12
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

@test "a value that is none: the answer says what is one" {
	answered "invalid value '0' for -D/--duration. Fix: give a time from 1 ns to 366 days" send_bw -D 0
	answered "invalid value '0' for -n/--iters. Fix: give a whole number from 1 to " send_bw -n 0
	answered "invalid value '1Gx' for -s/--size. Fix: give a size from 1 B to 1 TiB, such as 4096, 64k" send_bw -s 1Gx
	answered 'give 256, 512, 1024, 2048 or 4096' send_bw -m 9000
	answered 'remove it' send_bw -f g
	answered 'give --ib-dev=DEV' send_bw -d
	answered 'give --json=FILE' send_bw --json=
	cli send_bw -c DC
	ended cli 77
	says cli.err 'transport DC is not supported' 'use RC, UC, UD, XRC or SRD'
}

@test "an unknown option: what was meant" {
	local word
	answered 'did you mean --iters?' send_bw --itres=3
	answered 'did you mean --duration?' send_bw --durration=3
	answered 'did you mean --tx-depth, --rx-depth?' send_bw --depth=3
	for word in --omit --waitfor --max-foo -9; do # nothing is near
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

@test "an option of the other kind of test is refused, as perftest does it" {
	answered 'report-histogram cannot be used in send_bw, a bandwidth test' send_bw -H
	answered 'report-unsorted cannot be used in send_bw, a bandwidth test' send_bw -U
	answered 'noPeak cannot be used in send_lat, a latency test' send_lat -N
	answered 'Fix: omit it, or use another test; write_bw --help=all' write_bw -g
	cli send_lat -l 1 --help
	ended cli 0
}

@test "an option without effect is noted" {
	noted() {
		cli "${@:2}" -p 1 --connect-timeout 0 localhost
		says cli.err "rdmark: $1"
	}
	with_device
	noted '-n/--iters is ignored: -D/--duration ends the run' send_bw -D 2 -n 100
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
	cli send_bw -b --report-both -Q 4 --report_gbits -p 1 --connect-timeout 0 localhost
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
	says cli.err 'rdmark: waiting for a server on localhost:1, up to' 'tried for' 'Fix: start the server there'
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
