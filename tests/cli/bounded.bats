#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# What one client, or a stranger, may cost a server that stays: time, memory, log lines.

load ../lib/rdmark

setup_file() { need_device; }

over() {
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

next_is_served() {
	client send_lat -n 5 "$@"
	ended client 0
	within client 45
}

# What the server holds of memory of its own now, and has held at most of all, in KiB. (The stand-in keeps
# a mapping of each client's memory.)
held() { awk '$1 == "RssAnon:" { print $2 }' "/proc/${pid[server]}/status"; }
held_at_most() { awk '$1 == "VmHWM:" { print $2 }' "/proc/${pid[server]}/status"; }

# Descriptors (fd) or threads (task) of the server.
entries() { find "/proc/${pid[server]}/$1" -mindepth 1 -maxdepth 1 | wc -l; }

# has_entries DESCRIPTORS THREADS: it has, once it is done with a client that has ended.
has_entries() {
	local end=$((SECONDS + deadline))
	until [[ $(entries fd) == "$1" && $(entries task) == "$2" ]]; do
		((SECONDS < end)) || fail "$(entries fd) descriptors, $(entries task) threads"
		read -r -t 0.02 <> <(:) || true
	done
}

larger() { echo $(($1 > $2 ? $1 : $2)); }

round='{"type":"round","message_bytes":2,"target":5,"warmup":false}'

# bats test_tags=core
@test "a flood of alive: dropped, wherever in the session" {
	listen_in
	server send_lat --persistent
	stranger say "$hello" hear welcome pour 1000000 '{"type":"alive"}'
	stranger say "$hello" hear welcome say "$qps" hear qps pour 1000000 '{"type":"alive"}'
	stranger say "$hello" hear welcome say "$qps" hear qps say "$round" hear ready pour 1000000 '{"type":"alive"}'
	next_is_served
	(($(grep -c 'sent more than 1000 messages in a second' server.err) == 3)) || fail 'not three'
	over
}

# bats test_tags=plain
@test "a flood of other messages: dropped" {
	not_sanitized 'the server does not read 100,000 messages in a second'
	listen_in
	server send_lat --persistent
	stranger say "$hello" hear welcome pour 5000000 '{"type":"finish"}'
	next_is_served
	# On a slow machine it is no flood, and the stranger ends by its deadline.
	[[ ${status[stranger]} == 142 ]] || says server.err 'sent more than 100000 messages in a second'
	over
}

# bats test_tags=core
@test "messages that are no progress hold a server for --timeout at most: finish" {
	local stays
	listen_in
	for stays in '' --persistent; do
		server send_lat ${stays} --timeout 1
		deadline=60 start stranger "$lib/peer" connect "$port" say "$hello" hear welcome every 0.3 '{"type":"finish"}'
		finish stranger
		ended stranger 0
		says stranger.out '"code":"deadline"'
		within stranger 20
		stranger say "$hello" hear welcome say "$qps" hear qps every 0.3 '{"type":"finish"}'
		ended stranger 0
		says stranger.out 'an unexpected message instead of a round'
		next_is_served
		[[ $stays ]] || { finish server && ended server 0; }
		[[ ! $stays ]] || over
	done
}

# bats test_tags=plain
@test "a message of 8 MiB, one of 200 KiB of objects, one that is deep: refused before a tree is made of them" {
	local bad before
	not_sanitized 'ASan keeps what is freed'
	listen_in
	server send_lat --persistent
	next_is_served
	before=$(held_at_most)
	head -c 200000 /dev/zero | sed 's/\x00/{},/g' >many
	perl -e 'print "[" x 1000' >deep
	for bad in "RDMK\\0\\x7f\\xff\\xff" "RDMK\\0\\0\\xfc\\x00[$(head -c 60000 many)" "RDMK\\0\\0\\x03\\xe8$(<deep)"; do
		stranger bytes "$bad" bytes "$(head -c 5000 many)" gone
	done
	stranger say "$hello" hear welcome bytes "RDMK\\0\\x03\\xff\\xf0[$(head -c 100000 many)" bytes "$(head -c 100000 many)" \
		bytes "$(head -c 70000 many)" gone
	next_is_served
	says server.err 'a message of 8388607 bytes, more than the 65536 allowed' 'more than 16 levels of JSON' \
		'more than 256 JSON arrays and objects' 'more than 1033 JSON arrays and objects'
	(($(held_at_most) < before + 3000)) || fail "$(held_at_most) KiB, $before before"
	over
}

# bats test_tags=core
@test "without limits given, a server that stays has some, and says so at its start" {
	server write_bw --persistent
	client write_bw -n 5 -q 1025
	ended client 2
	says client.err 'requests 1025 QPs' 'allows 1024' '--max-qps'
	client write_bw -n 5 -s 1g -q 4
	ended client 2
	says client.err 'requests 4 GiB' 'allows 2 GiB' '--max-memory'
	client write_bw -D 2h
	ended client 2
	says client.err '--max-duration'
	client write_bw -n 5 -q 1024 -s 2 -t 16384
	ended client 2
	says client.err 'of queues' 'allows 2 GiB' 'Fix: '
	client write_bw -n 5
	ended client 0
	over
	says server.err 'one client may use 2 GiB of memory (--max-memory), 1024 QPs (--max-qps), 3600 s (--max-duration), and the whole rate of its link'
}

# bats test_tags=core
@test "a server that stays gives nobody a file" {
	truncate -s 1m file
	start server write_bw -p 0 --persistent --mmap file
	finish server
	ended server 2
	says server.err '--mmap cannot be used with --persistent' 'Fix: '
}

# bats test_tags=core
@test "a client whose stdout is closed: neither end waits" {
	local closed code
	while read -r code closed; do
		server write_bw --timeout 60
		through=(bash -c 'exec "$@" '"$closed" bash)
		client write_bw -n 5
		through=()
		finish server
		ended client "$code"
		ended server 0
		within server 45 # not by --timeout
	done <<-'END'
		1 >&-
		0 2>&-
		1 >&- 2>&-
		1 <&- >&- 2>&-
	END
}

# STRANGERS says how many there are, for a run by hand; its figures go to descriptor 3.
# bats test_tags=plain
@test "thousands of strangers, with --auth and without: memory, descriptors and threads stay, clients are served" {
	local auth before open most fds tasks longest clients n=${STRANGERS:-3000}
	not_sanitized 'ASan keeps what is freed'
	(umask 077 && head -c 32 /dev/urandom >key)
	for auth in key:key none; do
		server send_lat --persistent --auth="$auth"
		open=$(entries fd)
		next_is_served --auth="$auth"
		start stranger "$lib/peer" strangers "$port" 200
		finish stranger
		ended stranger 0
		next_is_served --auth="$auth"
		before=$(held)
		most=0 fds=0 tasks=0 longest=0 clients=0
		deadline=$((120 + n / 100)) start stranger "$lib/peer" strangers "$port" "$n"
		until [[ -s stranger.out ]]; do
			next_is_served --auth="$auth"
			((clients += 1))
			((longest > took_ms[client])) || longest=${took_ms[client]}
			most=$(larger "$most" "$(held)") fds=$(larger "$fds" "$(entries fd)") tasks=$(larger "$tasks" "$(entries task)")
		done
		finish stranger
		ended stranger 0
		[[ ! ${STRANGERS-} ]] ||
			echo "# ${auth%:*}: $n strangers in ${took_ms[stranger]} ms; $clients clients, the slowest in $longest ms;" \
				"KiB $before, at most $most, then $(held); descriptors $open, at most $fds; threads at most $tasks" >&3
		((most < before + 1000)) || fail "$before KiB, then $most"
		((fds <= open + 36 && tasks <= 2)) || fail "$open descriptors, then $fds; $tasks threads"
		next_is_served --auth="$auth"
		has_entries "$open" 1
		over
	done
}

# bats test_tags=core
@test "clients that a server for one client cannot serve are told why, and it serves the next one" {
	local n
	listen_in
	for n in {1..150}; do jq -c --arg n "$n" '.test = "no_" + $n' <<<"$hello"; done >many
	server send_lat
	start stranger "$lib/peer" each "$port" many
	finish stranger
	ended stranger 0
	[[ $(grep -c '^error usage ' stranger.out) == 150 ]] || fail 'one was not told why'
	next_is_served
	finish server
	ended server 0
	n=$(grep -c 'not served, still waiting' server.err)
	((n == 150)) || fail "$n lines"
}

# bats test_tags=plain
@test "rounds without end: the server's memory is what it was" {
	local before after stranger_deadline=110
	not_sanitized 'ASan keeps what is freed'
	listen_in
	server send_lat --persistent
	stranger say "$hello" hear welcome say "$qps" hear qps rounds 100 "$round"
	before=$(held)
	stranger say "$hello" hear welcome say "$qps" hear qps rounds 1500 "$round"
	after=$(held)
	says stranger.out 'rounds 1500'
	((after < before + 1000)) || fail "$before KiB, then $after"
	over
}
