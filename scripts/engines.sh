#!/usr/bin/env bash
# Installs and starts the real engines from Debian's packages, for tests and for a first look.
#   scripts/engines.sh [up|down|status]             LXD, Docker, and the programs that the platform runs on nodes or is judged by
#   scripts/engines.sh openstack [up|down|status]   an OpenStack of this one machine: some 3 GiB of memory
#   scripts/engines.sh horizon [up|down|status]     OpenStack's own console on that cloud, which `npm run bench` compares with
# Idempotent; assumes no systemd. What already runs is used and left as it is.
set -euo pipefail

state=${ZHISUAN_ENGINES_DIR:-/var/lib/zhisuan-engines}
export LXD_DIR=${LXD_DIR:-/var/lib/lxd}

# shellcheck source=scripts/packages.sh
. "$(dirname "$0")/packages.sh"

lxd_answers() { [ -S "$LXD_DIR/unix.socket" ] && timeout 8 lxc query /1.0 >/dev/null 2>&1; }

# Unprivileged containers map their users into ranges that belong to root.
map_users() {
  for file in /etc/subuid /etc/subgid; do
    touch "$file"
    grep -q '^root:' "$file" || echo 'root:1000000:1000000000' >>"$file"
  done
}

# Without systemd nobody may have mounted the cgroup hierarchies that LXC wants.
mount_cgroups() {
  [ -e /sys/fs/cgroup/cgroup.controllers ] && return
  mountpoint -q /sys/fs/cgroup || mount -t tmpfs cgroup /sys/fs/cgroup
  local name
  for name in $(awk '!/^#/ && $4 == 1 { print $1 }' /proc/cgroups); do
    grep -qE "^[^ ]+ [^ ]+ cgroup [^ ]*\b$name\b" /proc/mounts && continue
    mkdir -p "/sys/fs/cgroup/$name"
    mount -t cgroup -o "$name" cgroup "/sys/fs/cgroup/$name" 2>/dev/null || rmdir "/sys/fs/cgroup/$name" 2>/dev/null || true
  done
}

# From the root: its rsync cannot work where the folder that it was started in is gone.
lxd_start() {
  env -C / setsid lxd --group root --logfile "$state/lxd.log" </dev/null >>"$state/lxd.out" 2>&1 &
  echo $! >"$state/lxd.pid"
}

# LXD 5.0.2 stops answering now and then, for ever: one that is silent for half a minute is started anew. Instances go on meanwhile.
lxd_watch() {
  export -f lxd_answers lxd_start
  export state
  # shellcheck disable=SC2016
  env -C / setsid bash -c '
    silent=0
    while sleep 3 && [ -f "$state/lxd.pid" ]; do
      if lxd_answers; then
        silent=0
        continue
      fi
      silent=$((silent + 1))
      [ "$silent" -ge 3 ] && [ -f "$state/lxd.pid" ] || continue
      echo "$(date -Is) lxd is silent, and is started anew" >>"$state/lxd.out"
      kill -9 "$(cat "$state/lxd.pid")"
      sleep 1
      lxd_start
      lxd waitready --timeout=60
      silent=0
    done' </dev/null >/dev/null 2>&1 &
  echo $! >"$state/lxd.watch.pid"
}

