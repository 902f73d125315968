#!/bin/sh
# Runs tests and ends with one summary of them. Called by "make test" and "make test-long".
#
#   test.sh fast   every package and every rule, with -short (small loops) and the race detector. It needs go, git and
#                  coreutils; a test that uses more is skipped where that is missing.
#   test.sh long   what "fast" leaves out, in full size (every match, many seeds, outside clients), without the race
#                  detector, which would make it take hours: the packages that -short or the build tag "long" changes,
#                  and on Linux the tests with the tag "simdisk", in a build whose files are on a simulated disk.
#
#   GO, TAGS   the go command and the build tags
#   PACKAGES   what "fast" tests; everything by default
#   CI         if set, nothing may be missing: no race detector or a skipped test is a failure
set -u
: "${GO:=go}" "${TAGS:=nomsgpack}"

# missing prints which programs are not here, which tests are left out for it, and how to get them.
missing() {
	[ -n "$RACE" ] || [ "$1" = long ] || echo "  no C compiler: the race detector is off (Debian: apt-get install gcc libc6-dev)"
	has chromium chromium-browser google-chrome google-chrome-stable "${CHROMIUM:-}" ||
		[ "$1" = long ] || echo "  no Chromium: pages are not tested in a browser (Debian: apt-get install chromium)"
	[ "$1" = long ] || return 0
	has java && has mvn || echo "  no Java or no Maven: nothing is compared with DynamoDB Local (Debian: apt-get install default-jre-headless maven)"
	has python3 || echo "  no Python: boto3 and the AWS CLI are not tested (Debian: apt-get install python3-venv)"
	has npm || echo "  no Node.js or no npm: the AWS SDK for JavaScript is not tested (Debian: apt-get install nodejs npm)"
}

# has reports whether one of the programs is on the PATH.
has() {
	for program in "$@"; do
		[ -z "$program" ] || ! command -v "$program" >/dev/null 2>&1 || return 0
	done
	return 1
}

# race prints -race where the race detector works. The probe builds what -race adds to a program, so it also
# finds a compiler without headers and a system that has no race detector.
race() {
	why=$(CGO_ENABLED=1 "$GO" build -race runtime/race runtime/cgo 2>&1) && { echo -race; return; }
	[ -z "${CI:-}" ] || { echo "no race detector: $why" >&2; return 1; }
}

# The packages with the longest tests come first, so that no core is idle in the end; more packages at a time than cores,
# since many tests wait for processes and servers; and less garbage collection than usual, for there is memory enough.
PACKAGES=${PACKAGES:-'./sync/replica/simulation ./sync/replica ./cmd/touchline ./edge/cricket/cricketapp ./store ./edge/cricket/... ./httpapi/... ./...'}
GOGC=${GOGC:-400}
export GOGC

# fast and long write the JSON events of go test.
fast() {
	if [ -n "$RACE" ]; then cgo=1; else cgo=0; fi
	# A program with the race detector sleeps for a second before it exits, for the sake of goroutines that still run.
	# Tests wait for theirs.
	CGO_ENABLED=$cgo GORACE=${GORACE:-atexit_sleep_ms=0} "$GO" test -json -short $RACE -shuffle=on -p 4 -timeout 30m -tags "$TAGS" $PACKAGES
}

# full lists the packages in which -short or the tag "long" changes something; rapid makes fewer checks with -short.
full() {
	echo ./edge/cricket/cricketapp ./edge/cricket ./sync/replica/simulation ./cmd/touchline ./internal/testrig/awsclients
	grep -rlE --include='*_test.go' '^//go:build .*long|testing\.Short\(\)|pgregory\.net/rapid' cmd edge httpapi internal migrations store sync |
		sed 's|^|./|; s|/[^/]*$||' | sort -u
}

long() {
	status=0
	"$GO" test -json -shuffle=on -p 3 -timeout 40m -tags "$TAGS,long" $(full) || status=1
	[ "$("$GO" env GOOS)" = linux ] || return $status
	simulated=$("$GO" run ./internal/tools/simdisk bin/simdisk) || return 1
	"$GO" test -json -shuffle=on -timeout 40m -tags "$TAGS,simdisk" $simulated -run '^TestSimulatedDisk' ./store/internal/crash || status=1
	return $status
}

# skipped judges the tests that did not run: where a person has no Chromium or no Java a test is skipped and says so;
# in CI it would look like one that passes.
skipped() {
	[ -n "${CI:-}" ] && [ "${TESTS_SKIPPED:-0}" -gt 0 ] || return 0
	echo "skipped tests (above) are failures in CI: let .ci/run install what they need" >&2
	return 1
}

case ${1:-} in
fast | long)
	RACE=$(race) || exit 1
	export GO TAGS RACE
	if [ "$1" = fast ]; then
		echo "Testing every package, the long loops cut short (whole: make test-all). On two cores this takes 5 minutes, 2 without the race"
		echo "detector, and some minutes more the first time, when everything is compiled."
	else
		echo "Testing every match, many seeds, fleets and other people's clients: 12 minutes on two cores."
	fi
	missing "$1"
	exec "$GO" tool -modfile=tools/go.mod gotestsum --format pkgname --format-hide-empty-pkg \
		--post-run-command '/bin/sh tools/test.sh skipped' --raw-command -- /bin/sh tools/test.sh "events-$1"
	;;
events-fast) fast ;;
events-long) long ;;
skipped) skipped ;;
*) echo "usage: test.sh fast | long" >&2; exit 2 ;;
esac
