# Shared by all scripts, which are for a POSIX shell. PYTHON runs the AWS CLI; AGAINST=local means that the endpoint is
# DynamoDB Local.
set -u
export AWS_PAGER= LC_ALL=C.UTF-8
: "${AGAINST:=ours}" "${KEEP_GOING:=}"
[ "$AGAINST" = local ] && export AWS_MAX_ATTEMPTS=5 AWS_RETRY_MODE=standard || export AWS_MAX_ATTEMPTS=1
passed=0 failed=0

aws() { "$PYTHON" -m awscli "$@"; }
d() { aws dynamodb "$@"; }

# note counts a check; the first failure ends the script.
note() { # OK WHAT GOT WANT
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
		return
	fi
	printf '%s\n got  %s\n want %s\n' "$2" "$3" "$4" >&2
	failed=$((failed + 1))
	[ -n "$KEEP_GOING" ] || exit 1
}

# same compares values; JSON must not have blanks outside of strings.
same() { # WHAT GOT WANT
	[ "$2" = "$3" ]
	note $? "$1" "$2" "$3"
}

# compact removes the blanks from JSON.
compact() { "$PYTHON" -c 'import json, sys
text = sys.stdin.read()
print(json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False, sort_keys=True) if text.strip() else "")'; }

# refused expects an error, in the CLI's words.
refused() { # WHAT WORDS COMMAND...
	what=$1 words=$2
	shift 2
	got=$("$@" 2>&1 >/dev/null)
	status=$?
	same "$what: exit code" "$status" 255
	case $got in
	*"$words"*) note 0 ;;
	*) note 1 "$what" "$got" "$words" ;;
	esac
}

# until_same repeats a command until the result is as expected.
until_same() { # WHAT WANT COMMAND...
	what=$1 want=$2
	shift 2
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		got=$("$@")
		[ "$got" = "$want" ] && break
	done
	same "$what" "$got" "$want"
}

# local_or prints the answer of DynamoDB Local if it differs from DynamoDB's documentation.
local_or() { [ "$AGAINST" = local ] && echo "$1" || echo "$2"; }

finish() {
	echo "$1: $passed checks passed"
	[ "$failed" = 0 ] || exit 1
	exit 0
}
