#!/usr/bin/env bash
# A Slurm cluster of three pretended nodes on this machine, to try lbotune on and for its
# tests. Debian's packages, no systemd, no control groups; as root.
#
#   eval "$(scripts/slurm-cluster.sh start DIR)"   start, or start again what has died
#   sbatch --wrap hostname
#   scripts/slurm-cluster.sh stop DIR              end it and its jobs, keep DIR
#
# start prints what the shell must export. All that is written lies in DIR, all that
# listens does so on 127.0.0.1, and each DIR is a cluster of its own.
#
# MIN_JOB_AGE says how many seconds Slurm remembers a finished job (300), and
# SLURM_CONF_EXTRA holds further lines for slurm.conf; both count when DIR is new.
set -euo pipefail

nodes=3 cpus=4 memory=2000 gpus=2
usage() { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
fail() { echo "slurm-cluster: $*" >&2; exit 1; }

[ $# = 2 ] || usage
action=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd -P)
[[ $dir != *[[:space:]]* ]] || fail "the directory's name must have no blanks: $dir"
conf=$dir/slurm.conf
export SLURM_CONF=$conf PATH=$PATH:/usr/sbin

install_slurm() {
	local program missing=
	for program in munged slurmctld slurmd sbatch; do
		command -v $program >/dev/null || missing=$program
	done
	[ -n "$missing" ] || return 0
	command -v apt-get >/dev/null || fail "there is no $missing, and no apt-get to install it by"
	local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -y -qq -o DPkg::Lock::Timeout=300)
	local install=("${apt[@]}" install --no-install-recommends munge slurmctld slurmd slurm-client)
	"${install[@]}" >/dev/null 2>&1 || { "${apt[@]}" update && "${install[@]}"; } >&2 || fail "cannot install Slurm"
}

# free_ports N: the first of N free TCP ports in a row.
free_ports() {
	local first port
	for first in $(shuf -i 20000-29000 -n 50); do
		for port in $(seq "$first" $((first + $1 - 1))); do
			! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue 2
		done
		echo "$first"
		return
	done
	fail "found no free ports"
}

configure() {
	mkdir -p "$dir"/{run,log,state,spool,gpu}
	mkdir -p -m 700 "$dir/munge"
	chmod 755 "$dir" "$dir/run"
	(umask 077 && head -c 1024 /dev/urandom >"$dir/munge/key")
	local i port
	port=$(free_ports $((nodes + 1)))
	for i in $(seq 0 $((gpus - 1))); do # null devices: Slurm only counts them
		[ -e "$dir/gpu/$i" ] || mknod "$dir/gpu/$i" c 1 3
	done
	echo "NodeName=n[1-$nodes] Name=gpu File=$dir/gpu/[0-$((gpus - 1))]" >"$dir/gres.conf"
	cat >"$conf.new" <<-CONF
		ClusterName=lbotune
		SlurmctldHost=localhost(127.0.0.1)
		SlurmctldPort=$port
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$dir/run/munge.sock
		CredType=cred/munge
		CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
		StateSaveLocation=$dir/state
		SlurmdSpoolDir=$dir/spool/%n
		SlurmctldPidFile=$dir/run/slurmctld.pid
		SlurmdPidFile=$dir/run/slurmd-%n.pid
		SlurmctldLogFile=$dir/log/slurmctld.log
		SlurmdLogFile=$dir/log/slurmd-%n.log
		MailProg=/bin/true
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/linux
		JobAcctGatherFrequency=task=1
		JobAcctGatherParams=OverMemoryKill
		SwitchType=switch/none
		MpiDefault=none
		AccountingStorageType=accounting_storage/none
		MinJobAge=${MIN_JOB_AGE:-300}
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core_Memory
		DefMemPerCPU=100
		SchedulerType=sched/backfill
		SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1
		SlurmdTimeout=120
		SlurmctldTimeout=30
		KillWait=3
		ReturnToService=2
		SlurmdParameters=config_overrides
		GresTypes=gpu
		NodeName=n[1-$nodes] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))] CPUs=$cpus RealMemory=$memory Gres=gpu:$gpus State=UNKNOWN
		PreemptType=preempt/partition_prio
		PreemptMode=CANCEL
		PartitionName=main Nodes=ALL Default=YES DefaultTime=30 MaxTime=INFINITE State=UP
		PartitionName=urgent Nodes=ALL PriorityTier=10 DefaultTime=30 State=UP
		${SLURM_CONF_EXTRA:-}
	CONF
	mv "$conf.new" "$conf"
}

