# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# The cluster of tests/bed/bed, inside its namespaces. All hosts share one PID namespace, which the stand-in
# for libibverbs needs, one /dev/shm, and the files of this machine. Of its own each has a network, a host
# name and $bed/work, where TMPDIR is. On the nodes run sshd and slurmd; munged, which Slurm needs, and slurmctld on login.
#
#   $bed/env       what a test says of the nodes: a shell sources it before each command there; it knows $node,
#                  and what it exports of SIMVERBS_* and LD_PRELOAD the command has
#   node_dies NODE its cable is pulled, then all its processes are killed: nobody hears anything of it. Nothing
#                  if that has been done
#   slurm_idle     wait until all nodes can have work of Slurm

bed=/run/bed
export BED_NODES=${BED_NODES:-6}
export SLURM_CONF=$bed/slurm/slurm.conf

# The files of the system that a host looks at are the bed's, for the login host and what is started from it.
make_files() {
	local i root_home
	mount -t tmpfs -o mode=755 bed /run && mount -t tmpfs -o mode=1777 bed /dev/shm || return
	mkdir -p $bed/{log,ssh,slurm/state,work} /run/{netns,sshd,munge}
	mount -t tmpfs -o mode=1777 bed $bed/work || return
	: >$bed/env
	{
		printf '127.0.0.1 localhost\n10.77.0.254 login\n'
		for ((i = 1; i <= BED_NODES; i++)); do
			echo "10.77.0.$i n$i"
		done
	} >$bed/hosts
	sed -n 's/^10.* \(n\)/\1/p' $bed/hosts >$bed/nodes
	# A root that cannot log in, as in most containers, is none for sshd either.
	sed 's/^root:[^:]*/root:*/' /etc/shadow >$bed/shadow && chmod 600 $bed/shadow
	ssh-keygen -q -t ed25519 -N '' -f $bed/ssh/host && ssh-keygen -q -t ed25519 -N '' -f $bed/ssh/id || return
	echo "n*,10.77.0.* $(<$bed/ssh/host.pub)" >$bed/ssh/known
	cat >$bed/ssh/ssh_config <<-END
		IdentityFile /etc/ssh/id
		GlobalKnownHostsFile /etc/ssh/known
		UserKnownHostsFile /dev/null
		UpdateHostKeys no
	END
	cat >$bed/ssh/sshd_config <<-END
		HostKey /etc/ssh/host
		AuthorizedKeysFile /etc/ssh/id.pub
		PermitRootLogin prohibit-password
		UsePAM no
		UseDNS no
		PrintMotd no
		PidFile none
		MaxStartups 1000
		ForceCommand . $bed/node; eval "\${SSH_ORIGINAL_COMMAND:-bash}"
	END
	cat >$bed/node <<-END
		node=\$(uname -n)
		export TMPDIR=$bed/work LD_PRELOAD=$BED_PRELOAD SIMVERBS_DEVICES="sim0 gid.0=v2/\$(sed -n "s/ \$node\\\$//p" /etc/hosts)/eth0"
		. $bed/env
	END
	root_home=$(getent passwd root | cut -d : -f 6)
	[[ ! -d $root_home/.ssh ]] || mount -t tmpfs bed "$root_home/.ssh"
	# By ssh, bash reads that: what it starts here is not a node's. (pyenv's has a lock that a killed node keeps.)
	[[ ! -f $root_home/.bashrc ]] || mount --bind /dev/null "$root_home/.bashrc"
	mount --bind $bed/hosts /etc/hosts && mount --bind $bed/shadow /etc/shadow && mount --bind $bed/ssh /etc/ssh
}

make_slurm_conf() {
	cat >$SLURM_CONF <<-END
		ClusterName=bed
		SlurmctldHost=login
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SchedulerType=sched/builtin
		ReturnToService=2
		KillWait=2
		MpiDefault=none
		TopologyPlugin=topology/tree
		SlurmdTimeout=300
		TaskProlog=$bed/slurm/prolog
		StateSaveLocation=$bed/slurm/state
		SlurmdSpoolDir=$bed/slurm/%n
		SlurmctldPidFile=$bed/slurm/slurmctld.pid
		SlurmdPidFile=$bed/slurm/%n.pid
		SlurmctldLogFile=$bed/log/slurmctld
		SlurmdLogFile=$bed/log/slurmd-%n
		NodeName=n[1-$BED_NODES] CPUs=2
		PartitionName=all Nodes=ALL Default=YES State=UP
	END
	printf '%s\n' "SwitchName=leaf1 Nodes=n[1-$((BED_NODES / 2))]" "SwitchName=leaf2 Nodes=n[$((BED_NODES / 2 + 1))-$BED_NODES]" \
		'SwitchName=spine Switches=leaf[1-2]' >$bed/slurm/topology.conf
	# What it prints is in the environment of the task.
	cat >$bed/slurm/prolog <<-END
		#!/bin/bash
		. $bed/node >&2
		for name in LD_PRELOAD "\${!SIMVERBS_@}" "\${!CLOCK_@}"; do
			echo "export \$name=\${!name}"
		done
	END
	chmod 755 $bed/slurm/prolog
}

has_slurm() { type -P slurmctld >/dev/null && type -P slurmd >/dev/null && type -P srun >/dev/null; }

# node_up NODE: its daemons keep its host name and mounts alive.
node_up() {
	local address
	address=$(sed -n "s/ $1\$//p" $bed/hosts)
	ip netns add "$1" && ip link add name "$1" type veth peer name eth0 netns "$1" &&
		ip link set "$1" master bed0 up && ip -n "$1" link set lo up && ip -n "$1" link set eth0 up &&
		ip -n "$1" address add "$address/24" dev eth0 || return
	# shellcheck disable=SC2016 # for the shell there
	nsenter --net=/run/netns/"$1" unshare --mount --uts bash -euc '
		hostname "$1"
		mount -t tmpfs -o mode=1777 bed "$2/work"
		cd /
		"$(type -P sshd)" -E "$2/log/sshd-$1"
		[[ ! $3 ]] || { mkdir -p "$2/slurm/$1" && slurmd -N "$1"; }' \
		node "$1" $bed "$(has_slurm && echo slurm)" >>"$bed/log/$1" 2>&1 3>&- </dev/null
}

node_dies() {
	ip link delete "$1" 2>/dev/null || return 0
	ip netns pids "$1" | xargs -r kill -KILL 2>/dev/null || true # one may end by itself
	ip netns delete "$1"
}

slurm_idle() { timeout 60 srun -N "$BED_NODES" true; }

cluster_up() {
	local node
	make_files >&2 || return
	exec 5>&1 >$bed/log/login
	# A bridge without an address of its own has that of a port, and another one when the port is gone.
	hostname login && ip link set lo up && ip link add name bed0 address 02:00:0a:4d:00:fe type bridge && ip link set bed0 up &&
		ip address add 10.77.0.254/24 dev bed0 || return
	(umask 077 && head -c 1024 /dev/urandom >$bed/key) # of --auth, and of munged
	if has_slurm; then
		munged --force --key-file=$bed/key --pid-file=$bed/munged.pid --log-file=$bed/log/munged --seed-file=$bed/seed || return
		make_slurm_conf
		slurmctld || return
	fi
	while read -r node; do
		node_up "$node" || return
	done <$bed/nodes
	exec >&5 5>&-
	while read -r node; do
		ssh -n -o ConnectionAttempts=30 "$node" true || return
	done <$bed/nodes
	! has_slurm || slurm_idle || return
	export TMPDIR=$bed/work
}
