#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,rxe,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# reg_lat: how long registering memory takes, without a peer.

load ../lib/rdmark
load ../lib/gpu

setup_file() { need_device; }

# registers [ARG…]: a run to its end.
registers() {
	start reg reg_lat "$@"
	finish reg
}

@test "a row for the calls of each kind and size; JSON and CSV say which they are" {
	registers -s 4k,64k -n 40 --json=c.json --csv=c.csv
	ended reg 0
	[[ $(head -n 1 reg.out) == ' #bytes   #calls    call       median[us] avg[us]   p99[us]   max[us]   MiB/s' ]] || fail "$(<reg.out)"
	[[ $(awk 'NR > 1 { print $1, $2, $3 }' reg.out | paste -sd ,) == \
		'4096 40 reg_mr,4096 40 dereg_mr,65536 40 reg_mr,65536 40 dereg_mr' ]] || fail "$(<reg.out)"
	json c.json '.test == "reg_lat" and .status == "ok" and (.ends | keys) == ["client"] and (.results | map(.step)) == ["reg_mr", "dereg_mr", "reg_mr", "dereg_mr"]'
	json c.json '.results | all(.messages == 40 and .direction == "none" and .latency_min_us <= .latency_p50_us and .latency_p50_us <= .latency_max_us)'
	json c.json '.results | all(((.messages * .latency_mean_us / 1e6 / .seconds) - 1 | fabs) < 1e-6)'
	json c.json '.results | all(((.bytes * 8 / 1e9 / .seconds) / .bandwidth_gbps - 1 | fabs) < 1e-6)'
	[[ $(head -n 1 c.csv) == test,measured_by,message_bytes,*,step,direction,* ]] || fail "$(<c.csv)"
	[[ $(grep -o ',[a-z]*_mr,none,' c.csv | paste -sd ' ') == ',reg_mr,none, ,dereg_mr,none, ,reg_mr,none, ,dereg_mr,none,' ]] || fail "$(<c.csv)"
}

@test "compare, prom and plot tell the steps apart" {
	registers -s 4k,8k -n 40 --json=c.json
	ended reg 0
	start cli rdmark compare c.json c.json
	finish cli
	ended cli 0
	says cli.out 'reg_lat/reg_mr size_bytes=4096' 'reg_lat/dereg_mr size_bytes=4096'
	start cli rdmark-prom c.json -o c.prom
	finish cli
	ended cli 0
	(($(grep -c '^rdmark_latency_mean_seconds{.*step="reg_mr"' c.prom) == 2 && $(grep -c '^rdmark_latency_mean_seconds{.*step="dereg_mr"' c.prom) == 2)) || fail "$(<c.prom)"
	says_no c.prom 'rdmark_bandwidth' 'peer='
	command -v gnuplot >/dev/null || return 0
	start cli rdmark-plot c.json -o c.svg
	finish cli
	ended cli 0
	says c.svg 'dereg_mr' 'each call: reg_lat'
	says_no c.svg 'Gb/s' '->' '1 QP' 'round trip'
}

@test "-a: all sizes; -D: as long as it says; --warmup does not count" {
	registers -a -n 2 --warmup 0 --json=c.json
	ended reg 0
	json c.json '[.results[] | select(.step == "reg_mr").message_bytes] == [range(1; 24) | pow(2; .)]'
	registers -D 0.2 --warmup 3 --json=c.json
	ended reg 0
	json c.json '.results[0].messages == .results[1].messages and (.results | map(.seconds) | add) < 1'
	((took_ms[reg] >= 200)) || fail 'it ended before its time'
}

@test "threads count together, and seconds are one thread's" {
	registers --threads 3 -n 20 --json=c.json
	ended reg 0
	json c.json '.results | all(.messages == 60 and ((.messages * .latency_mean_us / 3e6 / .seconds) - 1 | fabs) < 1e-6)'
}

@test "huge pages, a file: the buffer is of these, and the file stays" {
	head -c 1M /dev/urandom >file
	cp file before
	registers -s 256k --mmap=file -n 20
	ended reg 0
	cmp file before
	registers --use_hugepages -s 4k -n 20 --json=c.json
	if ((status[reg])); then
		says reg.err 'huge pages' 'Fix: '
	else
		json c.json '.ends.client.memory_made_of | contains("huge pages")'
	fi
}

@test "what sends messages, or needs a peer, is refused; so is a host" {
	local option
	for option in -q2 -R -t16 --verify -b --persistent --auth=none -p1 -e --repeat=2 -U --max-lat=5 --format=perftest --check; do
		registers "$option"
		ended reg 2
		says reg.err 'cannot be used in reg_lat. Fix: '
	done
	registers node1
	ended reg 2
	says reg.err "reg_lat has no peer, and 'node1' is no option" 'Fix: '
	registers --gpu-path=dmabuf
	ended reg 2
	says reg.err '--gpu-path needs a GPU' 'Fix: '
	registers -d none-such
	((status[reg] == 2 || status[reg] == 77)) || fail "status ${status[reg]}"
	registers -s 0
	ended reg 2
	start reg rdmark reg_lat --help
	finish reg
	ended reg 0
	says reg.out 'without a peer'
}

@test "more memory than there is: a fault of this host, with what was measured before" {
	registers -s 4k,1t -n 10 --json=c.json
	ended reg 1
	says reg.err 'at -s 1099511627776' 'Fix: '
	json c.json '.status == "failed" and (.results | map(.message_bytes)) == [4096, 4096]'
}

@test "a signal: what was measured is shown, and the program dies of it" {
	local number
	for number in INT TERM; do
		start reg reg_lat -n 30,1g --threads 2 --json=c.json
		until_says reg.out ' dereg_mr '
		kill "-$number" "${pid[reg]}"
		finish reg
		((status[reg] == 128 + $(kill -l "$number"))) || fail "status ${status[reg]}"
		json c.json '.status == "interrupted" and (.results | length) >= 2 and (.results[:2] | all(.messages == 60 and .interrupted == false)) and (.results[2:] | all(.interrupted))'
	done
}

# bats test_tags=standin
@test "GPU memory: by its path, in one thread" {
	driver
	registers --gpu 0 -s 4k,64k -n 20 --json=c.json
	ended reg 0
	json c.json '.ends.client.memory == "gpu" and (.ends.client.gpu_path | length) > 0 and (.results | length) == 4'
	registers --gpu 0 --threads 2
	ended reg 2
	says reg.err 'several threads cannot register GPU memory' 'Fix: '
	registers --gpu 0 --use_hugepages
	ended reg 2
	says reg.err '--use_hugepages cannot be used with GPU memory'
}
