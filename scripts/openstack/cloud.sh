# shellcheck shell=bash
# An OpenStack of one machine for tests and for a first look, from Debian's packages. Sourced by scripts/engines.sh.
# Everything listens on 127.0.0.1. Nova's fake driver plays the virtual machines; all else is real: volumes are files
# of Cinder's NFS driver in a folder of this host, networks are bridges and namespaces of it.

cloud=${ZHISUAN_OPENSTACK_DIR:-$state/openstack}
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# A machine that does other things too takes its time.
patience=${ZHISUAN_OPENSTACK_WAIT_S:-300}

openstack_packages=(
  mariadb-server rabbitmq-server uwsgi-core uwsgi-plugin-python3
  keystone placement-api glance-api nova-api nova-conductor nova-scheduler nova-compute
  neutron-server neutron-linuxbridge-agent neutron-l3-agent
  cinder-api cinder-scheduler cinder-volume cinder-backup nfs-common
)

# Packages start no service: none of them is configured yet, and each would take the ports of its own choice.
without_services() {
  local policy=/usr/sbin/policy-rc.d status=0
  if [ "$(id -u)" != 0 ] || [ -e "$policy" ]; then
    "$@"
    return
  fi
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  "$@" || status=$?
  rm -f "$policy"
  return "$status"
}

# A process is known by its id and the moment it began, so that nobody else's is taken for it.
born() { awk '{ sub(/.*\) /, ""); print $20 }' "/proc/$1/stat" 2>/dev/null; }
runs() {
  local pid start
  [ -f "$cloud/run/$1" ] && read -r pid start <"$cloud/run/$1" && [ -n "$start" ] && [ "$(born "$pid")" = "$start" ]
}

# start NAME COMMAND…: in a process group of its own, which ends with it.
start() {
  local name=$1
  shift
  runs "$name" && return
  env -C / setsid "$@" </dev/null >>"$cloud/log/$name.log" 2>&1 9>&- &
  echo "$! $(born $!)" >"$cloud/run/$name"
}

stop() {
  local pid start
  if runs "$1"; then
    read -r pid start <"$cloud/run/$1"
    kill -TERM -- "-$pid" 2>/dev/null || true
    for _ in $(seq 100); do kill -0 -- "-$pid" 2>/dev/null && sleep 0.2 || break; done
    kill -KILL -- "-$pid" 2>/dev/null || true
  fi
  rm -f "$cloud/run/$1"
}

did_not_come() {
  echo "OpenStack: $1 did not come up. The end of $cloud/log/$1.log:" >&2
  tail -20 "$cloud/log/$1.log" >&2
  return 1
}

# wait_for NAME COMMAND…: until the command succeeds; no longer than the service runs.
wait_for() {
  local name=$1 until=$((SECONDS + patience))
  shift
  until "$@" >/dev/null 2>&1; do
    if ! runs "$name" || [ "$SECONDS" -ge "$until" ]; then did_not_come "$name"; return 1; fi
    sleep 0.3
  done
}
answers() { curl -s -o /dev/null --max-time 10 "http://127.0.0.1:$1/"; }

# Those that serve no address report to their own service.
wait_for_workers() {
  local until=$((SECONDS + patience)) name
  while name=$(python3 "$scripts/cloud.py" silent "$cloud/secrets" 2>&1) && [ -n "$name" ]; do
    if ! runs "$name" || [ "$SECONDS" -ge "$until" ]; then did_not_come "$name"; return 1; fi
    sleep 1
  done
  [ -z "$name" ] || { echo "OpenStack: $name" >&2; return 1; }
}

# run_step NAME COMMAND…: told with its log where it fails.
run_step() {
  local name=$1
  shift
  "$@" >>"$cloud/log/$name.log" 2>&1 || did_not_come "$name"
}

all_of() {
  local pid status=0
  for pid in "$@"; do wait "$pid" || status=1; done
  return "$status"
}

