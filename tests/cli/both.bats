#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# Both directions at once, against what the stand-in saw at both ends: when each of them posted its
# first message and took the completions of how many (SIMVERBS_TRACE).

load ../lib/rdmark

setup_file() { need_device; }

# traced SIZE PROGRAM ARG…: a run without a warm-up; sets truth to the Gb/s of both directions while
# both ran and overlap to the percentage of the run that this was, from the traces.
traced() {
	local size=$1
	SIMVERBS_GBPS=${server_gbps-} SIMVERBS_TRACE=$PWD/server.trace server "$2"
	SIMVERBS_GBPS=${client_gbps-} SIMVERBS_TRACE=$PWD/client.trace client "${@:2}" -s "$size" -b --warmup 0 -Q 1 --json=c.json
	finish server
	ended client 0
	ended server 0
	read -r truth overlap < <(awk -v size="$size" '
		function at(f, ns,   i) {
			for (i = 2; i <= n[f]; i++)
				if (time[f, i] >= ns)
					return count[f, i - 1] + (count[f, i] - count[f, i - 1]) * (ns - time[f, i - 1]) / (time[f, i] - time[f, i - 1])
			return count[f, n[f]]
		}
		FNR == 1 { f++ }
		{ n[f]++; time[f, n[f]] = $1; count[f, n[f]] = $2 }
		END {
			from = time[1, 1] > time[2, 1] ? time[1, 1] : time[2, 1]
			to = time[1, n[1]] < time[2, n[2]] ? time[1, n[1]] : time[2, n[2]]
			first = time[1, 1] < time[2, 1] ? time[1, 1] : time[2, 1]
			last = time[1, n[1]] > time[2, n[2]] ? time[1, n[1]] : time[2, n[2]]
			messages = at(1, to) - at(1, from) + at(2, to) - at(2, from)
			if (to > from)
				print messages * size * 8 / (to - from), (to - from) / (last - first) * 100
			else
				print 0, 0
		}' client.trace server.trace)
	export truth overlap
	echo "both: $truth Gb/s over $overlap % of the run; $(jq -c '.results[0] | [.bandwidth_gbps, .quality.overlap_percent]' c.json)"
}

# Both begin with a post: on a busy machine the first completion may be 90 ms later. A rate is the less certain,
# the shorter both ran.
agrees() {
	traced "$@"
	json c.json '(env.truth | tonumber) as $truth | (env.overlap | tonumber) as $overlap | .results[0]
		| ((.bandwidth_gbps // 0) - $truth | fabs) * $overlap / 100 <= 0.05 * $truth
		and ((.quality.overlap_percent // 0) - $overlap | fabs) <= 5'
}

@test "the rate of both is what both did while both ran" {
	agrees 65536 write_bw -n 4000
	agrees 4096 send_bw -n 20000
	agrees 8 write_bw -n 20000 -q 2
}

@test "a direction that is slower: as long as the quicker one ran" {
	client_gbps=0.4 server_gbps=4 agrees 16384 write_bw -n 400
	# 21 ms a message to the server, 5 ms to the client: when the slow one's first completion comes, the other has ended
	client_gbps=0.025 server_gbps=0.1 agrees 65536 write_bw -n 4
}

# bats test_tags=core
@test "the sum agrees with itself" {
	traced 1024 send_bw -n 5000
	json c.json '.results[0] | .bandwidth_gbps == null or (.timed_messages * 1024 * 8 / .seconds / 1e9 / .bandwidth_gbps - 1 | fabs) < 1e-6'
	json c.json '.results[0] | .quality.overlap_percent | . != null'
}

# apart ARG…: a run whose directions take turns, as its two ends share a CPU and take turns of 100 ms on it.
# tests/unit/test_together.c has the overlap of less than one message.
apart() {
	local cpu
	cpu=$(taskset -cp $$ | sed 's/.*[:,] *//; s/.*-//')
	through=(taskset -c "$cpu" chrt -r 1)
	"${through[@]}" true 2>/dev/null || skip 'SCHED_RR is not allowed here'
	server send_bw
	client send_bw -b -n 5 -s 64 "$@" --json=c.json
	finish server
	through=()
	json c.json '[.results[].bandwidth_gbps] | all(. == null)'
}

@test "directions that did not run at the same time have no rate: no number says that it is 0" {
	apart
	ended client 0
	row client.out
	[[ ${row[*]} == '64 10 - - -' ]] || fail "${row[*]}"
	says client.err '64 B: disturbed (!): ' 'both directions ran together for 0 % of the time'
	apart --min-bw 1k --repeat 2
	ended client 6
	says client.err '64 B, both ways: there is no rate (--min-bw 1k). Fix: use a longer -D'
	apart -s 64,128
	ended client 0
	[[ $(grep -c 'both directions ran together for 0 % of the time' client.err) == 2 && $(grep -c ' - .* - .* -' client.out) == 2 ]] || fail "$(<client.out)"
	apart --output=bandwidth --quiet
	ended client 6
	silent client.out
	says client.err '64 B, both ways: there is no rate (--output). Fix: use a longer -D'
	json c.json '.status == "below_threshold"'
	apart --report-both --output=message_rate # each direction has its own
	ended client 0
	[[ $(wc -l <client.out) == 2 ]] || fail 'not two numbers'
	# perftest's readers get a number
	apart --format perftest
	ended client 0
	says client.out '0.00               0.00'
	apart --format perftest --output=bandwidth
	ended client 0
	[[ $(<client.out) == 0.000000 ]] || fail 'not perftest'\''s number'
}
