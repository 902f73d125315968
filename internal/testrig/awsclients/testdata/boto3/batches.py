"""Batches and transactions."""

import uuid

from harness import LOCAL, bare, client, done, holds, refused, same, simple_table

c = client()


def key(n, pk="p"):
    return {"pk": {"S": pk}, "sk": {"N": str(n)}}


def put(n, **attributes):
    return {"Put": {"TableName": "Work", "Item": {**key(n), **attributes}}}


def check(n, text, **more):
    return {"ConditionCheck": {"TableName": "Work", "Key": key(n), "ConditionExpression": text, **more}}


def write():
    requests = [{"PutRequest": {"Item": {**key(n), "n": {"N": str(n * n)}}}} for n in range(25)]
    same("a batch of writes", bare(c.batch_write_item(RequestItems={"Work": requests})), {"UnprocessedItems": {}})
    requests = [{"DeleteRequest": {"Key": key(24)}}, {"PutRequest": {"Item": key(25)}}]
    same("writes of both kinds", bare(c.batch_write_item(RequestItems={"Work": requests})), {"UnprocessedItems": {}})
    refused("the same key twice", "ValidationException", lambda: c.batch_write_item(RequestItems={
        "Work": [{"DeleteRequest": {"Key": key(1)}}, {"PutRequest": {"Item": key(1)}}]}),
        "Provided list of item keys contains duplicates")
    refused("26 writes", "ValidationException", lambda: c.batch_write_item(RequestItems={
        "Work": [{"DeleteRequest": {"Key": key(n)}} for n in range(26)]}))
    refused("a table that is not there", "ResourceNotFoundException", lambda: c.batch_write_item(RequestItems={
        "Work": [{"DeleteRequest": {"Key": key(1)}}], "nothere": [{"DeleteRequest": {"Key": key(1)}}]}),
        "Requested resource not found", local="Cannot do operations on a non-existent table")


def read():
    simple_table(c, "Other")
    c.put_item(TableName="Other", Item={**key(1, "o"), "x": {"S": "y"}})
    got = c.batch_get_item(RequestItems={
        "Work": {"Keys": [key(n) for n in range(22, 28)], "ProjectionExpression": "sk", "ConsistentRead": True},
        "Other": {"Keys": [key(1, "o"), key(2, "o")]}})
    same("what is there of one table", sorted(i["sk"]["N"] for i in got["Responses"]["Work"]), ["22", "23", "25"])
    same("and of the other", got["Responses"]["Other"], [{**key(1, "o"), "x": {"S": "y"}}])
    same("nothing is left", got["UnprocessedKeys"], {})
    refused("101 reads", "ValidationException", lambda: c.batch_get_item(RequestItems={
        "Work": {"Keys": [key(n) for n in range(101)]}}))
    refused("reads of the same key", "ValidationException", lambda: c.batch_get_item(RequestItems={
        "Work": {"Keys": [key(1), key(1)]}}), "Provided list of item keys contains duplicates")


def unprocessed():
    """An answer has at most 16 MB; the rest is to be asked for again."""
    for n in range(0, 50, 25):
        requests = [{"PutRequest": {"Item": {**key(m, "large"), "b": {"B": bytes(390_000)}}}} for m in range(n, n + 25)]
        same("large writes", c.batch_write_item(RequestItems={"Work": requests})["UnprocessedItems"], {})
    left, found, rounds = {"Work": {"Keys": [key(n, "large") for n in range(50)], "ProjectionExpression": "sk, b"}}, [], 0
    while left:
        got = c.batch_get_item(RequestItems=left)
        found += [int(i["sk"]["N"]) for i in got["Responses"].get("Work", [])]
        left, rounds = got["UnprocessedKeys"], rounds + 1
        if rounds == 1:
            holds("the first answer is not all", left and len(found) + len(left["Work"]["Keys"]) == 50, len(found))
            same("what is left is asked for as it was", left["Work"]["ProjectionExpression"], "sk, b")
        holds("there is an end", rounds < 10)
    same("all is found in the end", sorted(found), list(range(50)))
    for n in range(0, 50, 25):
        c.batch_write_item(RequestItems={"Work": [{"DeleteRequest": {"Key": key(m, "large")}} for m in range(n, n + 25)]})


