#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# --auth: who proves what to whom, with key files; each attack is refused, and the next honest client is
# served.

load ../lib/rdmark

how=key:${BATS_FILE_TMPDIR-}/key

setup_file() {
	need_device
	[[ ! ${SKIP_FILE-} ]] || return 0
	cd "$BATS_FILE_TMPDIR" || return
	(umask 077 && head -c 32 /dev/urandom >key && head -c 33 /dev/urandom >other)
}

teardown_file() {
	local said
	[[ ! ${RDMARK_DOCUMENTS-} ]] && compgen -G "$BATS_FILE_TMPDIR/*.documents" >/dev/null || return 0
	said=$("$lib/schema" "$BATS_FILE_TMPDIR"/*.documents 2>&1) || (($? == 77)) || { echo "$said" >&2; return 1; }
}

over() {
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

served() {
	client send_lat -n 5 "$@"
	ended client 0
}

# refused TEXT…: the client was, and both ends say why, the server after it told the client.
refused() {
	local text
	ended client 2
	says client.err "$@"
	for text; do
		until_says server.err "$text"
	done
}

impostor() {
	deadline=30 start impostor "$lib/impostor" "$@"
	finish impostor
}

# bats test_tags=core
@test "both ends have it: every program serves, over one server, too" {
	local program
	for program in "${programs[@]}"; do
		server "$program" --auth="$how"
		client "$program" -n 5 --auth="$how" --json=c.json
		finish server
		ended client 0
		ended server 0
	done
	server send_lat --persistent --auth="$how"
	served --auth="$how"
	client send_lat -n 5 -s 2,4 --auth="$how" # two hellos, one connection
	ended client 0
	over
}

@test "rdmark server, and its tour" {
	printf '#!/bin/sh\nexec "$RDMARK_BIN/rdmark" server "$@"\n' >serve
	chmod +x serve
	start_server server ./serve --auth="$how"
	start client rdmark "$host" -p "$port" -n 5 --auth="$how"
	finish client
	ended client 0
	says client.out send_lat write_bw
	start client rdmark "$host" -p "$port" -n 5
	finish client
	ended client 2
	says client.err 'different --auth: server'
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

@test "only one end has it: both say so, and the next one is served" {
	server send_lat --persistent --auth="$how"
	client send_lat -n 5
	refused 'different --auth: server key, client none. Fix: use --auth=key:FILE on the client'
	served --auth="$how"
	over
	server send_lat --persistent
	client send_lat -n 5 --auth="$how"
	refused 'different --auth: server none, client key. Fix: start the server with --auth=key:FILE'
	client send_lat -n 5 --auth=none
	ended client 0
	over
}

@test "an end of the version before: both ends say which to upgrade" {
	# What such a server says to a hello of another protocol.
	fake_server hear hello say '{"type":"error","code":"usage","phase":"agreeing with the client","call":"the two ends have different versions: server rdmark 0.1.0 (protocol 2), client rdmark 0.1.0 (protocol 3)","fix":"upgrade rdmark on the server"}' gone
	client send_lat --auth="$how"
	ended client 2
	says client.err 'different versions: server rdmark 0.1.0 (protocol 2), client rdmark 0.1.0 (protocol 3). Fix: upgrade rdmark on the server'
	finish stranger
	heard
	json <(echo "$message") '.protocol == 4 and .auth == "key" and (has("experiment") | not)'
	# Such a client begins as one without --auth.
	server send_lat --persistent --auth="$how"
	stranger say '{"type":"hello","protocol":5,"version":"0.0.9","test":"send_lat"}' hear error gone
	says stranger.out 'different --auth: server key, client none'
	# The protocol before TLS.
	stranger say '{"type":"hello","protocol":3,"version":"0.1.0","auth":"key"}' hear error gone
	says stranger.out 'different versions: server protocol 4, client 3' 'upgrade rdmark on the client'
	until_says server.err 'different versions: server protocol 4, client 3'
	served --auth="$how"
	over
	fake_server hear hello say '{"type":"challenge","protocol":3,"version":"0.1.0","auth":"key"}' gone
	client send_lat --auth="$how"
	ended client 3
	says client.err "'challenge' has no valid 'protocol'"
}

# bats test_tags=core
@test "another key, a file that is no secret" {
	server send_lat --persistent --auth="$how"
	client send_lat -n 5 --auth=key:"$BATS_FILE_TMPDIR/other"
	refused 'the two ends do not prove the same key' 'Their key files differ, or what they sent was changed' 'compare them with sha256sum'
	served --auth="$how"
	over
	cp "$BATS_FILE_TMPDIR/key" open
	chmod 640 open
	head -c 31 "$BATS_FILE_TMPDIR/key" >short
	head -c 4097 /dev/zero >long
	chmod 600 short long
	mkfifo -m 600 pipe
	while read -r file wanted; do
		start server send_lat --auth=key:"$file"
		finish server
		ended server 2
		says server.err "$wanted"
	done <<-'END'
		open key file 'open' has mode 0640. Other users can read or change it
		short key file 'short' has fewer than 32 bytes, or more than 4096. Fix: make one: 
		long key file 'long' has fewer than 32 bytes, or more than 4096
		pipe 'pipe' is not a regular file
		absent key file 'absent': No such file or directory
	END
}

@test "a credential of systemd is a key: its access list looks as a group that can read it" {
	mkdir credentials
	cp "$BATS_FILE_TMPDIR/key" credentials/key
	chmod 440 credentials/key
	start server send_lat -p 0 --auth=key:"$PWD/credentials/key"
	finish server
	ended server 2
	says server.err 'has mode 0440'
	export CREDENTIALS_DIRECTORY=$PWD/credentials
	server send_lat --auth=key:"$PWD/credentials/key"
	served --auth="$how"
	finish server
	ended server 0
	# Another file is none, by whatever name.
	cp credentials/key other
	chmod 440 other
	ln -s ../other credentials/link
	mkdir -p credentials/folder
	for file in credentials/link credentials/../other credentials/folder/../key; do
		start server send_lat -p 0 --auth=key:"$PWD/$file"
		finish server
		ended server 2
		says server.err 'has mode 0440'
	done
	chmod 444 credentials/key
	start server send_lat -p 0 --auth=key:"$PWD/credentials/key"
	finish server
	ended server 2
	says server.err 'has mode 0444'
}

@test "a libcrypto that is configured without SHA-256: neither end begins" {
	printf '%s\n' 'openssl_conf = o' '[o]' 'providers = p' '[p]' 'null = n' '[n]' 'activate = 1' >null.cnf
	OPENSSL_CONF=$PWD/null.cnf start server send_lat -p 0 --auth="$how"
	finish server
	ended server 1
	says server.err 'libcrypto: HMAC. Its configuration loads no provider of SHA-256, or forbids it; or there is no memory. Fix: '
	OPENSSL_CONF=$PWD/null.cnf start client send_lat -p 1 --connect-timeout 0 --auth="$how" "$host"
	finish client
	ended client 1
	says client.err 'libcrypto: HMAC. Its configuration loads no provider of SHA-256, or forbids it; or there is no memory. Fix: '
}

# bats test_tags=core
@test "a client without the key, whatever it does in place of TLS: refused, and the next one is served" {
	local action
	server send_lat --persistent --auth="$how" --timeout 2
	for action in certificate tls12 words reflection half long; do
		impostor client "$port" "$action"
		ended impostor 0
		says impostor.out '"challenge"' closed
		says_no impostor.out 'TLS is agreed on' '"welcome"' '"error"'
		if [[ $action == half || $action == reflection ]]; then
			until_says server.err 'was challenged, but has not proved itself'
		else
			until_says server.err 'dropped ' ': authenticating the client: TLS: '
		fi
		served --auth="$how"
		: >server.err
	done
	over
}

# bats test_tags=core
@test "a server without the key, whatever it does in place of TLS: the client refuses it" {
	local action
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout cert.pem -out cert.pem.2 2>openssl.err ||
		skip 'no openssl here'
	cat cert.pem.2 >>cert.pem
	# An administrator's configuration that trusts it makes no difference.
	printf '%s\n' 'openssl_conf = o' '[o]' 'ssl_conf = s' '[s]' 'system_default = d' '[d]' "VerifyCAFile = $PWD/cert.pem.2" \
		'MinProtocol = TLSv1.2' >trusting.cnf
	for action in certificate tls12 words reflection half long; do
		start_heard stranger "$lib/impostor" server "$PWD/cert.pem" "$action"
		OPENSSL_CONF=$PWD/trusting.cnf client send_lat -n 5 --timeout 2 --auth="$how"
		await_end
		finish stranger
		says_no client.err 'the server (127'
		if [[ $action == half ]]; then
			ended client 4
			says client.err 'authenticating to the server: '
		else
			ended client 3
			says client.err 'authenticating to the server: TLS: '
		fi
	done
}

# bats test_tags=core
@test "somebody between the two ends changes a byte that they encrypted: the run ends, at both ends" {
	local who
	for who in client server; do
		server send_lat --persistent --auth="$how"
		proxy flip="$who":4
		client send_lat -n 5 --auth="$how"
		ended client 3
		says client.err 'TLS: ' 'it was changed between them'
		finish proxy
		until_says server.err 'TLS: .*it was changed between them'
		kill -TERM "${pid[server]}"
		finish server
		ended server 0
	done
}

# bats test_tags=core
@test "a recorded conversation, sent again" {
	server send_lat --persistent --auth="$how"
	proxy
	client send_lat -n 5 --auth="$how"
	ended client 0
	finish proxy
	grep -E '^client (tls|.*"auth":)' conversation | sed 's/^client //' >recorded
	(($(wc -l <recorded) >= 2))
	kill -TERM "${pid[server]}"
	finish server
	server send_lat --persistent --auth="$how"
	impostor recorded recorded "$port"
	until_says server.err 'authenticating the client: the two ends do not prove the same key'
	served --auth="$how"
	over
}

# A client finds a server that does ACTIONs, and then a real one.
next_instead() {
	fake_server "$@"
	start_client send_lat -n 5 --connect-timeout 20 --auth="$how"
	finish stranger
	ended stranger 0
	start next send_lat -p "$port" --auth="$how"
	finish client next
	ended client 0
	ended next 0
}

# bats test_tags=core
@test "a server that closes, or has no place, before it has proved itself: the client tries again" {
	local challenge='{"type":"challenge","protocol":4,"version":"0.1.0","auth":"key"}'
	next_instead hear hello say '{"type":"busy","with":"others"}'
	next_instead hear hello say "$challenge"
	next_instead hear hello say "$challenge" bytes '\x16'
	fake_server hear hello say "$challenge"
	client send_lat --connect-timeout 0.2 --auth="$how"
	ended client 3
	says client.err 'authenticating to the server: the connection to ' ' was lost'
}

# As systemd starts it: PROGRAM with what ExecStart= of packaging/systemd/UNIT says, and what it says of options.
of_unit() {
	local file=$root/packaging/systemd/$1.service.in start options
	start=$(sed -n 's/^ExecStart=@BINDIR@[^ ]* \(.*\) \$RDMARK.*/\1/p' "$file")
	options=$(sed -n 's/^#\tRDMARK_[A-Z]*_\?OPTIONS=//p' "$file" | sed 's/-p 18516//; s/-d mlx5_0//; s/--min-bw [0-9]*//')
	[[ $start == *--* && $options == *--auth=none* ]] || fail "$1: $start, $options"
	words="$(sed "s|%S/[^/]*|$PWD/state|g; s|%i|peer|g" <<<"$start") $options"
}

# bats test_tags=root
@test "the options of the units: a server as another user serves the checks" {
	local words through
	[[ $(id -u) == 0 ]] && type setpriv >/dev/null || skip 'only root can be another user'
	grep -q '^User=rdmark$' "$root/packaging/systemd/sandbox"
	chmod 755 "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR"
	chmod 711 "${BATS_FILE_TMPDIR%/*}" "${BATS_RUN_TMPDIR}"
	through=(setpriv --reuid=daemon --regid=daemon --clear-groups)
	"${through[@]}" test -r "$RDMARK_BIN/send_lat" || skip 'daemon cannot read the programs'
	of_unit rdmark@
	# shellcheck disable=SC2086 # words
	server write_bw $words
	install -d -o daemon state
	of_unit rdmark-check@
	# shellcheck disable=SC2086 # words
	client write_bw $words
	ended client 0
	through=()
	over
}

@test "--auth=munge and --allow are gone: what to use instead is said" {
	for option in --auth=munge --auth=munge:/run/munge --allow=root; do
		start server send_lat "$option"
		finish server
		ended server 2
		says server.err '--a' 'Fix: ' 'key:FILE'
	done
}

@test "strangers cannot get in line, nor in the way of who is in it" {
	server send_lat --persistent --auth="$how"
	start first send_lat -D 30 -p "$port" --auth="$how" "$host"
	until_says first.err 'messages of'
	stranger say '{"type":"hello","protocol":5,"version":"0.1.0","test":"send_lat"}' hear-any gone
	says stranger.out '"error"' 'different --auth'
	says_no stranger.out '"busy"'
	start second send_lat -n 5 --connect-timeout 60 -p "$port" --auth="$how" "$host"
	until_says second.err 'the server is busy with'
	impostor client "$port" words
	says impostor.out closed
	kill -INT "${pid[first]}"
	finish first second
	ended second 0
	over
}

# The fastest of many, since what else runs here slows down the others.
# bats test_tags=plain
@test "what a handshake costs: 2 ms at most" {
	local fastest median slowest cpu program=$RDMARK_BIN/../tests/bench/handshake
	not_sanitized 'it is slower under them'
	[[ -x $program ]] || skip 'tests/bench/handshake is not built (make sim)'
	RDMARK_PRELOAD='' start handshake "$program" "$how" 200
	finish handshake
	ended handshake 0
	read -r fastest median slowest cpu <handshake.out
	((10#${fastest/./} <= 2000)) || fail "$fastest ms the fastest, $median typical, $slowest the slowest, $cpu of the CPU"
}

# Whether one of the libraries was loaded into a run with these options, at either end; and $said, what was said.
loaded() {
	rm -f loaded.*
	export LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/loaded
	server send_lat "$@"
	proxy
	client send_lat -n 5 "$@"
	unset LD_DEBUG LD_DEBUG_OUTPUT
	finish server proxy
	ended client 0
	ended server 0
	said=$(sed -nE 's/^(client|server) (.*"type":"([a-z]+)".*|(tls) .*)/\1 \3\4/p' conversation | grep -v alive | uniq | head -n 6 | tr '\n' ' ')
	grep -qE 'lib(crypto|ssl)\.so' loaded.*
}

@test "without --auth a run costs what it did: no library is opened, no message added" {
	local plain='client hello server welcome client qps server qps client round '
	loaded --auth="$how" || fail 'none is found where one must be'
	[[ $said == 'client hello server challenge client tls server tls client tls server tls ' ]]
	! grep -vE '^(client|server) tls |^client .*"type":"hello"|^server .*"type":"challenge"' conversation || fail 'that is not encrypted'
	! loaded --auth=none || fail 'it loads a library'
	[[ $said == "$plain"* ]]
	! loaded || fail 'it loads a library'
	[[ $said == "$plain"* ]]
}
