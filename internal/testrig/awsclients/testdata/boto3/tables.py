"""Tables: their life, their indexes, their settings."""

import datetime
import re

from harness import LOCAL, bare, client, done, holds, refused, same, until

c = client()
QUICK = {"Delay": 1, "MaxAttempts": 30}
KEYS = [{"AttributeName": "artist", "KeyType": "HASH"}, {"AttributeName": "song", "KeyType": "RANGE"}]


def create():
    made = c.create_table(
        TableName="Music", KeySchema=KEYS,
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": t}
                              for n, t in [("artist", "S"), ("song", "S"), ("year", "N"), ("label", "S")]],
        ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
        LocalSecondaryIndexes=[{
            "IndexName": "byYear", "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["label"]},
            "KeySchema": [KEYS[0], {"AttributeName": "year", "KeyType": "RANGE"}]}],
        GlobalSecondaryIndexes=[{
            "IndexName": "byLabel", "Projection": {"ProjectionType": "KEYS_ONLY"},
            "KeySchema": [{"AttributeName": "label", "KeyType": "HASH"}],
            "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2}}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        Tags=[{"Key": "owner", "Value": "tests"}])["TableDescription"]
    same("the name of a new table", made["TableName"], "Music")
    holds("the state of a new table", made["TableStatus"] in ("CREATING", "ACTIVE"), made["TableStatus"])
    c.get_waiter("table_exists").wait(TableName="Music", WaiterConfig=QUICK)
    refused("a table that is there", "ResourceInUseException", lambda: c.create_table(
        TableName="Music", KeySchema=KEYS[:1], BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "artist", "AttributeType": "S"}]),
        "Table already exists: Music", local="Cannot create preexisting table")


def describe():
    table = c.describe_table(TableName="Music")["Table"]
    same("TableStatus", table["TableStatus"], "ACTIVE")
    same("KeySchema", table["KeySchema"], KEYS)
    same("AttributeDefinitions", sorted((a["AttributeName"], a["AttributeType"]) for a in table["AttributeDefinitions"]),
         [("artist", "S"), ("label", "S"), ("song", "S"), ("year", "N")])
    same("ItemCount", table["ItemCount"], 0)
    same("TableSizeBytes", table["TableSizeBytes"], 0)
    holds("CreationDateTime is of today", abs(datetime.datetime.now(datetime.timezone.utc) - table["CreationDateTime"])
          < datetime.timedelta(hours=1), table["CreationDateTime"])
    holds("TableArn", re.fullmatch(r"arn:aws:dynamodb:[a-z0-9-]+:\d{12}:table/Music", table["TableArn"]), table["TableArn"])
    same("ReadCapacityUnits", table["ProvisionedThroughput"]["ReadCapacityUnits"], 5)
    same("WriteCapacityUnits", table["ProvisionedThroughput"]["WriteCapacityUnits"], 6)
    same("NumberOfDecreasesToday", table["ProvisionedThroughput"]["NumberOfDecreasesToday"], 0)
    local, = table["LocalSecondaryIndexes"]
    same("the local index", (local["IndexName"], local["Projection"], local["KeySchema"][1]["AttributeName"]),
         ("byYear", {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["label"]}, "year"))
    index, = table["GlobalSecondaryIndexes"]
    same("the global index", (index["IndexName"], index["Projection"], index["IndexStatus"]),
         ("byLabel", {"ProjectionType": "KEYS_ONLY"}, "ACTIVE"))
    same("the global index's capacity", index["ProvisionedThroughput"]["WriteCapacityUnits"], 2)
    holds("the index's ARN", index["IndexArn"] == table["TableArn"] + "/index/byLabel", index["IndexArn"])
    same("StreamSpecification", table["StreamSpecification"], {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    same("LatestStreamArn", table["LatestStreamArn"], f"{table['TableArn']}/stream/{table['LatestStreamLabel']}")
    refused("a table that is not there", "ResourceNotFoundException", lambda: c.describe_table(TableName="nothere"),
            "Requested resource not found: Table: nothere not found",
            local="Cannot do operations on a non-existent table")
    return table["TableArn"]


def listing():
    for n in range(7):
        c.create_table(TableName=f"list-{n}", BillingMode="PAY_PER_REQUEST", KeySchema=KEYS[:1],
                       AttributeDefinitions=[{"AttributeName": "artist", "AttributeType": "S"}])
    first = c.list_tables(Limit=3)
    same("a page of tables", bare(first), {"TableNames": ["Music", "list-0", "list-1"], "LastEvaluatedTableName": "list-1"})
    pages = list(c.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 3}))
    same("all pages", [p["TableNames"] for p in pages],
         [["Music", "list-0", "list-1"], ["list-2", "list-3", "list-4"], ["list-5", "list-6"]])
    for n in range(7):
        c.delete_table(TableName=f"list-{n}")
    for n in range(7):
        c.get_waiter("table_not_exists").wait(TableName=f"list-{n}", WaiterConfig=QUICK)
    same("the tables that are left", c.list_tables()["TableNames"], ["Music"])


