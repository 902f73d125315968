"""boto3's resource: tables as objects, Python's own values, conditions as Key and Attr."""

from decimal import Decimal

import boto3.dynamodb.types
from boto3.dynamodb.conditions import Attr, Key

from harness import done, holds, refused, resource, same

db = resource()


def make():
    table = db.create_table(
        TableName="People", BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "team", "KeyType": "HASH"}, {"AttributeName": "name", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": t} for n, t in [("team", "S"), ("name", "S"), ("age", "N")]],
        GlobalSecondaryIndexes=[{"IndexName": "byAge", "Projection": {"ProjectionType": "ALL"}, "KeySchema": [
            {"AttributeName": "team", "KeyType": "HASH"}, {"AttributeName": "age", "KeyType": "RANGE"}]}])
    table.wait_until_exists()
    table.load()
    same("the state", table.table_status, "ACTIVE")
    same("the keys", [k["AttributeName"] for k in table.key_schema], ["team", "name"])
    same("all tables", [t.name for t in db.tables.all()], ["People"])
    return table


def values(table):
    person = {"team": "red", "name": "ann", "age": Decimal("12345678901234567890.123456789012345678"), "ok": True, "no": None,
              "langs": {"go", "py"}, "nums": {Decimal(1), Decimal("2.5")}, "raw": boto3.dynamodb.types.Binary(b"\x00\x01"),
              "deep": {"list": [Decimal(1), "two", [False], {}], "text": ""}}
    table.put_item(Item=person)
    same("what comes back", table.get_item(Key={"team": "red", "name": "ann"}, ConsistentRead=True)["Item"], person)
    got = table.update_item(
        Key={"team": "red", "name": "ann"}, UpdateExpression="SET #a = :a, deep.#l[1] = :t ADD langs :l",
        ConditionExpression=Attr("ok").eq(True) & Attr("deep.list").exists() & ~Attr("langs").contains("c"),
        ExpressionAttributeNames={"#a": "age", "#l": "list"},
        ExpressionAttributeValues={":a": 30, ":t": "zwei", ":l": {"c"}}, ReturnValues="ALL_NEW")["Attributes"]
    same("an update", (got["age"], got["deep"]["list"][1], got["langs"]), (Decimal(30), "zwei", {"go", "py", "c"}))
    refused("a condition", "ConditionalCheckFailedException", lambda: table.delete_item(
        Key={"team": "red", "name": "ann"}, ConditionExpression=Attr("age").lt(30) | Attr("name").begins_with("b")))
    try:
        table.put_item(Item=person, ConditionExpression=Attr("team").not_exists())
        holds("an exception of the resource's client", False)
    except db.meta.client.exceptions.ConditionalCheckFailedException as error:
        same("an exception of the resource's client", error.response["Error"]["Code"], "ConditionalCheckFailedException")


def reads(table):
    with table.batch_writer(overwrite_by_pkeys=["team", "name"]) as batch:
        for n in range(120):
            batch.put_item(Item={"team": "blue", "name": f"n{n:03}", "age": n % 60, "tags": [f"t{n % 3}"]})
        batch.put_item(Item={"team": "blue", "name": "n000", "age": 0, "tags": ["again"]})
        batch.delete_item(Key={"team": "blue", "name": "n119"})
    got = table.query(KeyConditionExpression=Key("team").eq("blue") & Key("name").between("n000", "n003"),
                      ProjectionExpression="#n, tags", ExpressionAttributeNames={"#n": "name"})
    same("a query", got["Items"], [{"name": "n000", "tags": ["again"]}, {"name": "n001", "tags": ["t1"]},
                                   {"name": "n002", "tags": ["t2"]}, {"name": "n003", "tags": ["t0"]}])
    got = table.query(IndexName="byAge", KeyConditionExpression=Key("team").eq("blue") & Key("age").gte(58),
                      FilterExpression=Attr("tags").contains("t2"), ScanIndexForward=False)
    same("an index and a filter", sorted(i["name"] for i in got["Items"]), ["n059"])
    got = table.query(KeyConditionExpression=Key("team").eq("blue"), FilterExpression=Attr("age").is_in([7, 8]), Select="COUNT")
    same("counts", (got["Count"], got["ScannedCount"]), (4, 119))
    found, more = [], {}
    while True:
        page = table.scan(FilterExpression=Attr("age").attribute_type("N") & Attr("tags").size().eq(1), Limit=50, **more)
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            break
        more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    same("a scan", len(found), 119)
    got = db.batch_get_item(RequestItems={"People": {"Keys": [{"team": "blue", "name": f"n{n:03}"} for n in range(3)]}})
    same("a batch of reads", sorted(i["name"] for i in got["Responses"]["People"]), ["n000", "n001", "n002"])


def streamed(table):
    """Bodies as people give them: bytes, bytearray, a wrapper."""
    for n, body in enumerate([b"abc", bytearray(b"abc"), boto3.dynamodb.types.Binary(b"abc")]):
        table.put_item(Item={"team": "raw", "name": str(n), "b": body})
    got = table.query(KeyConditionExpression=Key("team").eq("raw"))["Items"]
    same("bytes", [i["b"].value for i in got], [b"abc"] * 3)


def main():
    table = make()
    values(table)
    reads(table)
    streamed(table)
    table.delete()
    table.wait_until_not_exists()
    same("no tables", list(db.tables.all()), [])


main()
done("documents")
