#!/bin/sh
# Installs Leadfile as a systemd service, or upgrades it: sh deploy/install.sh
# Run it as root in the folder of an unpacked release. Existing settings and data are kept.
#   --no-start          does not start the service: to restore a backup first
#   --downgrade [--yes] returns to this older release, and to the copy of the database that its upgrade kept
#   --uninstall         removes what the installer created; data, backups, and changed settings stay
set -eu

bin=/usr/local/bin/leadfile
admin=/usr/local/sbin/leadfile-admin
units=/etc/systemd/system
data=/var/lib/leadfile
settings=/etc/leadfile.env
completions=/usr/share/bash-completion/completions
here=$(cd "$(dirname "$0")" && pwd)
program=$here/../leadfile

fail() {
	echo "$1" >&2
	exit 1
}

# Without systemd as the first process, as in an image that is being built, units are enabled and not started.
if [ -d /run/systemd/system ]; then now=--now; else now=; fi

# The database of the service.
database() {
	path=$([ ! -e $settings ] || sed -n 's/^DATABASE_PATH=//p' $settings | tail -n 1 | tr -d "\"'")
	echo "${path:-$data/leadfile.db}"
}

# The version and commit of a program, such as 0.2.0-a1b2c3d.
build_of() {
	"$1" --version | sed 's/[^A-Za-z0-9.]\{1,\}/-/g; s/-$//'
}

check_program() {
	[ -f "$program" ] || fail "There is no $program. Unpack a release and run: sh deploy/install.sh"
	"$program" --version >/dev/null 2>&1 ||
		fail "$program does not run on this machine. Download the release for its processor and C library ($(uname -m))."
}

# Tests an upgrade on a copy of the database, and keeps a backup by the installed version for a downgrade.
prepare_upgrade() {
	old=$(build_of "$bin")
	[ "$old" != "$(build_of "$program")" ] || return 0
	LEADFILE_PROGRAM=$bin.new "$admin" upgrade --check ||
		{ rm "$bin.new"; fail "The database cannot be upgraded. The old version stays installed."; }
	"$admin" backup "$(database).before-$old-$(date -u +%Y%m%dT%H%M%SZ)" ||
		{ rm "$bin.new"; fail "The database could not be backed up. The old version stays installed."; }
}

install_all() {
	check_program
	install -D -m 755 "$program" "$bin.new"
	install -D -m 755 "$here/leadfile-admin" "$admin"
	if [ -n "$now" ] && [ -e "$bin" ] && [ -e "$(database)" ]; then prepare_upgrade; fi
	install_files
	systemctl enable --quiet leadfile.service
	if [ -n "$now" ]; then
		systemctl restart leadfile.service
		systemctl try-restart leadfile-receive.service
	fi
	echo "$("$bin" --version) is installed. Next:"
	echo "  1. Set BASE_URL in $settings, and run: systemctl restart leadfile"
	echo "  2. leadfile-admin account create NAME"
}

# Copies all files. The program gets its name in one step, so that a running server keeps the old one.
install_files() {
	mv "$bin.new" "$bin"
	install -D -m 644 "$here/systemd/leadfile-sysusers.conf" /etc/sysusers.d/leadfile.conf
	install -D -m 644 "$here/systemd/leadfile-tmpfiles.conf" /etc/tmpfiles.d/leadfile.conf
	systemd-sysusers /etc/sysusers.d/leadfile.conf
	systemd-tmpfiles --create /etc/tmpfiles.d/leadfile.conf
	[ -e $settings ] || install -m 640 -g leadfile "$here/leadfile.env" $settings
	install -D -m 644 -t "$units" "$here"/systemd/*.service
	[ -z "$now" ] || systemctl daemon-reload
	if [ -d $completions ]; then
		for name in leadfile leadfile-admin; do "$bin" completions bash >$completions/$name; done
	fi
}

downgrade() {
	check_program
	build=$(build_of "$program")
	copy=
	for file in "$(database).before-$build"-*; do
		# The names end with the time, so the last one is the newest.
		case $file in *.manifest.json | *"-*") ;; *) copy=$file ;; esac
	done
	[ -n "$copy" ] || fail "There is no copy of the database from an upgrade of $build. Restore a backup that this version made."
	running=$(systemctl list-units --plain --no-legend --state=active 'leadfile.service' 'leadfile-receive.service' | cut -d ' ' -f 1)
	# shellcheck disable=SC2086 # Each name is a word.
	[ -z "$running" ] || systemctl stop $running
	install -D -m 755 "$program" "$bin.new"
	# shellcheck disable=SC2086
	LEADFILE_PROGRAM=$bin.new "$admin" restore "$copy" "$@" ||
		{ rm "$bin.new"; [ -z "$running" ] || systemctl start $running; fail "Nothing was restored. The newer version stays installed."; }
	install -m 755 "$here/leadfile-admin" "$admin"
	install_files
	# shellcheck disable=SC2086
	[ -z "$running" ] || systemctl start $running
	echo "$("$bin" --version) is installed, with the database from $copy."
}

uninstall() {
	for unit in leadfile.service leadfile-receive.service; do
		[ ! -e "$units/$unit" ] || systemctl disable --quiet $now "$unit" || true
	done
	rm -f "$units"/leadfile.service "$units"/leadfile-receive.service "$units"/leadfile-failure@.service
	[ -z "$now" ] || { systemctl daemon-reload; systemctl reset-failed 'leadfile*' 2>/dev/null || true; }
	rm -f $completions/leadfile $completions/leadfile-admin
	rm -f "$bin" "$admin" /etc/sysusers.d/leadfile.conf /etc/tmpfiles.d/leadfile.conf
	cmp -s "$here/leadfile.env" $settings && rm $settings
	rmdir --ignore-fail-on-non-empty $data/inbox $data /var/backups/leadfile 2>/dev/null || true
	left=
	for path in $settings $data /var/backups/leadfile $units/leadfile.service.d; do
		[ ! -e $path ] || left="$left $path"
	done
	if [ -n "$left" ]; then
		echo "Leadfile is removed. To delete settings, data, and backups, too:"
		echo "  rm -r$left && userdel leadfile"
	else
		userdel leadfile 2>/dev/null || true
		echo "Leadfile is removed."
	fi
}

[ "$(id -u)" = 0 ] || fail "Run this as root: sudo sh deploy/install.sh"
case "${1:-}" in
"") install_all ;;
--no-start) now= && install_all ;;
--downgrade) shift && downgrade "$@" ;;
--uninstall) uninstall ;;
*) fail "Unknown option $1. Use no option to install, --no-start, --downgrade, or --uninstall." ;;
esac
