# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# After lib/rdmark.bash, on the bed: sweeps of its nodes, and the tests that several engines have.
#
#   rates [NODE GBPS]… [-- LINE…]   those of the nodes' adapters; LINEs of shell are for $bed/env, too
#   start_sweep LAUNCHER ARG…    in the background: its lines are in lines, its suspects in bad
#   sweep LAUNCHER ARG…          and to its end
#   rounds N                     the file "rounds", for --schedule file=rounds: so many of them
#   judged                       what the judge makes of lines is in judge.out, and its status is the sweep's

# shellcheck source=tests/bed/nodes.bash
. "${BASH_SOURCE[0]%/*}/nodes.bash"

pairs=$RDMARK_BIN/rdmark-pairs
hosts=(--hosts "$bed/nodes")

# need_bed PROGRAM…: skips the file without the bed, or on it without these.
need_bed() {
	local program
	[[ -f $bed/nodes ]] || { skip_file 'not on the bed (tests/bed/bed)'; return; }
	for program; do
		type -P "$program" >/dev/null || skip_file "no $program here (make deps)"
	done
}

# What is not named has 0.1 Gb/s: what waits in a queue lasts longer than a busy host holds up a process, and
# costs nothing then.
rates() {
	{
		echo 'export SIMVERBS_GBPS=.1'
		while [[ ${1---} != -- ]]; do
			echo "[[ \$node != $1 ]] || SIMVERBS_GBPS=$2"
			shift 2
		done
		printf '%s\n' "${@:2}"
	} >env.new
	mv env.new $bed/env
}

start_sweep() {
	rm -f lines
	start sweep "$pairs" sweep --launch="$1" --output lines --suspects bad "${hosts[@]}" --auth "key:$bed/key" \
		--slot 2 --start-in 8 "${@:2}" -- write_bw -e -s 4k -D 0.2
	through=()
}

sweep() {
	start_sweep "$@"
	finish sweep
}

# await_lines TEXT: a line with it has come.
await_lines() {
	timeout "$deadline" tail -F -n +1 lines 2>/dev/null | grep -q -m 1 -- "$1" || fail "no line with $1"
}

judged() {
	start judge "$pairs" judge --json lines
	finish judge
	ended judge "${status[sweep]}"
	so ".exit_status == ${status[sweep]}"
}

# so FILTER: jq finds that true of what was judged, where named("KIND") are the names of suspects of that kind.
so() { json judge.out "def named(\$kind): [.suspects[] | select(.kind == \$kind) | .name]; $1"; }

# tried N FILTER: so many lines of pairs fit jq's FILTER, and half of them, or all but one pair, have a figure. A
# busy host may hold up a process for a part of a slot: then the line says that of its pair.
tried() {
	jq -nec --argjson n "$1" "[inputs | select(.kind == \"pair\" and ($2))] | (map(select(.status == \"failed\"))) as \$failed |
		length == \$n and (\$failed | length <= ([\$n / 2, 2] | max) and all(.cause | IN(\"missed\", \"connect\", \"lost\", \"clock\")))" \
		lines >/dev/null || fail "not $1 pairs with $2: $(<lines)"
}

# n3 is slow, as the test has shown, for which no node had a file of the login host's. A busy host may hold up another
# for a moment: the test finds it good.
n3_is_slow() {
	judged
	so '[.suspects[] | select(.kind == "node_slow" and .proof == "tested") | .name] == ["n3"]'
	so '[.suspects[] | select(.kind == "node_slow" and .name == "n3") | .value / .normal] | all(. > 0.2 and . < 0.6)'
	grep -qx n3 bad || fail "suspects: $(<bad)"
}

# The processes of `rdmark-pairs run` on NODE.
tasks() { ip netns pids "$1" | grep -xf <(pgrep -f 'rdmark-pairs run') || true; }

# --- the tests of several engines --------------------------------------------------------------
#
# Each has those in which its own way to start, to leave out and to end makes a difference: a node that dies in a sweep with
# a slow one, and one that is not reached. What the judge, the plan and the players do is the same by all, and by one here.

# rounds N: the file of so many rounds of the six nodes: each pair once in five of them.
rounds() {
	local r i with
	for ((r = 0; r < $1; r++)); do
		for ((i = 0; i < 5; i++)); do
			with=$(((r % 5 + 5 - i) % 5))
			((with != i)) || with=5
			((with < i)) || echo "$r n$((i + 1)) n$((with + 1))"
		done
	done >rounds
}

# Its process is held at a gate until the others are in their fourth round: in the third one it is a client, and
# misses that.
late_node() {
	mkfifo -m 666 $bed/gate
	rates n3 .04 -- "[[ \$node != n4 ]] || read -r _ <$bed/gate"
	rounds 9
	start_sweep "$1" --schedule file=rounds --once
	await_lines '"round":3'
	rates n3 .04
	timeout "$deadline" bash -c "echo >$bed/gate" || fail 'n4 was not at the gate'
	rm $bed/gate
	finish sweep
	ended sweep 6
	judged
	tried 36 '(.alone | not) and .from != "n4" and .to != "n4"'
	[[ ! -s bad ]] || fail "drained: $(<bad)"
	so '.lost == 0 and any(.suspects[]; .name == "n3") and any(.notes[]; .kind == "missed_slots")'
}

# cut_plan LAUNCHER SIGNAL PART: that comes while this part of a plan is measured.
cut_plan() {
	rates n3 .04
	through=(env --default-signal=INT)
	deadline=300
	start_sweep "$1" --schedule full
	await_lines "\"part\":\"$3\".*\"status\""
	kill "-$2" "${pid[sweep]}"
	finish sweep
	ended sweep $((128 + $(kill -l "$2")))
	says sweep.err 'nothing of it counts'
	! grep "\"part\":\"$3\"" lines || fail 'lines of what was cut'
	"$pairs" judge "${hosts[@]}" --suspects again --plan next lines >judge.out || true
	cmp judge.out sweep.out || fail 'another report'
	[[ ! -s bad && ! -s again && -s next ]] || fail "drained: $(<bad)"
}

# killed_task LAUNCHER [ARG…]
killed_task() {
	rates
	start_sweep "$1" --schedule full --once "${@:2}"
	await_lines '"round":0'
	tasks n2 | xargs kill -KILL
	finish sweep
	ended sweep 3
	tried 20 '[.from, .to] | index("n2") | not'
	judged
	so 'named("ended_early") == ["n2"] and .lost == 1'
}

# Nobody hears that n5 has died: connections to it stay open, and the launcher waits for it.
dead_node() {
	deadline=300
	rates n3 .04
	start_sweep "$1" --schedule full
	await_lines '"round":1'
	node_dies n5
	finish sweep
	ended sweep 3
	within sweep 240
	tried 20 '(.alone | not) and .from != "n5" and .to != "n5"'
	n3_is_slow
	so '.lost == 1 and (.drain | sort) == ["n3", "n5"]'
}

# Nothing is started on n5.
absent_node() {
	deadline=180
	rates
	sweep "$1" --schedule full --once
	ended sweep 3
	within sweep 120
	tried 20 '.from != "n5" and .to != "n5"'
	judged
	so 'named("never_came") == ["n5"] and .lost == 1'
}
