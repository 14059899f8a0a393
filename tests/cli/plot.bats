#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# rdmark-plot: what it draws of real documents, and what it says to files that are none.

load ../lib/rdmark
load ../lib/gpu

setup_file() { need_device; }

# plot ARG…: to its end.
plot() {
	command -v gnuplot >/dev/null || skip 'gnuplot is not here (make deps)'
	start plot rdmark-plot "$@"
	finish plot
}

# drawn TEXT…: it went well, and says TEXT.
drawn() {
	ended plot 0
	silent plot.err
	says plot.out "$@"
}

# A document of PROGRAM with ARGs, in FILE.
document() { # FILE PROGRAM ARG…
	server "$2"
	client "${@:2}" --json="$1"
	finish server
	ended client 0
}

@test "bandwidth against size: text of 80 by 24 with ceilings, units, sizes" {
	export SIMVERBS_DEVICES='sim0 speed=EDR width=4 gid.3=v2/127.0.0.1/lo'
	document run.json write_bw -a -n 4
	plot run.json
	drawn 'Bandwidth: write_bw' ' A run ' ' - line rate 100 Gb/s' '100 |- - - - -' 'message size [bytes]' 'bandwidth [Gb/s]' ' 64Ki ' ' 4Mi'
	[[ $(wc -L <plot.out) -le 80 && $(wc -l <plot.out) -le 24 ]] || fail 'too large'
	plot --size 120x40 run.json
	drawn ' 32Ki '
	(($(wc -L <plot.out) > 90 && $(wc -l <plot.out) > 30)) || fail 'too small'
	jq '.ends.client.pcie_link = "PCIe 8.0 GT/s x8"' run.json >slot.json
	plot slot.json
	drawn '= PCIe link 57.6 Gb/s' ' = = = = '
	says_no plot.out '**A**' '###'
}

@test "a curve alone has no name in a picture, unless it was given one" {
	document run.json write_bw -n 50 -s 1k,4k
	plot -o p.gp run.json
	drawn ''
	run ! grep -q "title 'run'" p.gp
	plot -b 4k -o p.gp run.json # one bar: its size is below it
	drawn ''
	grep -q '^set xtics nomirror ("4 KiB" 0)' p.gp || fail "$(<p.gp)"
	plot -o p.gp -l mine -s 480x320 run.json
	drawn ''
	grep -q "title 'mine'" p.gp
	document h.json send_lat -n 300 -H
	plot -o p.gp h.json
	drawn ''
	run ! grep -Eq "title '(h|)[,']" p.gp
}

@test "several files: their names, or labels; one size is bars" {
	document one.json write_bw -n 50 -s 4k
	document two.json write_bw -n 50 -s 4k -q 2
	plot one.json two.json
	drawn 'one, 1 QP' 'two, 2 QPs' '4 KiB'
	plot -l before --label=after one.json two.json
	drawn 'before, 1 QP' 'after, 2 QPs'
	# Labels that would touch each other are in lines instead.
	plot -l aaaaaaaaaaaaaaaaaaaaaaaaaa -l bbbbbbbbbbbbbbbbbbbbbbbbbb one.json two.json
	grep -Eq '^ +a{26} +b{26}$' plot.out || fail 'they run together'
	mkdir a
	cp one.json a
	plot one.json a/one.json
	drawn 'a/one'
	# What has nothing to draw is named.
	document lat.json write_lat -n 50
	plot one.json lat.json
	grep -qF 'lat: no figure for --kind bandwidth, not drawn' plot.err || fail "$(<plot.err)"
}

@test "latency: against size, percentiles, histogram" {
	document a.json send_lat -a -n 30
	plot a.json
	drawn 'Latency, half round trip' 'p99.9' 'latency [us]'
	document h.json send_lat -n 500 -H
	plot h.json
	drawn 'Latency histogram' 'messages' 'median ' ' us'
	plot --kind percentiles h.json
	drawn 'p99.99' 'Latency percentiles' ', 2 B'
	plot --kind histogram a.json
	ended plot 2
	says plot.err 'histogram' '-H'
}

@test "gdr_bw: cells, host memory, ceiling" {
	driver
	document g.json gdr_bw -n 20 --windows 3 --within 100
	unset LD_LIBRARY_PATH
	plot -o g.png g.json g.json
	drawn ''
	plot -o g.svg g.json
	drawn ''
	says g.svg 'host memory' 'whiskers: lowest to highest' '</svg>'
	plot g.json
	drawn 'dmabuf' 'host memory, client->server' 'ceiling' 'bandwidth [Gb/s]'
}

