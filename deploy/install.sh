#!/bin/sh
# Installs Leadfile as a systemd service, or upgrades it: sh deploy/install.sh
# Run it as root in the folder of an unpacked release. Settings and data that exist are kept.
#   --no-start    does not start the service: to restore a backup first
#   --uninstall   stops the service and removes the program; data, backups, and settings stay
set -eu

bin=/usr/local/bin/leadfile
admin=/usr/local/sbin/leadfile-admin
units=/etc/systemd/system
data=/var/lib/leadfile
here=$(cd "$(dirname "$0")" && pwd)
program=$here/../leadfile

fail() {
	echo "$1" >&2
	exit 1
}

# Without systemd as the first process, as in an image that is being built, units are enabled and not started.
if [ -d /run/systemd/system ]; then now=--now; else now=; fi

uninstall() {
	for unit in "$here"/systemd/*.service; do
		name=$(basename "$unit")
		if [ -e "$units/$name" ]; then
			case $name in *@*) ;; *) systemctl disable --quiet $now "$name" || true ;; esac
			rm "$units/$name"
		fi
	done
	[ -z "$now" ] || systemctl daemon-reload
	rm -f "$bin" "$admin" /etc/sysusers.d/leadfile.conf /etc/tmpfiles.d/leadfile.conf
	echo "Leadfile is removed. To delete the data, too:"
	echo "  rm -r /var/lib/leadfile /var/backups/leadfile /etc/leadfile.env && userdel leadfile"
}

install_all() {
	[ -f "$program" ] || fail "There is no $program. Unpack a release and run: sh deploy/install.sh"
	"$program" --version >/dev/null 2>&1 ||
		fail "$program does not run on this machine. Download the release for its processor and C library ($(uname -m))."
	install -D -m 755 "$program" "$bin.new"
	install -D -m 755 "$here/leadfile-admin" "$admin"
	# Test the upgrade on a copy of the database first. Nothing has changed if that fails. Skip this with --no-start:
	# in a downgrade, the database is of a newer version, and a backup replaces it.
	if [ -n "$now" ] && [ -e "$data/leadfile.db" ]; then
		LEADFILE_PROGRAM=$bin.new "$admin" upgrade --check ||
			{ rm "$bin.new"; fail "The database cannot be upgraded. The old version stays installed."; }
	fi
	# The new file gets the name in one step, so that a running server keeps the old one.
	mv "$bin.new" "$bin"
	install -D -m 644 "$here/systemd/leadfile-sysusers.conf" /etc/sysusers.d/leadfile.conf
	install -D -m 644 "$here/systemd/leadfile-tmpfiles.conf" /etc/tmpfiles.d/leadfile.conf
	systemd-sysusers /etc/sysusers.d/leadfile.conf
	systemd-tmpfiles --create /etc/tmpfiles.d/leadfile.conf
	[ -e /etc/leadfile.env ] || install -m 640 -g leadfile "$here/leadfile.env" /etc/leadfile.env
	install -D -m 644 -t "$units" "$here"/systemd/*.service
	[ -z "$now" ] || systemctl daemon-reload
	systemctl enable --quiet leadfile.service
	[ -z "$now" ] || systemctl restart leadfile.service
	# With it, leadfile-failure@.service posts alerts. A minimal Debian has none.
	command -v curl >/dev/null || echo "curl is missing, so a service failure sends no alert. Run: apt-get install curl"
	echo "$("$bin" --version) is installed. Settings: /etc/leadfile.env. Next:"
	echo "  leadfile-admin account create NAME"
	echo "  leadfile-admin doctor"
}

[ "$(id -u)" = 0 ] || fail "Run this as root: sudo sh deploy/install.sh"
case "${1:-}" in
"") install_all ;;
--no-start) now= && install_all ;;
--uninstall) uninstall ;;
*) fail "Unknown option $1. Use no option to install, --no-start, or --uninstall." ;;
esac
