# shellcheck shell=bash disable=SC2154
# Horizon from Debian's packages on the cloud of cloud.sh, to be compared with. Sourced by scripts/engines.sh after it.
# Served as Debian's openstack-dashboard-apache would: Apache with mod_wsgi, here on 127.0.0.1:18080 only.

horizon_packages=(openstack-dashboard apache2-bin libapache2-mod-wsgi-py3)
horizon_settings=/etc/openstack-dashboard/local_settings.d/_9000_zhisuan_cloud.py

horizon_up() {
  [ -f "$cloud/openrc" ] || { echo 'Horizon needs a cloud: scripts/engines.sh openstack up' >&2; return 1; }
  without_services need_packages "${horizon_packages[@]}"
  printf 'ALLOWED_HOSTS = ["127.0.0.1"]\nOPENSTACK_KEYSTONE_URL = "http://127.0.0.1:15000/v3"\n' >"$horizon_settings"
  cat >"$cloud/etc/horizon.conf" <<END
ServerRoot /usr/lib/apache2
ServerName 127.0.0.1
Listen 127.0.0.1:18080
# As Debian has it: a page of a thousand rows takes it more than a minute.
Timeout 300
PidFile $cloud/state/horizon.pid
WSGISocketPrefix $cloud/state/horizon
ErrorLog $cloud/log/horizon.log
User www-data
Group www-data
LoadModule mpm_event_module modules/mod_mpm_event.so
LoadModule authz_core_module modules/mod_authz_core.so
LoadModule alias_module modules/mod_alias.so
LoadModule mime_module modules/mod_mime.so
LoadModule filter_module modules/mod_filter.so
LoadModule deflate_module modules/mod_deflate.so
LoadModule wsgi_module modules/mod_wsgi.so
TypesConfig /etc/mime.types
AddOutputFilterByType DEFLATE text/html text/css application/javascript application/json
WSGIDaemonProcess horizon user=www-data group=www-data
WSGIProcessGroup horizon
WSGIApplicationGroup %{GLOBAL}
WSGIScriptAlias / /usr/share/openstack-dashboard/wsgi.py
Alias /static /var/lib/openstack-dashboard/static
<Directory /usr/share/openstack-dashboard>
  Require all granted
</Directory>
<Directory /var/lib/openstack-dashboard/static>
  Require all granted
</Directory>
END
  start horizon apache2 -f "$cloud/etc/horizon.conf" -DFOREGROUND
  wait_for horizon curl -sf -o /dev/null --max-time 60 http://127.0.0.1:18080/auth/login/
  echo "horizon $(dpkg-query -W -f '${Version}' openstack-dashboard) http://127.0.0.1:18080"
}

horizon_down() {
  stop horizon
  rm -f "$horizon_settings"
}

horizon_status() { runs horizon && echo 'horizon: running' || echo 'horizon: not running'; }
