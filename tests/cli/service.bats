#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# --logfile and --pidfile: a server that no terminal and no service manager looks after.

load ../lib/rdmark

setup_file() { need_device; }

over() { # the server is told to end, and does
	kill -"${1-TERM}" "${pid[server]}"
	finish server
}

# refused FILE TEXT…: a server with that pid file ends with status 2 and says why.
refused() {
	start second send_lat -p 0 --wait 60 --pidfile "$1"
	finish second
	ended second 2
	says second.err "--pidfile: $1 " "${@:2}" 'Fix: '
}

# bats test_tags=core
@test "--pidfile: the process id when clients can connect; gone at the end" {
	local program
	for program in 'send_lat --persistent' 'rdmark server'; do
		server "$program" --pidfile s.pid
		[[ $(<s.pid) == "${pid[server]}" ]] || fail "$(<s.pid), not ${pid[server]}"
		client send_lat -n 20
		ended client 0
		[[ -s s.pid ]] || fail 'a client removed it'
		over
		ended server 0
		[[ ! -e s.pid ]] || fail 'it is left'
	done
}

@test "--pidfile of another server that runs is refused, and left alone" {
	server 'rdmark server' --pidfile s.pid
	refused s.pid "is of process ${pid[server]}, which runs"
	[[ $(<s.pid) == "${pid[server]}" ]] || fail "$(<s.pid)"
	client send_lat -n 20
	ended client 0
	over
	[[ ! -e s.pid ]] || fail 'it is left'
}

@test "--pidfile that a killed server left is taken, whoever has that number now" {
	server 'rdmark server' --pidfile s.pid
	over KILL
	[[ -s s.pid ]] || fail 'it is gone'
	echo $$ >s.pid
	server 'rdmark server' --pidfile s.pid
	[[ $(<s.pid) == "${pid[server]}" ]] || fail "$(<s.pid)"
	over
	ended server 0
}

@test "--pidfile: what is no pid file is refused, and not touched" {
	printf 'root:x:0\n' >passwd
	refused passwd 'is no pid file'
	[[ $(<passwd) == root:x:0 ]] || fail "$(<passwd)"
	mkfifo fifo
	refused fifo 'is no pid file'
	ln -s passwd link
	start second send_lat -p 0 --wait 60 --pidfile link
	finish second
	ended second 1
	says second.err 'writing link: '
	start second send_lat --pidfile s.pid "$host"
	finish second
	ended second 2
	says second.err '--pidfile cannot be used in a client'
}

@test "--pidfile is gone when the server could not start" {
	server 'rdmark server'
	start second rdmark server -p "$port" --pidfile s.pid
	finish second
	[[ ${status[second]} != 0 ]] || fail 'it started'
	[[ ! -e s.pid ]] || fail 'it is left'
	over
}

# bats test_tags=core
@test "--logfile: what went to standard error, appended; nothing is lost when it is copied and truncated" {
	printf 'before\n' >s.log
	server 'rdmark server' --logfile s.log
	client send_lat -n 20
	ended client 0
	until_says s.log ' send_lat: '
	says s.log 'rdmark: ready on '
	[[ $(head -n 1 s.log) == before ]] || fail "$(<s.log)"
	silent server.err
	cp s.log s.log.1
	: >s.log
	client send_bw -n 20
	ended client 0
	until_says s.log ' send_bw: '
	[[ $(head -c 8 s.log) == 'rdmark: ' ]] || fail "$(cat -v s.log)"
	over
	ended server 0
	says s.log 'SIGTERM: the server stops'
	silent server.err
}

@test "--logfile that cannot be written: the file and why, before the server is ready" {
	start second send_lat -p 0 --logfile none/s.log
	finish second
	ended second 1
	says second.err 'writing none/s.log: No such file or directory' 'Fix: '
	start second send_lat --logfile s.log "$host"
	finish second
	ended second 2
	says second.err '--logfile cannot be used in a client'
}
