#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2154 # $ of jq; what lib/rdmark.bash sets
#
# --title: what a run is, in its documents, for Prometheus, and in pictures.

load ../lib/rdmark

setup_file() { need_device; }

over() { # the server is told to end, and does
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

@test "the title is in the documents of its end only, and of a test with cells" {
	server write_bw --json=s.json
	client write_bw -n 20 --title 'rack 7, before' --json=c.json --json-lines=c.jsonl
	finish server
	ended client 0
	json c.json '.title == "rack 7, before"'
	json c.jsonl '.title == "rack 7, before"'
	json s.json 'has("title") | not'
	server gdr_bw
	client gdr_bw --windows 1 -n 20 --title cells --json=c.json
	finish server
	json c.json '.title == "cells" and has("verdict")'
	start client send_lat -p 1 --connect-timeout 0 --title failed --json=c.json "$host"
	finish client
	json c.json '.title == "failed" and .status == "failed"'
}

@test "a server that stays titles each client's document" {
	server send_lat --persistent --title 'the server' --json-lines=s.jsonl
	client send_lat -n 20
	client send_lat -n 20
	over
	json s.jsonl 'map(.title) == ["the server", "the server"]' -s
}

# bats test_tags=core
@test "a title is any text, of which no parser stumbles; control characters and other bytes are refused" {
	local odd=$'"a\\b" {c}%s$(d)ü'
	pair send_lat -n 20 --title "$odd" --json=c.json
	"$RDMARK_BIN/rdmark-prom" c.json -o c.prom
	json c.json '.title == $odd' --arg odd "$odd"
	says c.prom 'title="\"a\\b\" {c}%s$(d)ü"} 1'
	for odd in $'two\nlines' $'\e[31m' $'a\xe2\x80\xa8b' $'\xe2\x80\xaeb' $'\xff\xc3('; do
		start client send_lat --title "$odd" "$host"
		finish client
		ended client 2
		says client.err '--title has control characters, or bytes that are no UTF-8. Fix: give plain text'
	done
}

@test "rdmark-prom: the title is a label of one series, so that no other changes with it" {
	pair write_bw -n 20 --json=c.json
	"$RDMARK_BIN/rdmark-prom" c.json -o c.prom
	says_no c.prom rdmark_title_info
	grep -o '^[^ ]*' c.prom >series
	pair write_bw -n 20 --title 'rack 7' --json=c.json
	"$RDMARK_BIN/rdmark-prom" c.json -o c.prom
	says c.prom '# TYPE rdmark_title_info gauge' "peer=\"$host\",title=\"rack 7\"} 1"
	[[ $(grep -o '^[^ ]*' c.prom | grep -vxFf series) == rdmark_title_info* ]] || fail "$(<c.prom)"
	[[ $(grep -c 'rack 7' c.prom) == 1 ]] || fail "$(<c.prom)"
}

@test "--check has it, too" {
	start client send_lat --check --title 'before the job' --json=c.json
	finish client
	json c.json '.title == "before the job"'
}

@test "a title has at most 200 bytes, and at least one" {
	local most
	most=$(printf '%200s' '' | tr ' ' x)
	pair send_lat -n 20 --title "$most" --json=c.json
	json c.json '.title == $most' --arg most "$most"
	start client send_lat --title "${most}x" "$host"
	finish client
	ended client 2
	says client.err '--title is longer than 200 bytes. Fix: shorten it'
	start client send_lat --title= "$host"
	finish client
	ended client 2
	says client.err '--title needs a value'
}

@test "the tour hands it to each test" {
	server 'rdmark server'
	start client rdmark "$host" -p "$port" --title 'all of it' -n 20 --json-lines=tour.jsonl
	finish client
	over
	json tour.jsonl 'length == 6 and all(.title == "all of it")' -s
}

# picture ARG…: the title in gnuplot's script.
picture() {
	start plot rdmark-plot -o picture.gp "$@"
	finish plot
	ended plot 0
	title=$(grep '^set title ' picture.gp)
}

# bats test_tags=plain
@test "a picture is called by the runs' titles, and says below what it shows" {
	local title
	not_sanitized 'it is a script'
	pair write_bw -n 20 -s 4k --title "rack 7's \$(link)" --json=one.json
	picture one.json
	[[ $title == *"'rack 7’s \$(link)'"*"Bandwidth: write_bw, 4 KiB'"* ]] || fail "$title"
	picture -t mine one.json
	[[ $title == "set title 'mine'"* && $title != *'rack 7'* ]] || fail "$title"
	pair write_bw -n 20 -s 4k --title after --json=two.json
	picture two.json one.json
	[[ $title == "set title 'after; rack 7"* ]] || fail "$title"
	pair write_bw -n 20 -s 4k --json=none.json
	picture none.json
	[[ $title == "set title 'Bandwidth: write_bw, 4 KiB'"* ]] || fail "$title"
	picture none.json two.json
	[[ $title == "set title 'after'"* ]] || fail "$title"
	picture -k trend one.json two.json
	[[ $title == "set title 'Bandwidth of each run: "* ]] || fail "$title"
}
