#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# --auth and --allow: who proves what to whom, with real munged and with key files; each attack is
# refused, with words of its own if it is on munge, and the next honest client is served.

load ../lib/rdmark

setup_file() {
	need_device
	[[ ! ${SKIP_FILE-} ]] || return 0
	cd "$BATS_FILE_TMPDIR" || return
	umask 022
	if type munged munge unmunge >/dev/null 2>&1; then
		(umask 077 && head -c 128 /dev/urandom >munge.key)
		start_munged now
		# The same key, and a clock of its own.
		cat >clock.c <<-'END'
			#include <stdlib.h>
			#include <sys/time.h>
			#include <time.h>
			time_t time(time_t *t)
			{
				struct timespec now;
				clock_gettime(CLOCK_REALTIME, &now);
				now.tv_sec += atol(getenv("CLOCK_OFFSET"));
				if (t)
					*t = now.tv_sec;
				return now.tv_sec;
			}
		END
		cc -shared -fPIC -o clock.so clock.c
		CLOCK_OFFSET=-300 LD_PRELOAD=$PWD/clock.so start_munged past
		CLOCK_OFFSET=7200 LD_PRELOAD=$PWD/clock.so start_munged future
	fi
	(umask 077 && head -c 32 /dev/urandom >key && head -c 33 /dev/urandom >other)
}

# One that belongs to this user, in this folder; nothing of the system's is touched.
start_munged() {
	munged --force --socket="$PWD/$1" --key-file="$PWD/munge.key" --pid-file="$PWD/$1.pid" --log-file="$PWD/$1.log" \
		--seed-file="$PWD/$1.seed" >&2 3>&-
}