@test "pictures: SVG that is XML, PNG; whole or not at all" {
	local name
	document run.json write_bw -a -n 4
	for name in p.svg p.png p.pdf; do
		plot -o "$name" run.json
		drawn ''
		silent plot.out
	done
	[[ $(head -c 8 p.png | od -An -tx1) == ' 89 50 4e 47 0d 0a 1a 0a' ]] || fail 'no PNG'
	says p.svg '<svg' 'line rate' '</svg>'
	plot -o p.svg missing.json
	ended plot 2
	says p.svg '</svg>'
	[[ $(echo p.svg*) == p.svg ]] || fail 'something is left'
	plot -o /no/such/folder/p.svg run.json
	ended plot 1
	says plot.err /no/such/folder
}

@test "a picture of each kind; text of the terminal's size" {
	local kind
	document h.json send_lat -n 300 -H
	document a.json send_lat -a -n 30
	for kind in histogram percentiles; do
		plot -k $kind -o $kind.svg h.json
		drawn ''
		plot -k $kind -o $kind.png h.json h.json
		drawn ''
		says $kind.svg '>latency [us]<' '</svg>'
	done
	plot -o latency.svg a.json
	drawn ''
	says latency.svg 'p99, p99.9: too few messages' '>max<' '>message size [bytes]<' '</svg>'
	command -v script >/dev/null || skip 'script is not here (util-linux)'
	start terminal "$(command -v script)" -qefc "stty cols 120 rows 40; $RDMARK_BIN/rdmark-plot a.json" shown
	finish terminal
	ended terminal 0
	tr -d '\r' <shown | grep -v '^Script' >screen
	(($(wc -L <screen) > 100 && $(wc -L <screen) <= 120 && $(wc -l <screen) > 30 && $(wc -l <screen) <= 40)) ||
		fail "$(wc -L <screen) x $(wc -l <screen)"
}

@test "lines of a server that stays: each test and number of QPs is a series; failed clients have none" {
	local n
	server write_bw --persistent --json=lines.json
	for n in 1 2; do
		client write_bw -n 20 -s 1k -q $n
		client write_bw -n 20 -s 64k -q $n
	done
	client send_bw -n 20
	kill -TERM "${pid[server]}"
	finish server
	plot lines.json
	drawn '1 QP' '2 QPs' 'message size'
	plot - <lines.json # its standard input is not ours: it is empty
	ended plot 2
	says plot.err 'empty'
}

@test "intervals over time" {
	server send_bw
	client send_bw -D 0.7 --interval 0.1 --json
	finish server
	ended client 0
	cp client.out lines.json
	plot --kind time lines.json
	drawn 'Bandwidth over time' 'time since the start [s]'
	plot lines.json
	drawn 'Bandwidth: send_bw'
	grep '^{"interval"' lines.json >only.json
	plot only.json
	drawn 'Bandwidth over time'
	document run.json send_bw -n 10
	plot --kind time run.json
	ended plot 2
	says plot.err 'make the documents with --interval'
}

@test "intervals over time: of a document, and two beside each other" {
	document one.json send_bw -D 0.7 --interval 0.1
	document two.json send_bw -D 0.7 --interval 0.1
	plot --kind time one.json two.json
	drawn 'Bandwidth over time' one two
	plot one.json
	drawn 'Bandwidth: send_bw'
	document lat.json send_lat -D 0.7 --interval 0.1
	plot --kind time lat.json
	drawn 'Mean latency over time'
}

@test "what others named their hosts is drawn, and does nothing" {
	keep_documents() { :; } # these are made up
	local evil
	document run.json write_bw -a -n 4
	evil="it's \`touch owned\` <b>&amp; \$(touch owned)"
	jq --arg evil $'\'; system("touch owned"); \'`touch owned`\e[31m\nsystem("touch owned") <&>' \
		'.ends.client.host = $evil | .ends.server.host = $evil | .test = $evil' run.json >"$evil.json"
	plot "$evil.json" run.json -l $'\\\'"\n!touch owned'
	ended plot 0
	plot "$evil.json" -o p.svg
	ended plot 0
	plot "$evil.json" -b 64
	ended plot 0
	[[ ! -e owned ]] || fail 'gnuplot ran what a document said'
	! grep -q $'\e' plot.out || fail 'an escape sequence came through'
}