# Passwords are made once and read by their owner only.
secrets() {
  if [ ! -f "$cloud/secrets" ]; then
    (
      umask 077
      for name in database rabbit service admin; do echo "${name}_password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"; done >"$cloud/secrets.new"
      mv "$cloud/secrets.new" "$cloud/secrets"
    )
  fi
  # shellcheck disable=SC1091
  . "$cloud/secrets"
}

sql() { mariadb --no-defaults --socket="$cloud/run/mysql.sock" --user=root "$@"; }

database_up() {
  local data=$cloud/mysql
  if [ ! -d "$data/mysql" ]; then
    install -d -o mysql -g mysql -m 700 "$data"
    run_step mariadb mariadb-install-db --no-defaults --user=mysql --datadir="$data" --auth-root-authentication-method=socket --auth-root-socket-user=root --skip-test-db
  fi
  # Small, and without what only a crash of the machine would need: this cloud is made anew in a minute.
  start mariadb mariadbd --no-defaults --user=mysql --datadir="$data" --socket="$cloud/run/mysql.sock" --bind-address=127.0.0.1 --port=13306 \
    --innodb-buffer-pool-size=96M --innodb-flush-log-at-trx-commit=2 --performance-schema=off --max-connections=500
  wait_for mariadb sql -e 'select 1'
}

rabbit_up() {
  local folder=$cloud/rabbit
  install -d -o rabbitmq -g rabbitmq -m 700 "$folder"
  (umask 077; printf 'listeners.tcp.1 = 127.0.0.1:15671\ndefault_user = cloud\ndefault_pass = %s\nvm_memory_high_watermark.absolute = 512MB\ndisk_free_limit.absolute = 100MB\n' "$rabbit_password" >"$folder/rabbitmq.conf")
  chown rabbitmq:rabbitmq "$folder/rabbitmq.conf"
  local -a as=(
    setpriv --reuid rabbitmq --regid rabbitmq --clear-groups env "HOME=$folder" ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT=14369
    RABBITMQ_NODENAME=zhisuan@localhost RABBITMQ_DIST_PORT=25671 RABBITMQ_MNESIA_BASE="$folder/mnesia" RABBITMQ_LOG_BASE="$folder/log" RABBITMQ_LOGS=-
    RABBITMQ_PID_FILE="$folder/pid" RABBITMQ_ENABLED_PLUGINS_FILE="$folder/plugins" RABBITMQ_CONFIG_FILE="$folder/rabbitmq.conf" RABBITMQ_CONF_ENV_FILE="$folder/none"
    # One scheduler that does not wait busily.
    'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}'
  )
  # Erlang would leave it behind as a daemon.
  start epmd "${as[@]}" epmd
  wait_for epmd "${as[@]}" epmd -names
  start rabbitmq "${as[@]}" /usr/lib/rabbitmq/bin/rabbitmq-server
  wait_for rabbitmq bash -c 'exec 3<>/dev/tcp/127.0.0.1/15671'
}