teardown_file() {
	local file daemon
	for file in "$BATS_FILE_TMPDIR"/*.pid; do
		[[ -s $file ]] || continue
		daemon=$(<"$file")
		kill -CONT "$daemon" # one may be stopped
		kill -TERM "$daemon"
	done
	local said
	[[ ! ${RDMARK_DOCUMENTS-} ]] && compgen -G "$BATS_FILE_TMPDIR/*.documents" >/dev/null || return 0
	said=$("$lib/schema" "$BATS_FILE_TMPDIR"/*.documents 2>&1) || (($? == 77)) || { echo "$said" >&2; return 1; }
}

need_munge() {
	[[ -e $BATS_FILE_TMPDIR/now.pid ]] || skip 'no munged here (make deps)'
	munge=munge:$BATS_FILE_TMPDIR/now
}

# Those that can be tried here.
ways() {
	echo "key:$BATS_FILE_TMPDIR/key"
	[[ ! -e $BATS_FILE_TMPDIR/now.pid ]] || echo "munge:$BATS_FILE_TMPDIR/now"
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

@test "both ends have it: every program serves, over one server, too" {
	local program how
	while read -r how; do
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
	done < <(ways)
}

@test "rdmark server, and its tour" {
	local how
	how=$(ways | tail -n 1)
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

@test "only one end has it, or the two have different methods: both say so, and the next one is served" {
	local how
	how=$(ways | tail -n 1)
	server send_lat --persistent --auth="$how"
	client send_lat -n 5
	refused "different --auth: server ${how%%:*}, client none. Fix: use --auth="
	if [[ $how == munge* ]]; then
		client send_lat -n 5 --auth=key:"$BATS_FILE_TMPDIR/key"
		refused 'different --auth: server munge, client key. Fix: use --auth=munge on the client'
	fi
	served --auth="$how"
	over
	server send_lat --persistent
	client send_lat -n 5 --auth="$how"
	refused "different --auth: server none, client ${how%%:*}. Fix: start the server with --auth="
	client send_lat -n 5 --auth=none
	ended client 0
	over
}

@test "an end of the version before: both ends say which to upgrade" {
	local how=key:$BATS_FILE_TMPDIR/key
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
	stranger say '{"type":"hello","protocol":2,"version":"0.0.9","test":"send_lat"}' hear error gone
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

@test "another key, a file that is no secret" {
	local how=key:$BATS_FILE_TMPDIR/key
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
	head -c 64 /dev/zero >zeros
	printf '%064d\n' 1 >one
	printf 'password%.0s' {1..8} >words
	printf '%b' '\x'{0..3}{{0..9},{a..f}} >counted
	chmod 600 zeros one words counted
	while read -r file wanted; do
		start server send_lat --auth=key:"$file"
		finish server
		ended server 2
		says server.err "$wanted"
	done <<-'END'
		open key file 'open' has mode 0640. Other users can read or change it
		short key file 'short' has 31 bytes. A key has 32 to 4096 bytes
		long more than 4096 bytes
		pipe 'pipe' is not a regular file
		zeros key file 'zeros' is easy to guess. It is a short piece over and over
		one key file 'one' is easy to guess
		words key file 'words' is easy to guess
		counted key file 'counted' is easy to guess
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
	served --auth=key:"$BATS_FILE_TMPDIR/key"
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
	local how=key:$BATS_FILE_TMPDIR/key
	printf '%s\n' 'openssl_conf = o' '[o]' 'providers = p' '[p]' 'null = n' '[n]' 'activate = 1' >null.cnf
	OPENSSL_CONF=$PWD/null.cnf start server send_lat -p 0 --auth="$how"
	finish server
	ended server 1
	says server.err 'libcrypto: SHA256. Its configuration loads no provider of SHA-256, or forbids it. Fix: '
	OPENSSL_CONF=$PWD/null.cnf start client send_lat -p 1 --connect-timeout 0 --auth="$how" "$host"
	finish client
	ended client 1
	says client.err 'libcrypto: SHA256. Its configuration loads no provider of SHA-256, or forbids it. Fix: '
}

@test "credentials that are wrong: refused, each with its own words, and the next client is served" {
	local action wanted
	need_munge
	server send_lat --persistent --auth="$munge"
	while read -r action wanted; do
		impostor client "$port" "$munge" "$action"
		ended impostor 0
		says impostor.out '"challenge"' "$wanted"
		says_no impostor.out '"proof"'
		until_says server.err "$wanted"
		served --auth="$munge"
	done <<-'END'
		replay the client's credential was used before
		reflection the client's credential is one that a server made
		nonce the client's credential is for another connection. It was recorded and sent again
		hello the client's credential is for another hello
		foreign the client's credential is of another program
		reader the client's credential is for another user than uid
		truncated munge_decode: the client's credential: 
		oversized the client's credential is longer than 4096 bytes
		empty munge_decode: the client's credential: 
		missing the client sent no credential
		words the client sent no credential
	END
	# As above but for what is wrong: this one is let in, and its hello read.
	impostor client "$port" "$munge" honest
	says impostor.out '"proof"' "'hello' has no valid 'test'"
	over
}

# bats test_tags=plain
@test "a hello that costs memory, in a credential: it is bounded like any other" {
	local before what
	not_sanitized 'ASan keeps what is freed'
	need_munge
	held_at_most() { awk '$1 == "VmHWM:" { print $2 }' "/proc/${pid[server]}/status"; }
	server send_lat --persistent --auth="$munge"
	served --auth="$munge"
	before=$(held_at_most)
	for what in objects deep; do
		impostor client "$port" "$munge" "$what"
		ended impostor 0
	done
	served --auth="$munge"
	says server.err 'more than 16 levels of JSON' 'more than 256 JSON arrays and objects'
	(($(held_at_most) < before + 3000)) || fail "$(held_at_most) KiB, $before before"
	over
}

@test "a client without the key, whatever it does in place of TLS: refused, and the next one is served" {
	local how=key:$BATS_FILE_TMPDIR/key action
	server send_lat --persistent --auth="$how" --timeout 2
	for action in certificate tls12 words reflection half long; do
		impostor client "$port" key "$action"
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

@test "a server without the key, whatever it does in place of TLS: the client refuses it" {
	local how=key:$BATS_FILE_TMPDIR/key action
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout cert.pem -out cert.pem.2 2>openssl.err ||
		skip 'no openssl here'
	cat cert.pem.2 >>cert.pem
	# An administrator's configuration that trusts it makes no difference.
	printf '%s\n' 'openssl_conf = o' '[o]' 'ssl_conf = s' '[s]' 'system_default = d' '[d]' "VerifyCAFile = $PWD/cert.pem.2" \
		'MinProtocol = TLSv1.2' >trusting.cnf
	for action in certificate tls12 words reflection half long; do
		start_heard stranger "$lib/impostor" server "key:$PWD/cert.pem" "$action"
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

@test "somebody between the two ends changes a byte that they encrypted: the run ends, at both ends" {
	local how=key:$BATS_FILE_TMPDIR/key who
	for who in client server; do
		server send_lat --persistent --auth="$how"
		proxy flip="$who":4
		client send_lat -n 5 --auth="$how"
		ended client 3
		says client.err 'TLS: ' 'it was changed between them'
		finish proxy
		kill -TERM "${pid[server]}"
		finish server
		ended server 0
		says server.err 'TLS: ' 'it was changed between them'
	done
}

@test "a recorded conversation, sent again" {
	local how
	while read -r how; do
		server send_lat --persistent --auth="$how"
		proxy
		client send_lat -n 5 --auth="$how"
		ended client 0
		finish proxy
		grep -E '^client (tls|.*"(auth|credential)":)' conversation | sed 's/^client //' >recorded
		(($(wc -l <recorded) >= 2))
		kill -TERM "${pid[server]}"
		finish server
		server send_lat --persistent --auth="$how"
		impostor recorded recorded "$port"
		if [[ $how == munge* ]]; then
			says impostor.out "the client's credential was used before"
		else
			until_says server.err 'authenticating the client: the two ends do not prove the same key'
		fi
		served --auth="$how"
		over
	done < <(ways)
}

@test "a server that is not the right one: the client refuses it" {
	local action wanted
	need_munge
	while read -r action wanted; do
		start_heard stranger "$lib/impostor" server "$munge" "$action"
		client send_lat -n 5 --auth="$munge"
		await_end
		finish stranger
		ended_with_any client 2 3
		says client.err "$wanted"
		says_no client.err 'the server (127'
	done <<-'END'
		replay the server's credential was used before
		reflection the server's credential is one that a client made
		nonce the server's credential is for another connection
		hello the server's credential is for another hello
		truncated the server's credential
		oversized the server's credential is longer than 4096 bytes
		missing the server sent no credential
		words 'welcome', but 'proof' was expected
	END
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

@test "a server that closes, or has no place, before it has proved itself: the client tries again" {
	local how=key:$BATS_FILE_TMPDIR/key challenge='{"type":"challenge","protocol":4,"version":"0.1.0","auth":"key"}'
	next_instead hear hello say '{"type":"busy","with":"others"}'
	next_instead hear hello say "$challenge"
	next_instead hear hello say "$challenge" bytes '\x16'
	fake_server hear hello say "$challenge"
	client send_lat --connect-timeout 0.2 --auth="$how"
	ended client 3
	says client.err 'authenticating to the server: the connection to ' ' was lost'
}

@test "clocks that differ: both ends say by how much" {
	local ahead behind
	need_munge
	server send_lat --persistent --auth="$munge"
	client send_lat -n 5 --auth=munge:"$BATS_FILE_TMPDIR/past"
	refused 'has expired: the clocks of the two hosts differ by 30' "The clock of the client's host is behind" 'Fix: set both clocks'
	client send_lat -n 5 --auth=munge:"$BATS_FILE_TMPDIR/future"
	refused 'is from the future: the clocks of the two hosts differ by ' "The clock of the client's host is ahead"
	served --auth="$munge"
	over
}

# bats test_tags=root
@test "--allow: users and groups, names and numbers, at both ends" {
	local list
	need_munge
	for list in root 0 nobody,root 65534,0 @root @0 nobody,@0; do
		[[ $(id -u) == 0 ]] || break
		server send_lat --auth="$munge" --allow="$list"
		served --auth="$munge" --allow="$list"
		finish server
		ended server 0
	done
	server send_lat --persistent --auth="$munge"
	client send_lat -n 5 --auth="$munge" --allow=nobody
	ended client 2
	says client.err "the server's user $(id -un) (uid $(id -u)) is not allowed. --allow of the client does not have"
	until_says server.err "the server's user $(id -un) (uid $(id -u)) is not allowed"
	served --auth="$munge"
	over
	server send_lat --persistent --auth="$munge" --allow=nobody,@nogroup
	client send_lat -n 5 --auth="$munge"
	refused "the client's user $(id -un) (uid $(id -u)) is not allowed" 'Fix: add the user to --allow of the server'
	over
	for list in nosuchuser @nosuchgroup 4294967295 -1 '' 'root,' a,,b; do
		start server send_lat --auth="$munge" --allow="$list"
		finish server
		ended server 2
		says server.err --allow
	done
}

# bats test_tags=root
@test "another user's client is refused, and let in by name or by a group" {
	need_munge
	[[ $(id -u) == 0 ]] && type setpriv >/dev/null || skip 'only root can be another user'
	chmod 755 "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR"
	chmod 711 "${BATS_FILE_TMPDIR%/*}" "${BATS_RUN_TMPDIR}"
	setpriv --reuid=nobody --regid=nogroup --clear-groups test -r "$RDMARK_BIN/send_lat" ||
		skip 'nobody cannot read the programs'
	server send_lat --persistent --auth="$munge"
	through=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	client send_lat -n 5 --auth="$munge" --allow=root
	through=()
	refused "the client's user nobody (uid 65534) is not allowed. Without --allow only root (uid 0) and root are allowed"
	served --auth="$munge"
	over
	server send_lat --persistent --auth="$munge" --allow=@nogroup,root
	through=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	client send_lat -n 5 --auth="$munge" --allow=root
	through=()
	says client.err 'RoCE' # on the stand-in one user cannot write to the memory of another
	says_no client.err 'not allowed'
	served --auth="$munge"
	over
}

# As systemd starts it: PROGRAM with what ExecStart= of packaging/systemd/UNIT says, and what it says of options.
of_unit() {
	local file=$root/packaging/systemd/$1.service.in start options
	start=$(sed -n 's/^ExecStart=@BINDIR@[^ ]* \(.*\) \$RDMARK.*/\1/p' "$file")
	options=$(sed -n 's/^#\tRDMARK_[A-Z]*_\?OPTIONS=//p' "$file" | sed 's/-p 18516//; s/-d mlx5_0//; s/--min-bw [0-9]*//')
	[[ $start == *--* && $options == *--auth=munge* ]] || fail "$1: $start, $options"
	start=$(sed "s|%S/[^/]*|$PWD/state|g; s|%i|peer|g" <<<"$start")
	# Two users that every host has stand in for rdmark and alice.
	words="$start $(sed "s|--auth=munge|--auth=$munge|; s/rdmark/daemon/; s/alice/nobody/" <<<"$options")"
}

