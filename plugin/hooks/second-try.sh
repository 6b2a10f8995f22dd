#!/bin/sh
# second-try.sh EVENT CODE: called by hooks.json after `memlite hook EVENT` ended with CODE. That means the program
# could not start, because once it runs it ends with 0 whatever happens. What can be mended is mended here, the
# rest goes to the log, and the end is always 0: the client shows other codes as "hook failed", and 2 blocks prompts.
#
#   255  It unpacks itself into a temporary directory first, and could not: full, read-only or mounted noexec.
#        It has not read its input yet, so it is tried again with a folder of its own, $MEMLITE_HOME/tmp.
#   126  It has lost its exec bit, as in a zip without them.
#   127  It is gone, or a library it needs is.

event=$1
code=$2
program=${0%/*}/../bin/memlite
home=${MEMLITE_HOME:-${HOME:-/nonexistent}/.memlite}
case $home in "~/"*) home=$HOME/${home#"~/"} ;; esac
umask 077
mkdir -p "$home" 2>/dev/null

log=$home/memlite.log
[ -w "$home" ] && [ ! -h "$log" ] || log=/dev/null
[ -z "$(find "$log" -type f -size +2000 2>/dev/null)" ] || log=/dev/null # 1 MB of complaints is enough

note() {
	echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) hook $event: $*" 2>/dev/null >>"$log"
}

# A bootloader that runs out of space leaves what it had unpacked. Such a folder has no base_library.zip, which
# comes last, and carries the number of its process; one whose process lives is left alone.
remove_partial() {
	for left in "${TMPDIR:-/tmp}"/_MEI????????* /tmp/_MEI????????* /var/tmp/_MEI????????*; do
		[ -O "$left" ] && [ ! -e "$left/base_library.zip" ] || continue
		number=${left##*/_MEI}
		number=${number%??????}
		case $number in *[!0-9a-f]*) continue ;; esac
		kill -0 $((0x$number)) 2>/dev/null || rm -rf "$left"
	done
}

case $code in
255)
	remove_partial
	[ -d "$home/tmp" ] && known=1
	mkdir -p "$home/tmp" 2>/dev/null
	if TMPDIR=$home/tmp "$program" hook "$event" 2>>"$log"; then
		[ "$known" ] || note "${TMPDIR:-/tmp} is full, read-only or noexec; $home/tmp is used instead"
	else
		note "could not start, neither from ${TMPDIR:-/tmp} nor from $home/tmp: set TMPDIR to a folder with" \
			"20 MB of free space where programs may run"
	fi
	;;
126)
	if chmod u+x "$program" 2>/dev/null && "$program" hook "$event" 2>>"$log"; then
		note "$program had lost its exec bit; it has it again"
	else
		note "could not start: $program can't be executed"
	fi
	;;
127) note "could not start: $program or a library it needs is missing; install the plugin again" ;;
*) note "ended with $code" ;;
esac
exit 0