# The tables of each service, and what Keystone and Nova's cells begin with. Half of it is nothing: it is begun anew.
make_tables() {
  local name
  for name in keystone glance placement nova_api nova nova_cell0 neutron cinder; do
    sql -e "drop database if exists $name; create database $name character set utf8mb3"
  done
  sql -e "create or replace user cloud@'127.0.0.1' identified by '$database_password'; grant all on *.* to cloud@'127.0.0.1'"
  rm -rf "$cloud/keys" && mkdir -m 700 "$cloud/keys"
  local -a pids=()
  (
    run_step keystone keystone-manage --config-file "$conf/keystone.conf" db_sync
    run_step keystone keystone-manage --config-file "$conf/keystone.conf" fernet_setup --keystone-user root --keystone-group root
    run_step keystone keystone-manage --config-file "$conf/keystone.conf" credential_setup --keystone-user root --keystone-group root
    # By its environment: a command line is everybody's to read.
    OS_BOOTSTRAP_PASSWORD=$admin_password run_step keystone keystone-manage --config-file "$conf/keystone.conf" bootstrap \
      --bootstrap-region-id RegionOne --bootstrap-public-url http://127.0.0.1:15000/v3 --bootstrap-internal-url http://127.0.0.1:15000/v3 --bootstrap-admin-url http://127.0.0.1:15000/v3
    run_step glance glance-manage --config-file "$conf/glance.conf" db_sync
    run_step placement placement-manage --config-file "$conf/placement.conf" db sync
    run_step cinder cinder-manage --config-file "$conf/cinder.conf" db sync
  ) &
  pids+=($!)
  (
    run_step nova nova-manage --config-file "$conf/nova.conf" api_db sync
    run_step nova nova-manage --config-file "$conf/nova.conf" cell_v2 map_cell0 --database_connection '{scheme}://{username}:{password}@{hostname}:{port}/nova_cell0?{query}'
    run_step nova nova-manage --config-file "$conf/nova.conf" db sync
    # By template: what is stored names no password.
    run_step nova nova-manage --config-file "$conf/nova.conf" cell_v2 create_cell --name cell1 --transport-url '{scheme}://{username}:{password}@{hostname}:{port}/{path}?{query}' --database_connection '{scheme}://{username}:{password}@{hostname}:{port}/{path}?{query}'
    run_step neutron neutron-db-manage --config-file "$conf/neutron.conf" --config-file "$conf/ml2.ini" upgrade heads
  ) &
  pids+=($!)
  all_of "${pids[@]}"
}

# What Cinder's NFS driver would mount: it takes what is mounted already, and this kernel has no NFS.
share=127.0.0.1:/volumes
mount_volumes() {
  local hash folder
  hash=$(printf %s "$share" | md5sum | cut -d' ' -f1)
  for folder in cinder nova backup; do
    mkdir -p "$cloud/volumes" "$cloud/mnt/$folder/$hash"
    mountpoint -q "$cloud/mnt/$folder/$hash" || mount --bind "$cloud/volumes" "$cloud/mnt/$folder/$hash"
  done
  echo "$share" >"$conf/shares"
}

