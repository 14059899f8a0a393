# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the script that sources this
#
# A throwaway machine: QEMU, started, listened to and ended. Sourced by tests/softroce.
#
# Each machine NAME has a folder $run/NAME, shared with its init (which see), a process and a
# voice: a pipe on which QEMU and then init speak. It lives no longer than this script, however
# that ends.

declare -A machine_pid machine_voice
machine_printers=()
machine_boot_limit=120

# What is cheap on a CPU and dear where it is emulated is turned off. Where a program lies at another
# address each time, its code is translated each time (a fork and exec takes four times as long); and
# strings are copied byte by byte, or word by word, by the instructions made for it (half of what
# soft-RoCE could carry): the kernel and the C library take those unless the CPU has no erms, no fsrm
# and no rep_good (bit 112 of Linux' own; only it can take that away).
emulated_cpu=max,+invtsc,-erms,-fsrm
emulated_tuning='no_timer_check norandmaps clearcpuid=112'

# machine_describe NAME NUMBER LINK PEER COMMAND…: what the machine will be and do. LINK is the
# interface under its device; PEER has the addresses that must answer first, or is empty.
machine_describe() {
	local dir=$run/$1
	mkdir "$dir"
	{
		printf '%s=%q\n' name "$1" number "$2" link "$3" provider "$provider" peer "$4" out "$SOFTROCE_OUT" \
			late $((time_limit > 60 ? time_limit - 30 : time_limit / 2)) \
			shell "$BASH" modules "$(compgen -G "$kernel/lib/modules/*")"
	} >"$dir/machine"
	shift 4
	{
		export -p
		# shellcheck disable=SC2016 # the machine's PATH
		echo 'PATH=/run/softroce.bin:$PATH'
		printf 'umask %s\ncd %q || exit 125\nexec' "$(umask)" "$PWD"
		printf ' %q' "$@"
		echo
	} >"$dir/command"
}

# machine_start NAME [QEMU OPTION…]: boots $kernel with $initramfs.
machine_start() {
	local name=$1 dir=$run/$1 voice
	shift
	touch "$dir/stdout" "$dir/stderr"
	local options=(
		-accel "$accel" -cpu "$cpu" -smp "${SOFTROCE_CPUS:-2}" -m "${SOFTROCE_MEM:-3G}"
		-nodefaults -no-user-config -no-reboot -display none
		-kernel "$kernel/vmlinux" -initrd "$initramfs"
		-append "quiet mitigations=off nokaslr $tuning random.trust_cpu=on tsc=reliable
			 console=ttyS0 panic=-1"
		-chardev "file,id=log,path=${dir//,/,,}/log" -serial chardev:log
		-chardev "file,id=voice,path=/dev/stdout" -serial chardev:voice
		-chardev "file,id=hello,path=/dev/stdout" -mon "chardev=hello,mode=control")
	local share
	for share in "root=/" "run=$dir" "out=$SOFTROCE_OUT"; do
		local tag=${share%%=*} path=${share#*=} readonly=off
		[[ $tag != root ]] || readonly=on
		options+=(
			-fsdev "local,id=$tag,path=${path//,/,,},security_model=none,multidevs=remap,readonly=$readonly"
			-device "virtio-9p-pci,fsdev=$tag,mount_tag=$tag")
	done
	exec {voice}< <(ulimit -c 0; exec setpriv --pdeathsig KILL \
		"$qemu" "${options[@]}" "$@" </dev/null 2>"$dir/qemu.log")
	machine_pid[$name]=$!
	machine_voice[$name]=$voice
}

# machine_expect NAME WORD SECONDS: 0 when the machine says a line that begins with WORD, 1 when
# it has ended, 2 when it is late.
machine_expect() {
	local line rc deadline=$((SECONDS + $3))
	while ((SECONDS < deadline)); do
		read -t $((deadline - SECONDS)) -r line <&"${machine_voice[$1]}"
		rc=$?
		((rc <= 128)) || break
		((rc == 0)) || return 1
		[[ $line != "$2"* ]] || return 0
	done
	return 2
}

# machine_expect_boot NAME WORD: says what went wrong.
machine_expect_boot() {
	machine_expect "$1" "$2" "$machine_boot_limit"
	case $? in
	0) return ;;
	1) say "machine $1 ended while it started" ;;
	*) say "machine $1 did not start within $machine_boot_limit s" ;;
	esac
	machine_log "$1"
	return 1
}

# machine_print NAME STREAM PREFIX: copies the stream to stdout while the machine lives, then what
# is left. When nobody reads it any more, the machine ends.
machine_print() {
	local pid=${machine_pid[$1]}
	(
		tail -c +1 -s 0.1 -f --pid="$pid" "$run/$1/$2" |
			if [[ $3 ]]; then exec sed -u "s/^/$3/"; else exec cat; fi
		((PIPESTATUS[1] == 0)) || { echo 141 >"$run/$1/died"; kill "$pid"; } 2>/dev/null
	) &
	machine_printers+=($!)
}

# machine_end NAME: at once. What it said is in its folder.
machine_end() {
	[[ ${machine_pid[$1]-} ]] || return 0
	kill -KILL "${machine_pid[$1]}" 2>/dev/null
	wait "${machine_pid[$1]}" 2>/dev/null
	unset "machine_pid[$1]"
}

# machine_status NAME: prints what the command, or softroce-die, ended with.
machine_status() {
	cat "$run/$1/status" 2>/dev/null || cat "$run/$1/died" 2>/dev/null && return
	say "machine $1 ended before its command did"
	machine_log "$1"
	echo 125
}

# machine_late NAME: what is known of one that has not said that it is done.
machine_late() {
	local command='has not ended'
	[[ ! -s $run/$1/status ]] || command="ended with status $(<"$run/$1/status")"
	say "machine $1 is late: its command $command; its log:"
	machine_log "$1"
}

machine_log() {
	tail -n 100 "$run/$1/qemu.log" "$run/$1/log" >&2
}

# machine_choose_accel: sets $accel, $cpu and $tuning. KVM is used only where a machine has come up
# under it within 4 s: on some hosts it is there and hangs. The answer holds until the host reboots.
machine_choose_accel() {
	local boot known answer
	accel=tcg,thread=multi
	cpu=$emulated_cpu
	tuning=$emulated_tuning
	[[ -r /dev/kvm && -w /dev/kvm ]] || return 0
	read -r boot </proc/sys/kernel/random/boot_id
	[[ -r $cache/kvm ]] && read -r known answer <"$cache/kvm"
	if [[ ${known-} != "$boot" ]]; then
		say "trying KVM, once until this host reboots"
		machine_describe probe 1 lo '' true
		accel=kvm cpu=host tuning='' machine_start probe
		answer=no
		machine_expect probe up 4 && answer=yes
		machine_end probe
		echo "$boot $answer" >"$run/kvm" && mv "$run/kvm" "$cache/kvm"
	fi
	[[ $answer != yes ]] || { accel=kvm; cpu=host,migratable=off; tuning=; }
}