lxd_up() {
  need_packages lxd lxd-client dnsmasq-base nftables attr acl uidmap squashfs-tools busybox-static
  if ! lxd_answers; then
    map_users
    mount_cgroups
    mkdir -p "$state" "$LXD_DIR"
    lxd_start
    lxd waitready --timeout=60
    lxd_watch
    lxc storage list --format csv | grep -q . || lxc storage create default dir >/dev/null
    lxc network show lxdbr0 >/dev/null 2>&1 ||
      lxc network create lxdbr0 ipv4.address=10.88.0.1/24 ipv4.nat=true ipv6.address=none >/dev/null
    lxc profile device get default root path >/dev/null 2>&1 ||
      lxc profile device add default root disk path=/ pool=default >/dev/null
  fi
  echo "lxd $(lxc query /1.0 | sed -n 's/.*"server_version": "\([^"]*\)".*/\1/p') $LXD_DIR/unix.socket"
}

lxd_down() {
  [ -f "$state/lxd.pid" ] || return 0
  local pid
  pid=$(cat "$state/lxd.pid")
  rm -f "$state/lxd.pid"
  [ -f "$state/lxd.watch.pid" ] && kill "$(cat "$state/lxd.watch.pid")" 2>/dev/null || true
  rm -f "$state/lxd.watch.pid"
  if kill -0 "$pid" 2>/dev/null; then
    if lxd_answers; then
      timeout 60 lxc stop --all --force 2>/dev/null || true
      timeout 90 lxd shutdown --timeout 60 2>/dev/null || true
    fi
    kill -9 "$pid" 2>/dev/null || true
  fi
}

lxd_status() { lxd_answers && echo "lxd: running" || echo "lxd: not running"; }

export DOCKER_HOST=${DOCKER_HOST:-unix:///var/run/docker.sock}
docker_answers() { timeout 10 docker version >/dev/null 2>&1; }

# After LXD, which turns forwarding on: Docker shuts the bridges of others only where it had to do that itself.
docker_up() {
  need_packages docker.io docker-compose iptables
  if ! docker_answers; then
    mkdir -p "$state/docker"
    env -C / setsid dockerd --data-root "$state/docker/root" --exec-root "$state/docker/exec" --pidfile "$state/docker.pid" \
      --storage-driver overlay2 -H "$DOCKER_HOST" </dev/null >"$state/docker.out" 2>&1 &
    local tries
    for tries in $(seq 60); do docker_answers && break || sleep 1; done
    docker_answers || { tail -20 "$state/docker.out" >&2; exit 1; }
  fi
  echo "docker $(docker version --format '{{.Server.Version}}') ${DOCKER_HOST#unix://}"
}

docker_down() {
  [ -f "$state/docker.pid" ] || return 0
  local pid
  pid=$(cat "$state/docker.pid")
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 30); do kill -0 "$pid" 2>/dev/null && sleep 1 || break; done
}

docker_status() { docker_answers && echo "docker: running" || echo "docker: not running"; }

# Packages that serve start what they serve when they are installed: theirs are left alone until somebody keeps one.
quiet_packages() {
  local policy=/usr/sbin/policy-rc.d made=0
  if [ "$(id -u)" = 0 ] && [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    made=1
  fi
  need_packages "$@" || { [ "$made" = 0 ] || rm -f "$policy"; return 1; }
  [ "$made" = 0 ] || rm -f "$policy"
}

# Started by whoever tests them: a registry, what pushes and pulls beside Docker, a monitor and what it asks, a load balancer.
programs_up() {
  # The last opens workbooks that the platform writes.
  need_packages docker-registry skopeo libreoffice-calc-nogui
  quiet_packages prometheus prometheus-node-exporter haproxy mariadb-server redis-server postgresql-15
  echo "docker-registry $(docker-registry --version | awk '{ print $3 }'), $(skopeo --version), prometheus $(prometheus --version 2>&1 | awk 'NR == 1 { print $3 }' | tr -d ,), haproxy $(haproxy -v | awk 'NR == 1 { print $3 }'), mariadb $(mariadbd --version | grep -oE "[0-9]+\.[0-9]+\.[0-9]+" | head -1), redis $(redis-server --version | grep -oE "v=[0-9.]+" | cut -d= -f2)"
}

programs_down() { :; }

programs_status() { command -v docker-registry >/dev/null && command -v prometheus >/dev/null && command -v haproxy >/dev/null && command -v mariadbd >/dev/null && command -v redis-server >/dev/null && echo "programs: there" || echo "programs: missing"; }

engines=(lxd docker programs)
case ${1:-} in
  openstack | horizon)
    # shellcheck source=scripts/openstack/cloud.sh
    . "$(dirname "$0")/openstack/cloud.sh"
    # shellcheck source=scripts/openstack/horizon.sh
    . "$(dirname "$0")/openstack/horizon.sh"
    engines=("$1")
    shift
    ;;
esac
action=${1:-up}
case $action in
  up | down | status) for engine in "${engines[@]}"; do "${engine}_$action"; done ;;
  *) echo "usage: scripts/engines.sh [openstack|horizon] [up|down|status]" >&2; exit 2 ;;
esac