def indexes():
    for n in range(30):
        c.put_item(TableName="Music", Item={"artist": {"S": "a"}, "song": {"S": f"s{n:02}"}, "genre": {"S": "g%d" % (n % 2)}})
    c.update_table(
        TableName="Music", AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("artist", "song", "genre")]
        + [{"AttributeName": "year", "AttributeType": "N"}, {"AttributeName": "label", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": {
            "IndexName": "byGenre", "Projection": {"ProjectionType": "ALL"},
            "KeySchema": [{"AttributeName": "genre", "KeyType": "HASH"}, {"AttributeName": "song", "KeyType": "RANGE"}],
            "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}}])
    until("an index that is built", lambda: states() == {"byLabel": "ACTIVE", "byGenre": "ACTIVE"})
    got = c.query(TableName="Music", IndexName="byGenre", KeyConditionExpression="genre = :g AND song < :s",
                  ExpressionAttributeValues={":g": {"S": "g1"}, ":s": {"S": "s08"}})
    same("what the new index has", [i["song"]["S"] for i in got["Items"]], ["s01", "s03", "s05", "s07"])
    c.update_table(TableName="Music", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "byGenre"}}])
    until("an index that is gone", lambda: states() == {"byLabel": "ACTIVE"})
    refused("an index that is gone", "ValidationException", lambda: c.query(
        TableName="Music", IndexName="byGenre", KeyConditionExpression="genre = :g",
        ExpressionAttributeValues={":g": {"S": "g1"}}), "The table does not have the specified index: byGenre")


def states():
    table = c.describe_table(TableName="Music")["Table"]
    if table["TableStatus"] != "ACTIVE":
        return None
    return {i["IndexName"]: i["IndexStatus"] for i in table["GlobalSecondaryIndexes"]}


def settings(arn):
    c.update_table(TableName="Music", BillingMode="PAY_PER_REQUEST")
    until("an active table", lambda: c.describe_table(TableName="Music")["Table"]["TableStatus"] == "ACTIVE")
    table = c.describe_table(TableName="Music")["Table"]
    same("BillingMode", table["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST")
    same("no provisioned reads", table["ProvisionedThroughput"]["ReadCapacityUnits"], 0)

    same("no time to live", c.describe_time_to_live(TableName="Music")["TimeToLiveDescription"],
         {"TimeToLiveStatus": "DISABLED"})
    spec = {"Enabled": True, "AttributeName": "expires"}
    same("TimeToLiveSpecification", c.update_time_to_live(TableName="Music", TimeToLiveSpecification=spec)
         ["TimeToLiveSpecification"], spec)
    ttl = c.describe_time_to_live(TableName="Music")["TimeToLiveDescription"]
    same("the attribute", ttl["AttributeName"], "expires")
    holds("the state", ttl["TimeToLiveStatus"] in ("ENABLING", "ENABLED"), ttl)
    refused("time to live twice", "ValidationException", lambda: c.update_time_to_live(
        TableName="Music", TimeToLiveSpecification=spec), "TimeToLive is already enabled")

    if LOCAL:
        return  # it has no tags
    same("tags of CreateTable", tags(arn), {"owner": "tests"})
    c.tag_resource(ResourceArn=arn, Tags=[{"Key": "stage", "Value": "dev"}, {"Key": "owner", "Value": "me"}])
    same("tags", tags(arn), {"owner": "me", "stage": "dev"})
    c.untag_resource(ResourceArn=arn, TagKeys=["owner"])
    same("tags that are left", tags(arn), {"stage": "dev"})


def tags(arn):
    pages = c.get_paginator("list_tags_of_resource").paginate(ResourceArn=arn)
    return {t["Key"]: t["Value"] for page in pages for t in page["Tags"]}


def account():
    limits = c.describe_limits()
    holds("DescribeLimits", limits["AccountMaxReadCapacityUnits"] >= limits["TableMaxReadCapacityUnits"] > 0, limits)
    if LOCAL:
        return  # it does not know the operation
    endpoints = c.describe_endpoints()["Endpoints"]
    holds("DescribeEndpoints", endpoints and endpoints[0]["CachePeriodInMinutes"] > 0, endpoints)


def delete():
    gone = c.delete_table(TableName="Music")["TableDescription"]
    same("a table that goes", gone["TableName"], "Music")
    c.get_waiter("table_not_exists").wait(TableName="Music", WaiterConfig=QUICK)
    refused("a table that is gone", "ResourceNotFoundException", lambda: c.delete_table(TableName="Music"),
            "Requested resource not found: Table: Music not found", local="Cannot do operations on a non-existent table")
    refused("a bad name", "ValidationException", lambda: c.create_table(
        TableName="no", KeySchema=KEYS[:1], BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "artist", "AttributeType": "S"}]),
        "1 validation error detected: Value 'no' at 'tableName' failed to satisfy constraint: Member must have length greater than "
        "or equal to 3",
        local="Invalid table/index name.  Table/index names must be between 3 and 255 characters long, and may contain only "
        "the characters a-z, A-Z, 0-9, '_', '-', and '.'")


def main():
    create()
    arn = describe()
    listing()
    indexes()
    settings(arn)
    account()
    delete()


main()
done("tables")
