#!/bin/sh
# Runs every test of the project and ends with one summary of them all. Called by "make test".
#
# Tests run with the race detector. Those in files with the build tag "long" (whole matches, many seeds, outside
# clients) run in a second go without it: there it would cost minutes and find nothing that the first did not. Those
# with the tag "simdisk" run in a third, in a build whose files lie on a simulated disk; that is for Linux alone.
#
#   GO, TAGS   the go command, the build tags
#   CI         if set, nothing may be missing: no race detector or a skipped test is a failure
set -u
: "${GO:=go}" "${TAGS:=nomsgpack}"

# race prints -race where the race detector can be had. The probe builds what -race adds to a program, so it also
# finds a compiler without headers and a system that has no race detector.
race() {
	why=$(CGO_ENABLED=1 "$GO" build -race runtime/race runtime/cgo 2>&1) && { echo -race; return; }
	echo "the race detector is off: it needs a C compiler (Debian: apt-get install gcc libc6-dev)" >&2
	echo "$why" >&2
	[ -z "${CI:-}" ]
}

# events writes go test's JSON events of all runs.
events() {
	status=0
	if [ -n "$RACE" ]; then cgo=1; else cgo=0; fi
	CGO_ENABLED=$cgo "$GO" test -json $RACE -shuffle=on -timeout 20m -tags "$TAGS" ./... || status=1

	tagged long || status=1
	[ "$("$GO" env GOOS)" = linux ] || return $status
	simulated=$("$GO" run ./internal/tools/simdisk bin/simdisk) || return 1
	tagged simdisk $simulated || status=1
	return $status
}

# tagged runs the tests in files with a build tag, with more flags if there are any.
tagged() {
	tag=$1
	shift
	files=$(grep -rlE --include='*_test.go' "^//go:build (.*[^a-z!])?$tag([^a-z]|\$)" . 2>/dev/null)
	[ -n "$files" ] || return 0
	names=$(sed -nE 's/^func ((Test|Example)[A-Za-z0-9_]*)\(.*/\1/p' $files | sort -u | paste -s -d '|' -)
	dirs=$(for f in $files; do dirname "$f"; done | sort -u)
	"$GO" test -json -shuffle=on -timeout 30m -tags "$TAGS,$tag" "$@" -run "^($names)\$" $dirs
}

# skipped judges the tests that did not run: where a person has no Chromium or no Java a test is skipped and says so;
# in CI it would look like one that passes.
skipped() {
	[ -n "${CI:-}" ] && [ "${TESTS_SKIPPED:-0}" -gt 0 ] || return 0
	echo "skipped tests (above) are failures in CI: let .ci/run install what they need" >&2
	return 1
}

case ${1:-} in
events) events ;;
skipped) skipped ;;
*)
	RACE=$(race) || exit 1
	export GO TAGS RACE
	exec "$GO" tool -modfile=tools/go.mod gotestsum --format pkgname --format-hide-empty-pkg \
		--post-run-command 'sh tools/test.sh skipped' --raw-command -- sh tools/test.sh events
	;;
esac