# bats test_tags=root
@test "the options of the units: a server as its user serves the checks, and who is named there" {
	local words through
	need_munge
	[[ $(id -u) == 0 ]] && type setpriv >/dev/null || skip 'only root can be another user'
	grep -q '^User=rdmark$' "$root/packaging/systemd/sandbox"
	chmod 755 "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR"
	chmod 711 "${BATS_FILE_TMPDIR%/*}" "${BATS_RUN_TMPDIR}"
	setpriv --reuid=daemon --regid=daemon --clear-groups test -r "$RDMARK_BIN/send_lat" ||
		skip 'daemon cannot read the programs'
	of_unit rdmark@
	through=(setpriv --reuid=daemon --regid=daemon --clear-groups)
	# shellcheck disable=SC2086 # words
	server write_bw $words
	through=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	client write_bw -n 5 --auth="$munge"
	refused "the server's user daemon (uid 1) is not allowed. Without --allow only nobody"
	for through in 'setpriv --reuid=nobody --regid=nogroup --clear-groups' ''; do
		# shellcheck disable=SC2206 # words
		through=($through)
		client write_bw -n 5 --auth="$munge" --allow=daemon
		says client.err 'RoCE' # on the stand-in one user cannot write to the memory of another
		says_no client.err 'not allowed'
	done
	through=(setpriv --reuid=daemon --regid=daemon --clear-groups)
	install -d -o daemon state
	of_unit rdmark-check@
	# shellcheck disable=SC2086 # words
	client write_bw $words
	ended client 0
	through=()
	over
}

