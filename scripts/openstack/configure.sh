# shellcheck shell=bash disable=SC2154
# Writes the configuration of each service to $conf. Sourced by cloud.sh, with a mask that shuts others out.
# One worker of each, and what is done by the clock is done rarely: an idle cloud costs little.

database_of() { printf 'connection = mysql+pymysql://cloud:%s@127.0.0.1:13306/%s\nmax_pool_size = 10\n' "$database_password" "$1"; }
rabbit="transport_url = rabbit://cloud:$rabbit_password@127.0.0.1:15671/"
account() {
  cat <<END
auth_url = http://127.0.0.1:15000/v3
auth_type = password
project_domain_name = Default
user_domain_name = Default
project_name = service
username = $1
password = $service_password
region_name = RegionOne
END
}
# section NAME USER: how a service asks another, or Keystone, in the name of USER.
section() {
  printf '[%s]\n' "$1"
  account "$2"
}
token() {
  section keystone_authtoken "$1"
  # Nova asks about each token anew: one that is revoked is refused at once.
  [ "$1" != nova ] || echo 'token_cache_time = -1'
  printf 'www_authenticate_uri = http://127.0.0.1:15000/v3\nservice_token_roles_required = true\nservice_token_roles = service\n'
}

cat >"$conf/keystone.conf" <<END
[database]
$(database_of keystone)
[token]
provider = fernet
expiration = 3600
[fernet_tokens]
key_repository = $cloud/keys/fernet
[credential]
key_repository = $cloud/keys/credential
# It is one process: what it remembers is true.
[cache]
enabled = true
backend = dogpile.cache.memory
END

cat >"$conf/placement.conf" <<END
[placement_database]
$(database_of placement)
[api]
auth_strategy = keystone
$(token placement)
END

cat >"$conf/glance.conf" <<END
[DEFAULT]
bind_host = 127.0.0.1
bind_port = 19292
workers = 0
enabled_backends = files:file
enabled_import_methods = [glance-direct,web-download]
[glance_store]
default_backend = files
[files]
filesystem_store_datadir = $cloud/images
[os_glance_staging_store]
filesystem_store_datadir = $cloud/state/glance/staging
[os_glance_tasks_store]
filesystem_store_datadir = $cloud/state/glance/tasks
# What an image is fetched from: of tests, on this host.
[import_filtering_opts]
allowed_ports = []
disallowed_ports = [22]
[database]
$(database_of glance)
[paste_deploy]
flavor = keystone
config_file = /etc/glance/glance-api-paste.ini
$(token glance)
[oslo_concurrency]
lock_path = $cloud/state/glance/lock
END
mkdir -p "$cloud/state/glance/staging" "$cloud/state/glance/tasks"

cat >"$conf/nova.conf" <<END
[DEFAULT]
host = cloud
my_ip = 127.0.0.1
state_path = $cloud/state/nova
$rabbit
rpc_response_timeout = 180
osapi_compute_listen = 127.0.0.1
osapi_compute_listen_port = 18774
osapi_compute_workers = 1
enabled_apis = osapi_compute
compute_driver = fake.SameHostColdMigrateDriver
allow_resize_to_same_host = true
# Room for a thousand small servers beside those of tests.
cpu_allocation_ratio = 300
ram_allocation_ratio = 300
disk_allocation_ratio = 10
# Deleted ones stay for an hour.
reclaim_instance_interval = 3600
# There is no machine whose card could be plugged in.
vif_plugging_is_fatal = false
vif_plugging_timeout = 0
report_interval = 60
service_down_time = 300
heal_instance_info_cache_interval = 600
update_resources_interval = 300
sync_power_state_interval = -1
bandwidth_poll_interval = -1
volume_usage_poll_interval = 0
[api]
auth_strategy = keystone
[api_database]
$(database_of nova_api)
[database]
$(database_of nova)
[conductor]
workers = 1
[scheduler]
workers = 1
discover_hosts_in_cells_interval = -1
[vnc]
enabled = true
novncproxy_base_url = http://127.0.0.1:16080/vnc_lite.html
[serial_console]
enabled = true
base_url = ws://127.0.0.1:16083/
serialproxy_host = 127.0.0.1
serialproxy_port = 16083
[libvirt]
nfs_mount_point_base = $cloud/mnt/nova
[glance]
api_servers = http://127.0.0.1:19292
$(token nova)
$(section placement nova)
$(section neutron nova)
$(section cinder nova)
os_region_name = RegionOne
$(section service_user nova)
send_service_user_token = true
[oslo_concurrency]
lock_path = $cloud/state/nova/lock
END
mkdir -p "$cloud/state/nova"

