#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq and gnuplot; what lib/rdmark.bash sets and reads
#
# rdmark-plot: which figures are drawn, by the data in gnuplot's script, of documents that are real
# but for the figures that a test puts there; and what gnuplot says to every kind.

load ../lib/rdmark
load ../lib/gpu
load ../lib/pairs

setup_file() { need_device; }

keep_documents() { :; } # most here have figures that no program would write

# plot ARG…: to its end.
plot() {
	[[ $* == *.gp* ]] || command -v gnuplot >/dev/null || skip 'gnuplot is not here (make deps)'
	start plot rdmark-plot "$@"
	finish plot
}

# script ARG…: into picture.gp, without a word on stderr.
script() {
	plot -o picture.gp "$@"
	ended plot 0
	silent plot.err
}

# refused TEXT… -- ARG…: with status 2 and a line that says TEXT.
refused() {
	local texts=()
	while [[ $1 != -- ]]; do
		texts+=("$1")
		shift
	done
	plot "${@:2}"
	ended plot 2
	silent plot.out
	says plot.err 'rdmark-plot: ' "${texts[@]}"
	[[ $(wc -l <plot.err) == 1 ]] || fail 'more than one line'
}

# data NAME ROW…: the rows of that block of picture.gp; * stands for anything.
data() {
	local rows row i
	mapfile -t rows < <(sed -n "/^\$$1 << /,/^END_OF_DATA/p" picture.gp | sed '1d;$d')
	((${#rows[@]} == $# - 1)) || fail "\$$1 has ${#rows[@]} rows, not $(($# - 1)): ${rows[*]}"
	for ((i = 0; i < ${#rows[@]}; i++)); do
		row=${*:i+2:1}
		# shellcheck disable=SC2053 # a pattern
		[[ ${rows[i]} == $row ]] || fail "\$$1, row $i: '${rows[i]}', not '$row'"
	done
}

# A document of PROGRAM with ARGs, in FILE.
document() { # FILE PROGRAM ARG…
	server "$2"
	client "${@:2}" --json="$1"
	finish server
	ended client 0
}

# made FILE FROM FILTER: by jq.
made() { jq -c "$3" "$2" >made && mv made "$1"; }

@test "message rate over size: the figures, and the curve of the line rate" {
	local row rows=()
	export SIMVERBS_DEVICES='sim0 speed=EDR width=4 gid.3=v2/127.0.0.1/lo'
	document all.json write_bw -a -n 4
	made fast.json all.json '.results |= map(.messages_per_s = 64e6 / .message_bytes)'
	script -k rate fast.json
	mapfile -t rows < <(jq -r '.results[] | "\(.message_bytes) \(64 / .message_bytes) *"' fast.json)
	data s0 "${rows[@]}"
	says picture.gp 'messages a second [millions]' "12500 / x title 'line rate 100 Gb/s'" 'set logscale x 2'
	script -k rate -b 64 fast.json
	data s0 '0 1 1 1 *'
	says_no picture.gp ' / x '
}

@test "any option on the x axis; what follows it makes no curve" {
	local depth size
	document run.json write_bw -n 4
	for depth in 16 64 256; do
		for size in 64 4096; do
			made one.json run.json ".experiment.tx_depth = $depth | .experiment.cq_mod = $depth / 4
				| .results[0] |= (.message_bytes = $size | .bandwidth_gbps = $depth + $size)"
			cat one.json
		done
	done >sweep.json
	script -x tx-depth sweep.json
	data s0 '16 80 80 80' '64 128 128 128' '256 320 320 320'
	data s1 '16 4112 *' '64 4160 *' '256 4352 *'
	says picture.gp "title '64 B'" "title '4 KiB'" "set xlabel \"\".'tx_depth'" "'16' 16, '64' 64, '256' 256"
	says_no picture.gp cq_mod
	script sweep.json # several sizes
	data s0 '64 80 *' '4096 4112 *'
	says picture.gp "title 'tx_depth 16'" 'message size'
	script -b 64 sweep.json # one size: what was varied
	data s0 '16 80 *' '64 128 *' '256 320 *'
	refused '-x colour' 'no document has' 'these differ: size, tx_depth, cq_mod' -- -x colour sweep.json
	refused '-x' 'axis of its own' -- -k threads -x size sweep.json
}

@test "a sweep in one document: what was varied is on the x axis, or makes curves" {
	document sweep.json write_bw -n 4 -q 1,2,4 -s 64,4k -t 16,32
	made sweep.json sweep.json '.results |= map(.bandwidth_gbps = .varied.qp + .varied.tx_depth + .message_bytes)'
	script -x qp sweep.json
	data s0 '1 81 *' '2 82 *' '4 84 *'
	says picture.gp "title '64 B, tx_depth 16'" "title '4 KiB, tx_depth 32'"
	made one.json sweep.json '.results |= map(select(.message_bytes == 64 and .varied.qp == 4))'
	script one.json # nothing else was varied
	data s0 '16 84 *' '32 100 *'
	says picture.gp "'tx_depth'"
}

@test "options that are no numbers are bars" {
	document run.json send_lat -n 100
	made rc.json run.json '.results[0].latency_p50_us = 10'
	made uc.json run.json '.results[0].latency_p50_us = 20 | .experiment.connection = "UC"'
	cat rc.json uc.json >both.json
	script -k latency -x connection both.json
	data s1 '* 10 10 10 NaN 10 "10"' '* 20 20 20 NaN 20 "20"'
	says picture.gp '"RC" 0, "UC" 1' 'with boxes'
}

@test "repeated measurements: the one in the middle, whiskers, a dot for each" {
	document rep.json write_bw -n 4 -s 4k --repeat 5
	made fixed.json rep.json '[30, 10, 50, 20, 40] as $g | .results |= [.[] | .bandwidth_gbps = $g[.run - 1]]'
	script fixed.json
	data s0 '0 30 10 50 NaN 50 "30 (10-50)"'
	data d0 '-0.24 30' '-0.12 10' '0 50' '0.12 20' '0.24 40'
	says picture.gp '5 runs each' 'with vectors heads' '$d0 using 1:2 with points'
	made first.json fixed.json 'del(.results[0].bandwidth_gbps)'
	script first.json
	data s0 '0 20 10 50 *'
	made sizes.json fixed.json '.results += [.results[] | .message_bytes = 64 | .bandwidth_gbps += 1]'
	script sizes.json
	data s0 '64 31 11 51' '4096 30 10 50'
	says picture.gp 'with yerrorbars'
	plot sizes.json
	ended plot 0
	silent plot.err
}

@test "a run without a rate is not drawn, and none of 0" {
	document runs.json write_bw -n 20 -s 4k --repeat 3
	made rates.json runs.json '.results[] |= (.bandwidth_gbps = 10 * .run | .messages_per_s = 1e6 * .run)'
	made gap.json rates.json 'del(.results[1].bandwidth_gbps, .results[1].messages_per_s)'
	script -k bandwidth gap.json
	data s0 '* 10 10 30 *'
	data d0 '* 10' '* 30'
	script -k rate gap.json
	data s0 '* 1 1 3 *'
}

@test "threads and devices, beside each other" {
	local wanted
	export SIMVERBS_DEVICES='sim0 speed=EDR width=4 gid.3=v2/127.0.0.1/lo; sim1 speed=EDR width=4 gid.3=v2/127.0.0.1/lo'
	document one.json write_bw -n 20
	refused 'no data for --kind threads' '--threads' -- -k threads one.json
	refused 'no data for --kind devices' '-d A,B' -- -k devices one.json
	document threads.json send_bw -b --threads 2 -n 50 -s 4k
	made fixed.json threads.json '.results[0].by_thread |= map(
		.bandwidth_gbps = .thread + if .direction == "client_to_server" then 1 else 5 end)'
	script -k threads fixed.json
	data s0 '* 1 1 1 *' '* 2 2 2 *'
	data s1 '* 5 5 5 *' '* 6 6 6 *'
	says picture.gp "title 'client->server'" "title 'server->client'" '"0" 0, "1" 1' 'both directions, 1 QP, 2 threads'
	server write_bw -d sim0,sim1
	client write_bw -d sim0,sim1 --threads 2 -n 20 --json=devices.json
	finish server
	ended client 0
	script -k devices devices.json
	wanted=$(jq -r '.results[0].by_device[] | select(.device == "sim1") | .bandwidth_gbps' devices.json)
	data s0 '*' "* $wanted *"
	says picture.gp '"sim0" 0, "sim1" 1' "'device'"
	script -k threads devices.json
	says picture.gp '"0\nsim0" 0, "1\nsim1" 1'
	script devices.json
	says picture.gp 'line rate 200 Gb/s' # of both together
	document lat.json send_lat --threads 2 -n 2000
	script -k threads lat.json
	says picture.gp "title 'median'" 'set logscale y'
}

@test "ratio: by the first file; what is unlike is noted or refused" {
	document run.json write_bw -n 4 -s 4k --repeat 3
	made before.json run.json '.results |= [.[] | .bandwidth_gbps = 9 + .run]' # 10 11 12
	made after.json run.json '.results |= [.[] | .bandwidth_gbps = 22 * .run]'
	script -k ratio before.json after.json
	data s0 '0 1 0.909* 1.09* *' '1 4 2 6 *'
	says picture.gp 'Bandwidth relative to before: write_bw, 4 KiB'
	made qps.json after.json '.experiment.qp = 2 | .experiment.sl = 3'
	plot -o picture.gp -k ratio before.json qps.json
	ended plot 0
	[[ $(<plot.err) == 'rdmark-plot: the runs differ in qp (1 QP, 2 QPs), sl (sl 0, sl 3)' ]] || fail 'no note'
	made absent.json after.json '.test = "send_bw" | .experiment.write_with_imm = null | .experiment.qp = 2' # other tests lack it
	plot -o picture.gp -k ratio before.json absent.json
	[[ $(<plot.err) == 'rdmark-plot: the runs differ in test (send_bw, write_bw), qp (1 QP, 2 QPs)' ]] || fail 'equal values are told'
	made with.json before.json '.experiment.write_with_imm = true'
	made lacks.json after.json '.test = "send_bw" | del(.experiment.write_with_imm)'
	plot -o picture.gp -k ratio with.json lacks.json
	[[ $(<plot.err) == 'rdmark-plot: the runs differ in test (send_bw, write_bw)' ]] || fail 'an absent value is told'
	refused 'two files' -- -k ratio before.json
	made sure.json run.json '.results |= [.[0] | .bandwidth_gbps = 10 | .plus_minus_percent = 3]'
	made surer.json run.json '.results |= [.[0] | .bandwidth_gbps = 20 | .plus_minus_percent = 4]'
	script -k ratio sure.json surer.json
	data s0 '0 1 0.97 1.03 *' '1 2 1.9 2.1 *'
	says picture.gp 'relative to sure; bars: ± 95 %'
	made unsure.json run.json '.results |= [.[0] | .bandwidth_gbps = 20 | .plus_minus_percent = 120]'
	script -k ratio sure.json unsure.json
	data s0 '0 1 0.97 1.03 *' '1 2 0 4.4* *' # which the axis holds
	grep -Eq '^set yrange \[0:4\.[7-9]' picture.gp || fail "$(grep yrange picture.gp)"
	made connections.json after.json '.results |= [to_entries[] | .value + {varied: {reconnect: .key}}]'
	script -k ratio before.json connections.json
	data s0 '0 1 0.909* 1.09* *' '1 4 2 6 *'
	made both.json after.json '.experiment.bidirectional = true | .results |= map(.measured_by = "both" | .direction = "both")'
	refused 'both directions (-b), some of one' -- -k ratio before.json both.json
	made other.json after.json '.results |= map(.message_bytes = 8)'
	refused 'no result of other matches one of before' 'size (8 B, 4 KiB)' -- -k ratio before.json other.json
	document measured.json send_lat -n 2000
	made lat.json measured.json '.results[0] |= (.latency_p50_us = 5 | .latency_p99_us = 20)'
	refused 'some latency' -- -k ratio before.json lat.json
	made slow.json lat.json '.results[0] |= (.latency_p50_us *= 2 | .latency_p99_us *= 3)'
	script -k ratio lat.json slow.json
	data s0 '* 1 *' '* 1 *' '* 2 *' '* 3 *'
}

@test "both directions: named, their ceiling doubled, and noted beside one" {
	export SIMVERBS_DEVICES='sim0 speed=EDR width=4 gid.3=v2/127.0.0.1/lo'
	document both.json write_bw -b -n 20
	document one.json write_bw -n 20
	made both.json both.json '.results |= map(.bandwidth_gbps = if .measured_by == "both" then 150 else 75 end)'
	script both.json
	data s0 '0 150 *'
	says picture.gp 'both directions, 1 QP' "set label 'line rate, both directions 200 Gb/s' at graph 0.02, first 200 left" '200 notitle with lines lw 1.5 dt (16,5,3,5)'
	says_no picture.gp "'line rate 100"
	plot -o picture.gp one.json both.json
	ended plot 0
	[[ $(<plot.err) == 'rdmark-plot: results of both directions (-b) are drawn next to '* ]] || fail 'no note'
	says picture.gp '"one\none direction" 0, "both\nboth directions" 1' "set label 'line rate 100 Gb/s' at graph 0.02, first 100 left" \
		'100 notitle with lines lw 1.5 dt (16,6) ' '200 notitle with lines lw 1.5 dt (16,5,3,5) '
	made slot.json one.json '.ends[].pcie_link = "PCIe 8.0 GT/s x14"' # 100.8 Gb/s: their names would touch each other
	script slot.json
	says picture.gp "'line rate 100 Gb/s' at graph 0.02, first 100 left" "'PCIe link 100.8 Gb/s' at graph 0.98, first 100.8 right"
}

# disturb FROM FILTER FILE: in FILE, FROM with only those of its results disturbed that pass FILTER.
disturb() { made "$3" "$1" ".results |= map(.quality |= (. // {}) | .quality.disturbed = ($2))"; }

@test "what was disturbed is hollow, in the legend, and in text a small letter" {
	local kind
	document all.json write_bw -s 64,128,256 -n 20
	made fixed.json all.json '.results |= (to_entries | map(.value.bandwidth_gbps = 20 * .key + 20 | .value))'
	disturb fixed.json 'false' calm.json
	disturb fixed.json '.message_bytes == 128' one.json
	script calm.json
	says_no picture.gp disturbed '$m'
	for kind in bandwidth ratio; do
		script -k "$kind" one.json calm.json
		says picture.gp 'title '\''disturbed (!)'\' '$ms0 using 1:2 with points pt 6 '
	done
	data ms0 '128 1'
	data ms1 '128 1' # by the disturbed one
	script one.json
	data ms0 '128 40'
	plot one.json calm.json
	ended plot 0
	says plot.out 'A one   B calm   a disturbed (!) '
	[[ $(grep -c '[.:| ]a' plot.out) == 2 ]] || fail 'not at one point'
	# Bars, of one run and of several.
	script -b 128 one.json calm.json
	data ms0 '0 40'
	says picture.gp "'disturbed (!)' with boxes fs solid 0"
	plot -b 128 one.json calm.json
	says plot.out '! disturbed' '*40 !*'
	document rep.json write_bw -n 20 -s 4k --repeat 3
	disturb rep.json '.run == 2' reps.json
	script reps.json
	data ms0 '0 *'
	data e0 "0 $(jq '.results[1].bandwidth_gbps' reps.json)"
	document time.json send_bw -D 0.5 --interval 0.1
	disturb time.json true times.json
	script -k time times.json
	[[ $(sed -n '/^\$ms0 <</,/^END_OF_DATA/p' picture.gp | wc -l) == $(($(jq '.intervals | map(select(.partial | not)) | length' times.json) + 2)) ]] || fail 'not all intervals'
}

@test "disturbed latencies: curves, percentiles, histogram, ccdf, threads" {
	local kind
	document run.json send_lat -n 300 -H --threads 2
	disturb run.json false calm.json
	disturb run.json true bad.json
	made parts.json calm.json '.results[0].by_thread[] |= (.quality.disturbed = (.thread == 1))'
	for kind in latency percentiles histogram ccdf; do
		script -k "$kind" calm.json
		says_no picture.gp disturbed
		script -k "$kind" bad.json calm.json
		says picture.gp 'disturbed (!)'
		plot -k "$kind" bad.json
		ended plot 0
		says plot.out disturbed
	done
	script -k histogram bad.json calm.json
	says picture.gp "title 'bad, disturbed (!)' fs solid 0 border" "title 'calm' fs transparent solid 0.5"
	script -k threads parts.json
	data ms0 '*'
}

@test "latency against nines" {
	document run.json send_lat -n 100 -H
	made three.json run.json '.results[0].latency_histogram_us = [[3, 4, 1], [1, 2, 900], [2, 3, 99]]'
	script -k ccdf three.json
	data s0 '0 2' '1 2' '3 3'
	data d0 '3 3' '3 4'
	says picture.gp 'set yrange [1.998:5]' "'90 %%' 1" "'99.9 %%' 3" 'with fsteps' 'fewer than 10 beyond'
	made none.json run.json 'del(.results[0].latency_histogram_us)'
	refused 'make the documents with -H' -- -k ccdf none.json
}

@test "titles: connection, transport, QPs, MTU, both hosts, the day; of the SVG, too" {
	document run.json write_bw -n 4 -q 2 -c UC -s 1k
	made run2.json run.json '.ends.client.host = "a<1>" | .ends.server.host = "b" | .started_utc = "2031-02-03T04:05:06Z"'
	script run2.json
	says picture.gp "'Bandwidth: write_bw, 1 KiB'.\"\\n\".'UC, RoCE, 2 QPs, MTU 4096, a<1> -> b, 2031-02-03' noenhanced"
	cat run.json run2.json >two.json
	script -t "it's" two.json
	says picture.gp "set title 'it’s'" " to 2031-02-03" "a<1> -> b; "
	plot -o run.svg -t 'a < b & "c"' run2.json
	ended plot 0
	says run.svg '<title>a &lt; b &amp; &quot;c&quot;</title>'
	says_no run.svg '<title>Gnuplot<'
	made cut.json run.json '.results[0].interrupted = true | .status = "interrupted"'
	plot cut.json
	ended plot 0
	says plot.err 'rdmark-plot: cut: a result comes from a run that ended early'
}

@test "each kind: gnuplot has nothing to say, to a picture, to its script as text" {
	local kind file real name
	real=$(command -v gnuplot) || skip 'gnuplot is not here (make deps)'
	mkdir bin
	printf '#!/bin/bash\n%q "$@" 2>>%q\n' "$real" "$PWD/warnings" >bin/gnuplot
	chmod +x bin/gnuplot
	PATH=$PWD/bin:$PATH
	: >warnings
	export SIMVERBS_DEVICES='sim0 speed=EDR width=4 gid.3=v2/127.0.0.1/lo; sim1 speed=EDR width=4 gid.3=v2/127.0.0.1/lo'
	document bw.json write_bw -a -n 4 --repeat 2
	document lat.json send_lat -n 200 -H -s 64
	document time.json send_bw -D 0.5 --interval 0.1 --threads 2
	server write_bw -d sim0,sim1
	client write_bw -d sim0,sim1 -n 20 --json=devices.json
	finish server
	driver
	document cells.json gdr_bw -n 20 --windows 3 --within 100
	unset LD_LIBRARY_PATH
	made_pairs 8 >pairs.jsonl
	made_incast >incast.jsonl
	made_plan 8 '--plan lines:0,n3,n1,test+0,n4,n5,control+1,n3,n2,test+1,n6,n8,control --start=1790000100 --for=60' >tests.jsonl
	while read -r kind file; do
		for name in "$kind".{svg,gp}; do
			# shellcheck disable=SC2086 # several words
			plot -k "$kind" -o "$name" $file
			ended plot 0
			silent plot.err
			[[ -s $name ]] || fail "no $name"
		done
		LC_ALL=C.UTF-8 gnuplot -e 'set terminal dumb' "$kind.gp" >shown
		# Of pairs that were not measured, which stay grey, it says so.
		[[ -s shown ]] && ! grep -v 'matrix contains missing or undefined values' warnings || fail "--kind $kind: $(<warnings)"
	done <<-'END'
		bandwidth bw.json
		bandwidth devices.json
		rate bw.json
		latency lat.json
		percentiles lat.json
		histogram lat.json
		ccdf lat.json
		threads time.json
		devices devices.json
		ratio bw.json bw.json
		cells cells.json
		time time.json
		trend bw.json
		pairs pairs.jsonl
		incast incast.jsonl
		tests tests.jsonl
	END
	grep -q "kinds='bandwidth rate latency percentiles histogram ccdf threads devices ratio cells time trend pairs incast tests'" "$RDMARK_BIN/rdmark-plot" ||
		fail 'a kind is not tried here'
}

@test "trend: each run of a file of --json-lines at its time, a line for each test and size" {
	local n
	for n in 1 2 3; do
		server send_bw
		client send_bw -n 20 -s 64,128 --json-lines=runs.jsonl
		finish server
	done
	jq -c '.started_utc = "2026-11-2\(3 - (input_line_number - 1))T00:00:00Z"
		| .results |= (to_entries | map(.value.bandwidth_gbps = .key + 10 | .value))' runs.jsonl >trend.jsonl
	script -k trend trend.jsonl
	data s0 '1795219200 10' '1795305600 10' '1795392000 10'
	data ps0 '1795219200 10' '1795305600 10' '1795392000 10'
	data s1 '1795219200 11' '1795305600 11' '1795392000 11'
	grep -q "^set format x '%m-%d' timedate" picture.gp || fail "$(<picture.gp)"
	jq -c 'del(.started_utc)' trend.jsonl >timeless.jsonl
	refused 'no result says when' -- -k trend timeless.jsonl
	# What is no document of a run hides none of them: a line that was cut short, and one of --check.
	start check send_bw --check --json-lines=check.jsonl
	finish check
	head -c 100 trend.jsonl >cut.jsonl
	echo >>cut.jsonl
	cat trend.jsonl check.jsonl >>cut.jsonl
	plot -o picture.gp -k trend cut.jsonl
	ended plot 0
	says plot.err 'cut.jsonl: 2 of 5 lines are no document of a run'
	data s0 '1795219200 10' '1795305600 10' '1795392000 10'
	refused 'check.jsonl: not a document' -- -k trend check.jsonl
	jq . trend.jsonl >long.json # of several lines each
	script -k trend long.json
	data s0 '1795219200 10' '1795305600 10' '1795392000 10'
}

@test "trend: failed runs are an x, near ones no stroke, the line rate is there, disturbed ones are counted" {
	export SIMVERBS_DEVICES='sim0 speed=EDR width=4 gid.3=v2/127.0.0.1/lo'
	document run.json send_bw -n 20 -s 64
	start failing send_bw -p 1 --connect-timeout 0 --json=failed.json 127.0.0.1
	finish failing
	runs() { # SECOND GBPS DISTURBED…: of run.json; or SECOND -: it failed
		local second gbps bad
		while read -r second gbps bad; do
			jq -c --argjson when "$second" --argjson gbps "${gbps/#-/0}" --argjson bad "${bad:-false}" '.started_utc = (1795219200 + $when | todate)
				| if .results == [] then . else .results[0] |= (.bandwidth_gbps = $gbps | .quality.disturbed = $bad) end' \
				"$([[ $gbps == - ]] && echo failed.json || echo run.json)"
		done
	}
	printf '%s\n' '0 10' '0 20' '1 30 true' '2 40' '3 -' | runs >near.jsonl
	script -k trend near.jsonl
	data s0 '1795219200 10' '1795219200.5 20' '1795219201 30' '1795219202 40'
	data ms0 '1795219201 30'
	data failed '1795219203 0.02'
	grep -q "^set xrange \[1795219199:1795219204\]" picture.gp || fail 'the axis is too wide'
	says picture.gp '%H:%M:%S' "title 'disturbed (!)'" '1 of 4 runs disturbed' "title 'failed: 1 run'" "set label 'line rate 100 Gb/s'"
	plot -k trend near.jsonl
	ended plot 0
	says plot.out '1 of 4 runs disturbed' 'A near   a disturbed (!)   x failed: 1 run   - line rate 100 Gb/s' ' - - - - '
	grep -Eq '^ +0 \+-+x-' plot.out || fail 'no x'
	{ head -n 1 near.jsonl; tail -n 1 near.jsonl | jq -c '.status = "unavailable"'; } >away.jsonl # no driver
	script -k trend away.jsonl
	data failed '1795219203 0.02'
	head -n 1 near.jsonl | jq -c '.status = "cannot_tell"' >doubtful.jsonl # whether it is good enough: there is a figure
	script -k trend doubtful.jsonl
	data s0 '1795219200 10'
	says_no picture.gp failed
	printf '%s\n' '0 10' '1 20' '86400 30' '86401 40' '43200 -' | runs >days.jsonl
	script -k trend days.jsonl
	data ps0 '1795219200.5 15' '1795305600.5 35'
	runs <<<'0 -' >none.jsonl
	refused 'no results' 'Connection refused' -- -k trend none.jsonl
}

# A kept document took 46 KB: 5,000 would not fit in what these have.
@test "trend: a long history takes no more memory than what is drawn of it, which no run is missing from" {
	server send_bw
	client send_bw -n 20 -s 64 --json-lines=run.jsonl
	finish server
	history() { # RUNS: one each 10 minutes, of 1 Gb/s to 8 and once of 20
		jq -c --argjson runs "$1" '. as $d | range($runs) as $i | $d | .started_utc = (1795219200 + $i * 600 | todate)
			| .results[0].quality.disturbed = false
			| .results[0].bandwidth_gbps = if $i == 777 then 20 else 1 + $i % 8 end' run.jsonl
	}
	history 5000 >long.jsonl
	(
		ulimit -v 120000
		script -k trend -s 640x480 long.jsonl
	)
	sed -n '/^\$s0 << /,/^END_OF_DATA/p' picture.gp | sed '1d;$d' >points
	(($(wc -l <points) >= 640 && $(wc -l <points) <= 1281)) || fail "$(wc -l <points) points"
	awk '$3 < low || !low { low = $3 } $4 > high { high = $4 } { sum += $2 } END { print low, high, sum / NR; exit !(low == 1 && high == 20 && sum / NR > 4.3 && sum / NR < 4.7) }' points
	grep -q 'mean of up to [0-9]* runs a point; bars: lowest to highest' picture.gp || fail 'the title'
	history 1280 >short.jsonl # each has its point, and no whisker
	script -k trend -s 640x480 short.jsonl
	[[ $(sed -n '/^\$s0 << /,/^END_OF_DATA/p' picture.gp | awk 'NF == 2 && $2 != "<<"' | wc -l) == 1280 ]] || fail 'a run is missing'
}