@test "no munged: said at the server's start, with what was found" {
	need_munge
	while read -r socket wanted; do
		start server send_lat --auth=munge:"$socket"
		finish server
		ended server 77
		says server.err "$wanted"
	done <<-END
		$PWD/nowhere/socket The folder $PWD/nowhere does not exist: munge is not installed, or this is a container without it
		$PWD/socket munged is not running
	END
	start client send_lat --auth=munge:"$PWD/socket" -p 1 "$host"
	finish client
	ended client 77
	says client.err 'munged is not running. Fix: start munged'
}

# A stranger NAME that sends a credential of munge; it hears what becomes of that.
sends_credential() {
	start "$1" "$lib/peer" connect "$port" say '{"type":"hello","protocol":3,"version":"0.1.0","auth":"munge"}' \
		hear challenge say "$(printf '{"type":"credential","nonce":"%064d","hello":"{}","credential":"MUNGE:AwQ:"}' 0)" hear error
}

# Until the program NAME has as many threads: one more while it waits for munged.
until_threads() {
	until [[ $(find "/proc/${pid[$1]}/task" -mindepth 1 -maxdepth 1 | wc -l) == "$2" ]]; do read -r -t 0.02 <> <(:) || true; done
}

@test "munged hangs: strangers and clients hear that soon, SIGTERM ends the server, and it serves when munged goes on" {
	local stopped name begin
	need_munge
	cp "$BATS_FILE_TMPDIR/munge.key" . && chmod 600 munge.key
	start_munged slow
	# Its pid file is for teardown, should this test fail.
	mv slow.pid "$BATS_FILE_TMPDIR/slow.pid"
	stopped=$(<"$BATS_FILE_TMPDIR/slow.pid")
	server send_lat --persistent --auth=munge:"$PWD/slow"
	served --auth=munge:"$PWD/slow"
	kill -STOP "$stopped"
	for name in {1..8}; do sends_credential "$name"; done
	for name in {1..8}; do
		finish "$name"
		ended "$name" 0
		within "$name" 9
		says "$name.out" 'munged has not answered within 3 s. It hangs or is stopped, or the service that knows the users' 'journalctl -u munge'
	done
	client send_lat -n 5 --auth=munge:"$PWD/slow"
	ended client 77
	says client.err 'preparing --auth: munged has not answered within 3 s'
	start client send_lat --auth=munge:"$PWD/slow" -p "$port" "$host"
	until_threads client 2
	kill -INT "${pid[client]}"
	finish client
	ended client 130
	kill -CONT "$stopped"
	until_threads server 1
	served --auth=munge:"$PWD/slow"
	kill -STOP "$stopped"
	sends_credential last
	until_threads server 2
	begin=$SECONDS
	over
	((SECONDS < begin + 20)) || fail "SIGTERM took $((SECONDS - begin)) s"
	finish last
	kill -CONT "$stopped"
}