# refuses STATUS TEXT… -- ARG…
refuses() {
	local expected=$1 texts=()
	shift
	while [[ $1 != -- ]]; do
		texts+=("$1")
		shift
	done
	plot "${@:2}"
	ended plot "$expected"
	silent plot.out
	says plot.err 'rdmark-plot: ' "${texts[@]}"
}

@test "quotes, and names that are options, assignments, control characters" {
	keep_documents() { :; } # these are made up
	local name label
	document run.json write_bw -a -n 4
	for label in "'a" "''" "a''b" "'''" "\\'"; do
		jq --arg text "$label" '.ends.client.host = $text' run.json >quoted.json
		plot -l "$label" -l b -t "$label" quoted.json run.json
		ended plot 0
		plot -l "$label" -l b -o p.svg quoted.json run.json
		drawn ''
	done
	for name in best=1.json -n --slurp $'\e[31m.json'; do
		cp -- run.json "$name"
		plot -o p.gp -- "$name"
		drawn ''
		echo '{"schema_version": 3}' >"./$name"
		plot -- "$name"
		ended plot 2
		says plot.err 'no results'
		says_no plot.err $'\e'
		echo '{' >"./$name"
		plot -- "$name"
		says plot.err 'not valid JSON'
		says_no plot.err $'\e'
	done
	plot -- $'\e[31m\xc2\x9b31m'
	ended plot 2
	says plot.err 'no such file'
	says_no plot.err $'\e' $'\xc2\x9b'
}

@test "figures of 0 divide nothing" {
	keep_documents() { :; } # these are made up
	local kind
	document run.json write_bw -n 4
	document h.json send_lat -n 300 -H
	jq '.results[].bandwidth_gbps = 0' run.json >zero.json
	refuses 2 'no result of run matches one of zero' -- -k ratio zero.json run.json
	plot -k ratio run.json zero.json
	drawn ''
	jq '.results[].latency_histogram_us = [[0, 1, 1]]' h.json >low.json
	for kind in histogram ccdf; do
		plot -k $kind low.json
		drawn ''
	done
	jq '.results[].latency_histogram_us = [[0, 1, 0]]' h.json >none.json
	refuses 2 'no data' -- -k ccdf none.json
}

@test "files that are none: named, with the cause, exit 2" {
	keep_documents() { :; } # these are made up
	document run.json write_bw -n 4 --out_json_file=perftest.json
	refuses 2 missing.json 'no such file' -- run.json missing.json
	refuses 2 . 'is a directory' -- .
	: >empty.json
	refuses 2 empty.json empty -- empty.json
	head -c 200 run.json >cut.json
	refuses 2 cut.json 'not valid JSON' -- cut.json
	refuses 2 perftest.json "perftest's" -- perftest.json
	echo '[1]' >array.json
	refuses 2 array.json 'not a document of' -- array.json
	jq '.schema_version = 4' run.json >newer.json
	refuses 2 newer.json newer -- newer.json
	start cli write_bw -p 1 --connect-timeout 0 --json=failed.json 127.0.0.1
	finish cli
	refuses 2 failed.json 'no results' 'Connection refused' -- failed.json
	jq '.results = [5, {}, {message_bytes: "x"}, {message_bytes: 64, bandwidth_gbps: "9"}] | .ends = 7' run.json >wrong.json
	refuses 2 wrong.json -- --kind bandwidth wrong.json
	refuses 2 'no data' -- --kind cells run.json
}

@test "command lines that are wrong; what is missing" {
	echo '{}' >run.json
	refuses 2 'no file' --
	refuses 2 --bogus -- --bogus run.json
	refuses 2 value -- -o
	refuses 2 .svg -- -o p.gif run.json
	refuses 2 'one of' -- -k pie run.json
	refuses 2 WIDTHxHEIGHT -- -s 5 run.json
	refuses 2 480x320 -- -s 479x320 -o p.png run.json
	refuses 2 --label -- -l a -l b run.json
	plot --version
	drawn rdmark
	mkdir bin
	ln -s "$(command -v bash)" "$(command -v realpath)" "$(command -v dirname)" "$(command -v jq)" bin
	PATH=$PWD/bin "$RDMARK_BIN/rdmark-plot" run.json 2>plot.err || status[plot]=$?
	ended plot 77
	says plot.err 'gnuplot is not installed' 'apt-get install gnuplot-nox' dnf
}
