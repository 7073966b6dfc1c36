#!/usr/bin/env bash
# Builds a tiny instance image from this host's busybox (package busybox-static), without network.
#   scripts/build-image.sh OUT.tar.gz
# An LXD unified image: metadata.yaml and rootfs/. The same busybox gives the same bytes.
set -euo pipefail
out=$(realpath -m "${1:?usage: scripts/build-image.sh OUT.tar.gz}")
busybox=$(command -v /bin/busybox || command -v busybox) || { echo "busybox is missing: apt-get install busybox-static" >&2; exit 1; }
! ldd "$busybox" >/dev/null 2>&1 || { echo "$busybox is not static: apt-get install busybox-static" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/rootfs
mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,etc/init.d,etc/udhcpc,proc,sys,dev,run,tmp,var/log,root/.ssh,home}
chmod 700 "$root/root" "$root/root/.ssh"
chmod 1777 "$root/tmp"
cp "$busybox" "$root/bin/busybox"
# busybox lists itself too: a link of that name would overwrite it.
"$busybox" --list | grep -vx busybox | while read -r applet; do ln -s busybox "$root/bin/$applet"; done
ln -s ../bin/busybox "$root/sbin/init"

cat >"$root/etc/inittab" <<'END'
::sysinit:/etc/init.d/boot
::respawn:/bin/sh -c 'exec sleep 86400'
::restart:/sbin/init
::shutdown:/bin/sh -c 'echo "Zhisuan BusyBox is shutting down" >/dev/console'
END
cat >"$root/etc/init.d/boot" <<'END'
#!/bin/sh
# The container manager asks for a shutdown with SIGPWR, which this init takes for a halt.
export PATH=/bin:/sbin
mount -t proc proc /proc 2>/dev/null
mount -t sysfs sysfs /sys 2>/dev/null
hostname -F /etc/hostname 2>/dev/null
ip link set lo up
ip link set eth0 up 2>/dev/null
echo "Zhisuan BusyBox $(hostname) is up" >/dev/console
udhcpc -i eth0 -s /etc/udhcpc/apply -t 10 -T 1 -b -S >/dev/null 2>&1 &
END
cat >"$root/etc/udhcpc/apply" <<'END'
#!/bin/sh
case $1 in
  bound | renew)
    ip addr flush dev "$interface"
    ip addr add "$ip/${mask:-24}" dev "$interface"
    [ -n "$router" ] && ip route replace default via "${router%% *}" dev "$interface"
    : >/etc/resolv.conf
    for server in $dns; do echo "nameserver $server" >>/etc/resolv.conf; done
    echo "eth0 $ip" >/dev/console
    ;;
  deconfig) ip addr flush dev "$interface" ;;
esac
END
# Debian's busybox has no chpasswd. This one reads name:password lines, as the real one does.
cat >"$root/usr/sbin/chpasswd" <<'END'
#!/bin/sh
export PATH=/bin:/sbin
umask 077
while IFS=: read -r name password; do
  grep -q "^$name:" /etc/passwd || { echo "chpasswd: unknown user $name" >&2; exit 1; }
  hash=$(printf '%s' "$password" | mkpasswd -m sha512 -P 0) || exit 1
  awk -F: -v OFS=: -v name="$name" -v hash="$hash" '$1 == name { $2 = hash } { print }' /etc/shadow >/etc/shadow.new || exit 1
  mv /etc/shadow.new /etc/shadow
done
END
chmod 755 "$root/etc/init.d/boot" "$root/etc/udhcpc/apply" "$root/usr/sbin/chpasswd"
echo 'root::0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo 'root:*:19000:0:99999:7:::' >"$root/etc/shadow"
sed -i 's/^root::/root:x:/' "$root/etc/passwd"
chmod 600 "$root/etc/shadow"
echo 'root:x:0:' >"$root/etc/group"
echo busybox >"$root/etc/hostname"
echo '127.0.0.1 localhost' >"$root/etc/hosts"
printf 'export PATH=/bin:/sbin\nexport PS1="\\u@\\h:\\w\\$ "\n' >"$root/etc/profile"

version=$("$busybox" | sed -n '1s/^BusyBox v\([^ ]*\).*/\1/p')
mkdir -p "$work/templates"
echo '{{ container.name }}' >"$work/templates/hostname.tpl"
cat >"$work/metadata.yaml" <<END
architecture: $(uname -m)
creation_date: 1700000000
properties:
  architecture: $(uname -m)
  description: BusyBox $version
  os: BusyBox
  release: "$version"
templates:
  /etc/hostname:
    when: [create, copy]
    template: hostname.tpl
END
tar -C "$work" --sort=name --mtime=@1700000000 --owner=0 --group=0 --numeric-owner -c metadata.yaml templates rootfs | gzip -n >"$out"