def transact():
    same("a transaction", bare(c.transact_write_items(TransactItems=[
        put(100, v={"N": "1"}),
        {"Update": {"TableName": "Work", "Key": key(0), "UpdateExpression": "SET n = :n",
                    "ExpressionAttributeValues": {":n": {"N": "7"}}}},
        {"Delete": {"TableName": "Work", "Key": key(1)}},
        check(2, "attribute_exists(pk)")])), {})
    got = c.transact_get_items(TransactItems=[{"Get": {"TableName": "Work", "Key": key(n)}} for n in (100, 0, 1)])
    same("what it has done", got["Responses"],
         [{"Item": {**key(100), "v": {"N": "1"}}}, {"Item": {**key(0), "n": {"N": "7"}}}, {}])


def cancelled():
    error = refused("a transaction that fails", "TransactionCanceledException", lambda: c.transact_write_items(TransactItems=[
        put(101),
        check(2, "n = :n", ExpressionAttributeValues={":n": {"N": "0"}}, ReturnValuesOnConditionCheckFailure="ALL_OLD"),
        put(102),
        check(3, "attribute_not_exists(pk)")]),
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, ConditionalCheckFailed, None, ConditionalCheckFailed]")
    failed = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed" + "." * LOCAL}
    same("its reasons", error["CancellationReasons"],
         [{"Code": "None"}, {**failed, "Item": {**key(2), "n": {"N": "4"}}}, {"Code": "None"}, failed])
    same("nothing of it is done", bare(c.get_item(TableName="Work", Key=key(101))), {})
    if not LOCAL:  # it refuses the request as a whole
        broken()
    refused("a key twice", "ValidationException", lambda: c.transact_write_items(
        TransactItems=[put(5), check(5, "attribute_exists(pk)")]),
        "Transaction request cannot include multiple operations on one item")
    refused("101 actions", "ValidationException", lambda: c.transact_write_items(
        TransactItems=[put(n) for n in range(101)]))
    same("100 actions", bare(c.transact_write_items(TransactItems=[put(n + 1000) for n in range(100)])), {})


def broken():
    error = refused("an update that cannot be", "TransactionCanceledException", lambda: c.transact_write_items(
        TransactItems=[put(103), {"Update": {"TableName": "Work", "Key": key(2), "UpdateExpression": "SET n = nope + :s",
                                             "ExpressionAttributeValues": {":s": {"N": "1"}}}}]),
        "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ValidationError]")
    same("its reason", error["CancellationReasons"][1], {
        "Code": "ValidationError", "Message": "The provided expression refers to an attribute that does not exist in the item"})


def tokens():
    token = str(uuid.uuid4())
    add = {"Update": {"TableName": "Work", "Key": key(100), "UpdateExpression": "ADD v :one",
                      "ExpressionAttributeValues": {":one": {"N": "1"}}}}
    for _ in range(3):
        c.transact_write_items(TransactItems=[add], ClientRequestToken=token)
    same("three times is once", c.get_item(TableName="Work", Key=key(100))["Item"]["v"], {"N": "2"})
    refused("another transaction with the token", "IdempotentParameterMismatchException", lambda: c.transact_write_items(
        TransactItems=[put(104)], ClientRequestToken=token))
    refused("a token that is too long", "ValidationException", lambda: c.transact_write_items(
        TransactItems=[add], ClientRequestToken="x" * 37))


def main():
    simple_table(c, "Work")
    write()
    read()
    unprocessed()
    transact()
    cancelled()
    tokens()


main()
done("batches")
