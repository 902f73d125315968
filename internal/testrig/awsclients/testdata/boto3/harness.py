"""What all scripts share: checks that count, and clients that ask the endpoint of the test."""

import os
import sys
import time

import boto3
import botocore.exceptions
from botocore.config import Config

LOCAL = os.environ.get("AGAINST") == "local"  # DynamoDB Local, which is not DynamoDB everywhere
KEEP_GOING = os.environ.get("KEEP_GOING")  # for people who look at an endpoint: show all that differs
# No retries unless requested, so that failures are visible. DynamoDB Local sometimes fails while an index is
# created. The legacy mode verifies the checksums of answers.
RETRIES = {"mode": "legacy", "total_max_attempts": int(os.environ.get("ATTEMPTS", 5 if LOCAL else 1))}
UNSET = object()
passed = failed = 0


def client(service="dynamodb", **config):
    """A client for the endpoint that AWS_ENDPOINT_URL names."""
    config.setdefault("retries", RETRIES)
    return boto3.client(service, config=Config(**config))


def resource():
    return boto3.resource("dynamodb", config=Config(retries=RETRIES))


def note(ok, text):
    """Counts a check; the first that fails ends the script."""
    global passed, failed
    if ok:
        passed += 1
        return
    failed += 1
    print(text, file=sys.stderr)
    if not KEEP_GOING:
        sys.exit(1)


def same(what, got, want, local=UNSET):
    """Compares; local is what DynamoDB Local answers where it is not what DynamoDB's documentation says."""
    if LOCAL and local is not UNSET:
        want = local
    note(got == want and (type(got) is bool) == (type(want) is bool), f"{what}\n got  {got!r}\n want {want!r}")


def holds(what, ok, shown=None):
    """Notes what is a matter of yes or no."""
    note(ok, f"{what}: does not hold: {shown!r}")


def refused(what, kind, call, message=UNSET, local=UNSET):
    """Expects an error of a class of the client's, and gives its answer."""
    try:
        answer = call()
    except botocore.exceptions.ClientError as error:
        same(what + ": class", error.response["Error"]["Code"], kind)
        same(what + ": Python's class", type(error).__name__,
             kind if type(error) is not botocore.exceptions.ClientError else "ClientError")
        if message is not UNSET:
            same(what + ": message", error.response["Error"]["Message"], message, local)
        same(what + ": status", error.response["ResponseMetadata"]["HTTPStatusCode"], 400)
        return error.response
    note(False, f"{what}: want {kind}, got an answer: {answer!r}")
    return {}


def until(what, done, seconds=30):
    """Asks until it is so."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            sys.exit(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def bare(answer):
    """An answer without what boto3 adds."""
    return {name: value for name, value in answer.items() if name != "ResponseMetadata"}


def simple_table(c, name, **more):
    """Makes a table of pk (text) and sk (number) and waits for it."""
    c.create_table(
        TableName=name, BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"},
                              {"AttributeName": "sk", "AttributeType": "N"}], **more)
    c.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30})


def done(name):
    print(f"{name}: {passed} checks passed")
    sys.exit(1 if failed else 0)
