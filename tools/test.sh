#!/bin/sh
# Runs tests and ends with one summary of them. Called by "make test" and "make test-long".
#
#   test.sh fast   every package, with -short (small loops) and the race detector. It needs go, git and coreutils; a test
#                  that needs more is skipped if that is missing.
#   test.sh long   the long tests in full size (every match, many seeds, outside clients), without the race detector,
#                  which would make them take hours: the packages that -short or the build tag "long" changes, and on
#                  Linux the tests with the tag "simdisk", in a build whose files are on a simulated disk.
#
#   GO, TAGS   the go command and the build tags
#   PACKAGES   what "fast" tests; everything by default
#   CI         if set, a missing race detector or a skipped test is a failure
set -u
: "${GO:=go}" "${TAGS:=nomsgpack}"

# missing prints the programs that are not installed, the tests skipped because of that, and how to install them.
missing() {
	[ -n "$RACE" ] || [ "$1" = long ] || echo "  no C compiler: the race detector is off (Debian: apt-get install gcc libc6-dev)"
	has chromium chromium-browser google-chrome google-chrome-stable "${CHROMIUM:-}" ||
		echo "  no Chromium: pages are not tested in a browser (Debian: apt-get install chromium)"
	has node || [ "$1" = long ] || echo "  no Node.js: the scripts of pages are not simulated (Debian: apt-get install nodejs)"
	[ "$1" = long ] || return 0
	has java && has mvn || echo "  no Java or no Maven: no comparison with DynamoDB Local (Debian: apt-get install default-jre-headless maven)"
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

# race prints -race if the race detector works. It builds what -race adds to a program, so it also detects a compiler
# without headers and a system without a race detector.
race() {
	why=$(CGO_ENABLED=1 "$GO" build -race runtime/race runtime/cgo 2>&1) && { echo -race; return; }
	[ -z "${CI:-}" ] || { echo "no race detector: $why" >&2; return 1; }
}

# The packages with the longest tests come first, so that no core is idle at the end. -p is above the number of cores,
# because many tests wait for processes and servers. GOGC=400 trades memory for less garbage collection.
PACKAGES=${PACKAGES:-'./sync/replica/simulation ./sync/replica ./cmd/touchline ./edge/cricket/cricketapp ./store ./edge/cricket/... ./httpapi/... ./...'}
GOGC=${GOGC:-400}
export GOGC

# fast and long write the JSON events of go test. -vet=off, because "make lint" runs vet with all its rules.
fast() {
	if [ -n "$RACE" ]; then cgo=1; else cgo=0; fi
	# Programs built with -race sleep for a second before they exit, to catch races in goroutines that still run. Our tests
	# wait for their goroutines, so they skip that second.
	CGO_ENABLED=$cgo GORACE=${GORACE:-atexit_sleep_ms=0} "$GO" test -json -short $RACE -vet=off -shuffle=on -p 4 -timeout 30m -tags "$TAGS" $PACKAGES
}

# full lists the packages in which -short or the tag "long" changes something, those that take longest first.
full() {
	echo ./edge/cricket/cricketapp ./edge/cricket ./sync/replica/simulation ./cmd/touchline ./internal/testrig/awsclients
	grep -rlE --include='*_test.go' '^//go:build .*long|testing\.Short\(\)' cmd edge httpapi internal migrations store sync |
		sed 's|^|./|; s|/[^/]*$||' | sort -u
}

long() {
	status=0
	"$GO" test -json -vet=off -shuffle=on -p 4 -timeout 40m -tags "$TAGS,long" $(full) || status=1
	[ "$("$GO" env GOOS)" = linux ] || return $status
	simulated=$("$GO" run ./internal/tools/simdisk bin/simdisk) || return 1
	"$GO" test -json -vet=off -shuffle=on -timeout 40m -tags "$TAGS,simdisk" $simulated -run '^TestSimulatedDisk' ./store/internal/crash || status=1
	return $status
}

# skipped fails in CI if any test was skipped. Elsewhere a skip for lack of Chromium or Java is fine and says so; in CI it
# would look like a pass.
skipped() {
	[ -n "${CI:-}" ] && [ "${TESTS_SKIPPED:-0}" -gt 0 ] || return 0
	echo "In CI skipped tests (above) are failures: install what they need in .ci/run." >&2
	return 1
}

case ${1:-} in
fast | long)
	RACE=$(race) || exit 1
	export GO TAGS RACE
	if [ "$1" = fast ]; then
		echo "Testing every package, with long loops shortened (in full: make test-all). This takes 6 to 12 minutes on two cores, less without the"
		echo "race detector, and some minutes more the first time, when everything is compiled."
	else
		echo "Running the long tests: every recorded match, many seeds, fleets, other DynamoDB clients. This takes 15 to 20 minutes on two cores."
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
