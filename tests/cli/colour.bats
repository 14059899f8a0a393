#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Colours: on a terminal only, which script(1) makes, and not against NO_COLOR or TERM.

load ../lib/rdmark
load ../lib/gpu
load ../lib/pairs

setup_file() { need_device; }

# shown COMMAND: a terminal shows what this prints; in shown it is <red:so>, <green:so> or <yellow:so>.
shown() {
	command -v script >/dev/null || skip 'script is not here (util-linux)'
	unset NO_COLOR
	start client "$(command -v script)" -qefc "stty cols 160; TERM=${term-xterm} ${colours-} $*" seen_by
	finish client
	name_colours
}

name_colours() {
	sed 's/\r$//; s/.*\r\(.\)/\1/; s/\x1b\[31m/<red:/g; s/\x1b\[32m/<green:/g; s/\x1b\[33m/<yellow:/g; s/\x1b\[m/>/g' seen_by >shown
}

# plain COMMAND: a pipe and a file get no escape, whatever TERM is.
plain() {
	bash -c "TERM=xterm $*" 2>&1 </dev/null | cat >piped || true
	bash -c "TERM=xterm $*" >filed 2>&1 </dev/null || true
	! grep -q $'\e' piped filed || fail "$(cat -v piped filed)"
	[[ -s piped && -s filed ]] || fail 'nothing was printed'
}

# judged [COMMAND]: rdmark-pairs of a cluster with a slow node.
judged() { ${1-shown} "$RDMARK_BIN/rdmark-pairs judge made.jsonl"; }

@test "rdmark-pairs: the kind of a suspect; red is what is lost" {
	made_pairs 8 'if touches("n3") and has("value") then .value *= 0.5 else . end' >made.jsonl
	judged
	says shown '<yellow:slow nodes>: 1'
	judged plain
	made_pairs 8 'if touches("n3") and has("value") then .status = "failed" | .cause = "peer" | .exit = 4 | .error = "gone" | del(.value) else . end' >made.jsonl
	judged
	says shown '<red:runs ended without a figure>: 1'
}

@test "NO_COLOR and a terminal that is dumb, or unknown, have no colours" {
	local colours term
	made_pairs 8 'if touches("n3") and has("value") then .value *= 0.5 else . end' >made.jsonl
	colours='NO_COLOR=1' judged
	says_no shown $'\e' '<yellow:'
	says shown 'slow nodes: 1'
	colours='NO_COLOR=' judged
	says shown '<yellow:slow nodes>'
	term=dumb judged
	says_no shown $'\e' '<yellow:'
	term='' judged
	says_no shown $'\e' '<yellow:'
}

@test "rdmark check: ok, warn and fault" {
	export SIMVERBS_DEVICES='ib0 link=ib sm_lid=1 speed=EDR width=4; ib1 link=ib sm_lid=1 speed=QDR width=4; ib2 link=ib speed=EDR state=INIT'
	"$root/build/tests/simverbs-sysfs" sys || skip 'no simverbs-sysfs here'
	export RDMARK_SYSFS=$PWD/sys
	shown "$RDMARK_BIN/rdmark check"
	ended client 6
	says shown 'ib1 port 1: <yellow:warn>: the link runs at' 'ib2 port 1: <red:fault>: '
	grep -q ': note: ' shown || fail "$(cat -v shown)"
	export SIMVERBS_DEVICES='ib0 link=ib sm_lid=1 lid=1 speed=EDR width=4'
	rm -rf sys
	"$root/build/tests/simverbs-sysfs" sys
	shown "$RDMARK_BIN/rdmark check"
	says shown 'ib0 port 1: <green:ok>: ACTIVE'
	plain "$RDMARK_BIN/rdmark check"
}

@test "gdr_bw's verdict, in its table and in the tour" {
	driver
	server 'rdmark server'
	shown "$RDMARK_BIN/gdr_bw -p $port --windows 2 -n 20 $host"
	grep -Eq '^ <(red:FAIL|green:PASS|yellow:WARN|yellow:INCONCLUSIVE)> [A-Za-z]' shown || fail "$(cat -v shown)"
	shown "$RDMARK_BIN/rdmark $host -p $port -n 20"
	grep -Eq '^gdr_bw     <(red:FAIL|green:PASS|yellow:WARN|yellow:INCONCLUSIVE)> (GPU|[a-z])' shown || fail "$(cat -v shown)"
	plain "$RDMARK_BIN/gdr_bw -p $port --windows 2 -n 20 $host"
	kill -TERM "${pid[server]}"
	finish server
}

# A run whose port counts ACK timeouts meanwhile, on a terminal or with its row in a file.
disturbed() { # [REDIRECTION]
	local acks
	rm -rf tree seen_by client.pid
	"$root/build/tests/simverbs-sysfs" tree || skip 'no simverbs-sysfs here'
	acks=$(echo tree/class/infiniband/*/ports/1/hw_counters)/local_ack_timeout_err
	printf 100 >"$acks"
	server write_bw
	command -v script >/dev/null || skip 'script is not here (util-linux)'
	unset NO_COLOR
	RDMARK_SYSFS=$PWD/tree SIMVERBS_SYSFS=$PWD/tree start client "$(command -v script)" -qefc \
		"stty cols 160; echo \$\$ >client.pid; exec env TERM=xterm $RDMARK_BIN/write_bw -p $port -D 30 -s 64 --json=c.json $host ${1-}" seen_by
	until_says seen_by ' s: 64 B: '
	printf 110 1<>"$acks"
	kill -INT "$(<client.pid)"
	finish client server
	name_colours
	json c.json '.results[0].quality.disturbed'
}

@test "the mark of a disturbed row, in the table" {
	[[ ${RDMARK_PRELOAD-} ]] || skip 'the counters of a real port cannot be set'
	disturbed
	grep -Eq '^ 64 .*[0-9]<yellow: !>$' shown || fail "$(cat -v shown)"
	disturbed '>row'
	grep -Eq '^ 64 .*[0-9] !$' row || fail "$(cat -v row)"
}

@test "rdmark compare: worse is red, and the mark has its colour" {
	pair write_bw -n 200 --repeat 5 --json=before.json
	mkdir made # no program wrote this
	jq '.results[].bandwidth_gbps *= 0.1 | .results[].quality.disturbed = true' before.json >made/after.json
	shown "$RDMARK_BIN/rdmark compare before.json made/after.json"
	grep -Eq '  (<red:worse>.*|<yellow:cannot tell>)<yellow: !>$' shown || fail "$(cat -v shown)"
	plain "$RDMARK_BIN/rdmark compare before.json made/after.json"
}