openstack_up() {
  without_services need_packages "${openstack_packages[@]}"
  [ "$(id -u)" = 0 ] || { echo 'OpenStack: its services make bridges and namespaces: run this as root.' >&2; return 1; }
  conf=$cloud/etc
  mkdir -p "$cloud"
  # Two at once would start everything twice.
  exec 9>"$cloud/lock"
  flock 9
  mkdir -p "$cloud"/{etc,log,run,images,backups,state}
  chmod 700 "$cloud/etc" "$cloud/log"
  # The database makes its socket there.
  chmod 1777 "$cloud/run"
  secrets
  (umask 077; . "$scripts/configure.sh")
  database_up
  rabbit_up
  mount_volumes
  if [ ! -f "$cloud/made" ]; then make_tables; fi
  # It closes each connection, and has to say so: clients would use it again.
  local -a uwsgi=(uwsgi --add-header 'Connection: close' --plugin python3 --master --no-orphans --die-on-term --enable-threads --lazy-apps --buffer-size 65535 --disable-logging --processes 1)
  start keystone env OS_KEYSTONE_CONFIG_FILES="$conf/keystone.conf" "${uwsgi[@]}" --http-socket 127.0.0.1:15000 --threads 4 --wsgi-file /usr/bin/keystone-wsgi-public --pyargv "--config-file $conf/keystone.conf"
  start placement env OS_PLACEMENT_CONFIG_DIR="$conf" "${uwsgi[@]}" --http-socket 127.0.0.1:18778 --threads 2 --wsgi-file /usr/bin/placement-api
  wait_for keystone answers 15000
  # Services ask Keystone who they are as they start.
  if [ ! -f "$cloud/made" ]; then run_step accounts python3 "$scripts/cloud.py" accounts "$cloud/secrets"; touch "$cloud/made"; fi
  start nova-conductor nova-conductor --config-file "$conf/nova.conf"
  start glance glance-api --config-file "$conf/glance.conf"
  start neutron neutron-server --config-file "$conf/neutron.conf" --config-file "$conf/ml2.ini"
  start nova-api nova-api --config-file "$conf/nova.conf"
  start nova-scheduler nova-scheduler --config-file "$conf/nova.conf"
  start cinder-api cinder-api --config-file "$conf/cinder.conf"
  start cinder-scheduler cinder-scheduler --config-file "$conf/cinder.conf"
  start cinder-volume cinder-volume --config-file "$conf/cinder.conf"
  start cinder-backup cinder-backup --config-file "$conf/cinder.conf"
  wait_for placement answers 18778
  start nova-compute /usr/bin/python3 "$scripts/compute.py" --config-file "$conf/nova.conf"
  # The program is part of nova-common; its package would bring noVNC and SPICE along.
  start nova-serialproxy /usr/bin/python3 -c 'import sys; from nova.cmd.serialproxy import main; sys.exit(main())' --config-file "$conf/nova.conf"
  wait_for neutron answers 19696
  start neutron-linuxbridge neutron-linuxbridge-agent --config-file "$conf/neutron.conf" --config-file "$conf/ml2.ini"
  start neutron-l3 neutron-l3-agent --config-file "$conf/neutron.conf" --config-file "$conf/l3.ini"
  wait_for glance answers 19292
  wait_for nova-api answers 18774
  wait_for cinder-api answers 18776
  wait_for nova-serialproxy answers 16083
  wait_for_workers
  # Nova puts nothing on a host that it has not been told of.
  run_step nova nova-manage --config-file "$conf/nova.conf" cell_v2 discover_hosts
  run_step accounts python3 "$scripts/cloud.py" first "$cloud/secrets"
  exec 9>&-
  echo "openstack $(dpkg-query -W -f '${Version}' nova-api) http://127.0.0.1:15000/v3 $cloud/openrc"
}

openstack_down() {
  [ -d "$cloud/run" ] || return 0
  exec 9>"$cloud/lock"
  flock 9
  local name id
  local -a networks=() routers=()
  if runs mariadb && [ -f "$cloud/made" ]; then
    mapfile -t networks < <(sql -N neutron -e 'select id from networks')
    mapfile -t routers < <(sql -N neutron -e 'select id from routers')
  fi
  local -a pids=()
  for name in "$cloud"/run/*; do
    name=$(basename "$name")
    case $name in mariadb | rabbitmq | epmd | mysql.sock*) continue ;; esac
    stop "$name" &
    pids+=($!)
  done
  all_of "${pids[@]}"
  for name in rabbitmq epmd mariadb; do stop "$name"; done
  # What the agents made on this host for the networks and routers of this cloud, and nobody else's.
  for id in "${routers[@]}"; do ip netns delete "qrouter-$id" 2>/dev/null || true; done
  for id in "${networks[@]}"; do
    local bridge=brq${id:0:11}
    [ -d "/sys/class/net/$bridge" ] || continue
    for name in /sys/class/net/"$bridge"/brif/*; do
      [ -e "$name" ] && { ip link delete "$(basename "$name")" 2>/dev/null || true; }
    done
    ip link delete "$bridge" 2>/dev/null || true
  done
  for name in "$cloud"/mnt/*/*; do mountpoint -q "$name" && umount "$name"; done
  # There is no way in any more: tests look for it.
  rm -f "$cloud/openrc"
  exec 9>&-
}

openstack_status() {
  local name any=
  for name in "$cloud"/run/*; do
    name=$(basename "$name")
    case $name in '*' | mysql.sock*) continue ;; esac
    any=1
    runs "$name" && echo "openstack $name: running" || echo "openstack $name: not running"
  done
  [ -n "$any" ] || echo 'openstack: not running'
}
