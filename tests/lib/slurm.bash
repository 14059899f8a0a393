# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # bats has them
#
# Real Slurm on this machine, in the folder of the test file: a controller and nodes n1 … that all are
# this host, each with a port of its own. Nothing of the system's is touched: munged, too, is our own.

slurm=$BATS_FILE_TMPDIR/slurm
export SLURM_CONF=$slurm/slurm.conf

# What $slurm/env prints as "export NAME=VALUE" gets into the environment of tasks; it knows SLURMD_NODENAME.
# start_slurm NODES; skips the file where there is no Slurm.
start_slurm() {
	local program i
	for program in munged slurmctld slurmd srun sbatch; do
		type -P $program >/dev/null || { skip_file "no $program here (make deps)"; return; }
	done
	((EUID == 0)) || { skip_file 'slurmd needs root'; return; }
	mkdir -p "$slurm/state" && chmod 755 "$slurm"
	(umask 077 && head -c 1024 /dev/urandom >"$slurm/key")
	munged --force --socket="$slurm/munge" --key-file="$slurm/key" --pid-file="$slurm/munged.pid" \
		--log-file="$slurm/munged.log" --seed-file="$slurm/seed" >&2 3>&-
	slurm_port=$((20000 + RANDOM % 10000))
	cat >"$SLURM_CONF" <<-END
		ClusterName=bed
		SlurmctldHost=$(hostname)
		SlurmctldPort=$slurm_port
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$slurm/munge
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SchedulerType=sched/builtin
		ReturnToService=2
		KillWait=2
		MpiDefault=none
		TopologyPlugin=topology/tree
		SlurmdTimeout=300
		TaskProlog=$slurm/prolog
		StateSaveLocation=$slurm/state
		SlurmdSpoolDir=$slurm/%n
		SlurmctldPidFile=$slurm/slurmctld.pid
		SlurmdPidFile=$slurm/%n.pid
		SlurmctldLogFile=$slurm/slurmctld.log
		SlurmdLogFile=$slurm/%n.log
		NodeName=n[1-$1] NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=[$((slurm_port + 1))-$((slurm_port + $1))] CPUs=2
		PartitionName=all Nodes=ALL Default=YES State=UP
	END
	printf '%s\n' "SwitchName=leaf1 Nodes=n[1-$(($1 / 2))]" "SwitchName=leaf2 Nodes=n[$(($1 / 2 + 1))-$1]" \
		'SwitchName=spine Switches=leaf[1-2]' >"$slurm/topology.conf"
	printf '#!/bin/sh\n. "%s/env"\n' "$slurm" >"$slurm/prolog"
	chmod 755 "$slurm/prolog"
	: >"$slurm/env"
	slurmctld >&2 3>&-
	for ((i = 1; i <= $1; i++)); do
		mkdir "$slurm/n$i"
		slurmd -N "n$i" >&2 3>&-
	done
	slurm_idle "$1"
}

# slurm_idle NODES: so many can work: a job on all of them waits until they are there.
slurm_idle() { timeout 60 srun -N "$1" true || { sinfo >&2; return 1; }; }

stop_slurm() {
	local file pid
	for file in "$slurm"/*.pid; do
		pid=$(cat "$file" 2>/dev/null) || continue # it has ended, and removed its file
		kill "$pid" 2>/dev/null || continue
		timeout 10 tail -f --pid="$pid" /dev/null || true
	done
}