@test "strangers cannot get in line, nor in the way of who is in it" {
	local how
	how=$(ways | tail -n 1)
	server send_lat --persistent --auth="$how"
	start first send_lat -D 30 -p "$port" --auth="$how" "$host"
	until_says first.err 'messages of'
	stranger say '{"type":"hello","protocol":2,"version":"0.1.0","test":"send_lat"}' hear-any gone
	says stranger.out '"error"' 'different --auth'
	says_no stranger.out '"busy"'
	start second send_lat -n 5 -p "$port" --auth="$how" "$host"
	until_says second.err 'the server is busy with'
	if [[ $how == munge* ]]; then
		impostor client "$port" "$how" nonce
		says impostor.out 'for another connection'
	fi
	impostor client "$port" key words
	says impostor.out closed
	kill -INT "${pid[first]}"
	finish first second
	ended second 0
	over
}

# The fastest of many, since what else runs here slows down the others.
# bats test_tags=plain
@test "what a handshake costs: 5 ms with munge, 2 ms with a key, at most" {
	local how fastest median slowest cpu most program=$RDMARK_BIN/../tests/bench/handshake
	not_sanitized 'it is slower under them'
	[[ -x $program ]] || skip 'tests/bench/handshake is not built (make sim)'
	while read -r how; do
		most=5000
		[[ $how == munge* ]] || most=2000
		RDMARK_PRELOAD='' start handshake "$program" "$how" 200
		finish handshake
		ended handshake 0
		read -r fastest median slowest cpu <handshake.out
		((10#${fastest/./} <= most)) || fail "${how%%:*}: $fastest ms the fastest, $median typical, $slowest the slowest, $cpu of the CPU"
	done < <(ways)
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
	grep -qE 'lib(munge|crypto|ssl)\.so' loaded.*
}

@test "without --auth a run costs what it did: no library is opened, no message added" {
	local plain='client hello server welcome client qps server qps client round '
	loaded --auth=key:"$BATS_FILE_TMPDIR/key" || fail 'none is found where one must be'
	[[ $said == 'client hello server challenge client tls server tls client tls server tls ' ]]
	! grep -vE '^(client|server) tls |^client .*"type":"hello"|^server .*"type":"challenge"' conversation || fail 'that is not encrypted'
	! loaded --auth=none || fail 'it loads a library'
	[[ $said == "$plain"* ]]
	! loaded || fail 'it loads a library'
	[[ $said == "$plain"* ]]
}
