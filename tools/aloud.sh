#!/bin/sh
# Runs a command. If it takes longer than some seconds, prints TEXT, then the elapsed time twice a minute until it ends.
# Used by "make build": the first build compiles for minutes without printing anything.
#
#   aloud.sh TEXT COMMAND...    ALOUD_AFTER: seconds until TEXT (3)
set -u
text=$1
shift
# A sleep that outlives the command must not hold the caller's pipes open.
pause() { sleep "$1" </dev/null >/dev/null 2>&1; }
(
	pause "${ALOUD_AFTER:-3}"
	echo "$text" >&2
	for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		pause 30
		echo "still running after $((n * 30)) s" >&2
	done
) &
note=$!
"$@"
status=$?
kill "$note" 2>/dev/null
exit $status
