#!/usr/bin/env bash
# A real LXD cluster of two members on one host, for tests: each in namespaces of its own, beside
# whatever LXD this host runs.
#   tests/support/lxd-cluster.sh up FOLDER     prints the first member's socket
#   tests/support/lxd-cluster.sh down FOLDER
# Needs root and what scripts/engines.sh installs. FOLDER is removed at the end.
set -euo pipefail
action=${1:?up or down} folder=${2:?folder}
members=(one two)
name() { echo "zs$(basename "$folder" | cksum | cut -d' ' -f1 | tail -c 7)$1"; }
address() { [ "$1" = one ] && echo 10.201.0.1 || echo 10.201.0.2; }
# In the member's network, as its join token's certificate is looked at there.
inside() { local member=$1; shift; LXD_DIR=$folder/$member nsenter --net="/run/netns/$(name "$member")" "$@"; }

up() {
  mkdir -p "$folder"
  local member
  for member in "${members[@]}"; do ip netns add "$(name "$member")"; done
  ip link add lan netns "$(name one)" type veth peer name lan netns "$(name two)"
  for member in "${members[@]}"; do
    ip -n "$(name "$member")" address add "$(address "$member")/24" dev lan
    ip -n "$(name "$member")" link set lo up
    ip -n "$(name "$member")" link set lan up
    mkdir -p "$folder/$member" "$folder/cgroup"
    # Its own view of network interfaces in /sys, and the host's cgroups.
    LXD_DIR=$folder/$member setsid nsenter --net="/run/netns/$(name "$member")" unshare -m --propagation private bash -c '
      mount --rbind /sys/fs/cgroup "$1/cgroup" && mount -t sysfs sysfs /sys && mount --rbind "$1/cgroup" /sys/fs/cgroup && umount -l "$1/cgroup"
      exec lxd --group root --logfile "$1/$2.log"' - "$folder" "$member" </dev/null >"$folder/$member.out" 2>&1 &
  done
  for member in "${members[@]}"; do LXD_DIR=$folder/$member lxd waitready --timeout=60; done
  inside one lxd init --preseed <<END
config: {core.https_address: "$(address one):8443"}
cluster: {server_name: one, enabled: true}
storage_pools: [{name: default, driver: dir}]
END
  inside two lxd init --preseed <<END
cluster: {enabled: true, server_address: "$(address two):8443", cluster_token: $(inside one lxc cluster add two | tail -n 1), member_config: []}
END
  # A member that is late on a busy machine is not gone.
  inside one lxc config set cluster.offline_threshold 300
  echo "$folder/one/unix.socket"
}

down() {
  local member pids
  for member in two one; do
    if [ -S "$folder/$member/unix.socket" ]; then LXD_DIR=$folder/$member timeout 60 lxd shutdown --timeout 30 >/dev/null 2>&1 || true; fi
    # Also those of a run that was killed, whose folder was another.
    while pids=$(ip netns pids "$(name "$member")" 2>/dev/null) && [ -n "$pids" ]; do
      xargs kill -9 2>/dev/null <<<"$pids" || true
      sleep 0.1
    done
    ip netns delete "$(name "$member")" 2>/dev/null || true
  done
  rm -rf "$folder"
}

case $action in
  up | down) "$action" ;;
  *) echo "usage: tests/support/lxd-cluster.sh up|down FOLDER" >&2; exit 2 ;;
esac