# daemon FILE: the process id in a pid file, if that process lives and is no zombie.
daemon() {
	local pid name
	pid=$(cat "$1" 2>/dev/null) || return 1
	name=$(basename "$1" .pid)
	grep -qx "Name:[[:space:]]*${name%%-*}" "/proc/$pid/status" 2>/dev/null &&
		! grep -q '^State:[[:space:]]*Z' "/proc/$pid/status" && echo "$pid"
}

# launch COMMAND...: the daemon must not hold the pipe of eval "$(... start)".
launch() { setsid "$@" </dev/null >>"$dir/log/start.log" 2>&1 || fail "$1 did not start; see $dir/log"; }

ready() { # all nodes take jobs
	[ "$(timeout 5 sinfo -h -N -p main -o %t 2>/dev/null | grep -cxE 'idle|mix|alloc')" = $nodes ]
}

start() {
	[ "$(id -u)" = 0 ] || fail "must be run as root"
	install_slurm
	[ -e "$conf" ] || configure
	if ! daemon "$dir/run/munged.pid" >/dev/null; then
		rm -f "$dir"/run/munge.sock*
		launch munged --force --socket="$dir/run/munge.sock" --key-file="$dir/munge/key" \
			--seed-file="$dir/munge/seed" --log-file="$dir/log/munged.log" --pid-file="$dir/run/munged.pid"
	fi
	daemon "$dir/run/slurmctld.pid" >/dev/null || launch slurmctld -f "$conf"
	local i try
	for i in $(seq $nodes); do
		daemon "$dir/run/slurmd-n$i.pid" >/dev/null || launch slurmd -f "$conf" -N "n$i"
	done
	local until=$((SECONDS + 240))
	for ((try = 1; SECONDS < until; try++)); do
		if ready; then
			printf 'export SLURM_CONF=%q PATH="$PATH:/usr/sbin"\n' "$conf"
			return
		fi
		[ $((try % 10)) != 0 ] || scontrol update nodename="n[1-$nodes]" state=resume >/dev/null 2>&1 || true
		sleep 0.2
	done
	fail "the nodes are not ready; see $dir/log"
}

# end PID...: SIGTERM, and SIGKILL after five seconds.
end() {
	local pid try
	for pid in "$@"; do kill "$pid" 2>/dev/null || true; done
	for pid in "$@"; do
		for try in $(seq 50); do
			grep -q '^State:[[:space:]]*[^Z]' "/proc/$pid/status" 2>/dev/null || continue 2
			sleep 0.1
		done
		kill -9 "$pid" 2>/dev/null || true
	done
}

# job_processes: what runs as a job of this cluster, and the steps above it.
job_processes() {
	local proc
	for proc in /proc/[0-9]*; do
		if [[ "$(cat "$proc/comm" 2>/dev/null)" = slurmstepd && "$(readlink "$proc/cwd")" = "$dir"/* ]] ||
			{ tr '\0' '\n' <"$proc/environ" | grep -qxF "SLURM_CONF=$conf" &&
				tr '\0' '\n' <"$proc/environ" | grep -q '^SLURM_JOB_ID='; } 2>/dev/null; then
			[ "${proc#/proc/}" = $$ ] || echo "${proc#/proc/}"
		fi
	done
}

stop() {
	[ -e "$conf" ] || fail "there is no cluster in $dir"
	if daemon "$dir/run/slurmctld.pid" >/dev/null; then
		timeout 10 scancel --user=root 2>/dev/null || true
		local try
		for try in $(seq 25); do
			[ -n "$(timeout 5 squeue -h -t R,CG,S -o %i 2>/dev/null)" ] || break
			sleep 0.2
		done
	fi
	local file pids=() # the controller first, so that it misses no node
	for file in "$dir"/run/slurmctld.pid "$dir"/run/slurmd-*.pid; do
		pids+=($(daemon "$file" || true))
	done
	end ${pids[@]+"${pids[@]}"}
	end $(job_processes)
	end $(daemon "$dir/run/munged.pid" || true)
	rm -f "$dir"/run/*.pid "$dir"/run/munge.sock*
}

case $action in
start) start ;;
stop) stop ;;
*) usage ;;
esac