cat >"$conf/neutron.conf" <<END
[DEFAULT]
host = cloud
bind_host = 127.0.0.1
bind_port = 19696
core_plugin = ml2
service_plugins = router
$rabbit
rpc_response_timeout = 180
auth_strategy = keystone
state_path = $cloud/state/neutron
api_paste_config = /etc/neutron/api-paste.ini
api_workers = 1
rpc_workers = 1
rpc_state_report_workers = 0
agent_down_time = 300
notify_nova_on_port_status_changes = true
notify_nova_on_port_data_changes = true
# Nobody is served by DHCP: machines that are played ask nobody for an address.
dhcp_agent_notification = false
[experimental]
linuxbridge = true
[agent]
report_interval = 60
root_helper =
root_helper_daemon =
[database]
$(database_of neutron)
$(token neutron)
$(section nova nova)
$(section placement placement)
[oslo_concurrency]
lock_path = $cloud/state/neutron/lock
END
for context in privsep privsep_dhcp_release privsep_ovs_vsctl privsep_namespace privsep_conntrack privsep_link; do
  printf '[%s]\nhelper_command = privsep-helper --config-file %s/neutron.conf\n' "$context" "$conf"
done >>"$conf/neutron.conf"
mkdir -p "$cloud/state/neutron"

cat >"$conf/ml2.ini" <<END
[ml2]
type_drivers = vxlan,local
tenant_network_types = vxlan
mechanism_drivers = linuxbridge
extension_drivers = port_security
[ml2_type_vxlan]
vni_ranges = 1:4000
[agent]
polling_interval = 15
[vxlan]
enable_vxlan = true
local_ip = 127.0.0.1
l2_population = false
[securitygroup]
enable_ipset = false
firewall_driver = noop
END

cat >"$conf/l3.ini" <<END
[DEFAULT]
interface_driver = linuxbridge
enable_metadata_proxy = false
END

cat >"$conf/cinder.conf" <<END
[DEFAULT]
host = cloud
my_ip = 127.0.0.1
$rabbit
rpc_response_timeout = 180
auth_strategy = keystone
osapi_volume_listen = 127.0.0.1
osapi_volume_listen_port = 18776
osapi_volume_workers = 1
api_paste_config = /etc/cinder/api-paste.ini
state_path = $cloud/state/cinder
enabled_backends = files
default_volume_type = __DEFAULT__
glance_api_servers = http://127.0.0.1:19292
report_interval = 60
service_down_time = 300
periodic_interval = 300
backup_driver = cinder.backup.drivers.posix.PosixBackupDriver
backup_posix_path = $cloud/backups
backup_mount_point_base = $cloud/mnt/backup
# Backups of volumes that are used are made of a copy.
backup_use_same_host = true
backup_workers = 1
[files]
volume_backend_name = files
volume_driver = cinder.volume.drivers.nfs.NfsDriver
nfs_shares_config = $conf/shares
nfs_mount_point_base = $cloud/mnt/cinder
nfs_sparsed_volumes = true
nfs_snapshot_support = true
nas_secure_file_operations = false
nas_secure_file_permissions = false
max_over_subscription_ratio = 1000
[database]
$(database_of cinder)
$(token cinder)
$(section nova nova)
$(section service_user cinder)
send_service_user_token = true
[oslo_concurrency]
lock_path = $cloud/state/cinder/lock
[privsep_osbrick]
helper_command = privsep-helper --config-file $conf/cinder.conf
[cinder_sys_admin]
helper_command = privsep-helper --config-file $conf/cinder.conf
END
mkdir -p "$cloud/state/cinder"

cat >"$cloud/openrc" <<END
export OS_AUTH_URL=http://127.0.0.1:15000/v3
export OS_USERNAME=admin
export OS_PASSWORD=$admin_password
export OS_PROJECT_NAME=admin
export OS_USER_DOMAIN_NAME=Default
export OS_PROJECT_DOMAIN_NAME=Default
export OS_IDENTITY_API_VERSION=3
export OS_REGION_NAME=RegionOne
END
