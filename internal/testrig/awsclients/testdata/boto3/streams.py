"""Streams, read to the end of every shard."""

import datetime

from harness import bare, client, done, holds, refused, same, simple_table

c, s = client(), client("dynamodbstreams")
KEY = {"pk": {"S": "k"}, "sk": {"N": "1"}}


def changes(table):
    c.put_item(TableName=table, Item={**KEY, "v": {"N": "1"}})
    c.put_item(TableName=table, Item={**KEY, "v": {"N": "1"}})  # changes nothing: no record
    c.update_item(TableName=table, Key=KEY, UpdateExpression="SET v = :v, b = :b",
                  ExpressionAttributeValues={":v": {"N": "2"}, ":b": {"B": b"\x00\x01"}})
    c.delete_item(TableName=table, Key=KEY)
    c.delete_item(TableName=table, Key=KEY)  # nothing is there: no record
    c.batch_write_item(RequestItems={table: [{"PutRequest": {"Item": {"pk": {"S": "batch"}, "sk": {"N": str(n)}}}}
                                             for n in range(5)]})
    c.transact_write_items(TransactItems=[{"Put": {"TableName": table, "Item": {"pk": {"S": "tx"}, "sk": {"N": "0"}}}}])


def shards(arn):
    found, start = [], {}
    while True:
        d = s.describe_stream(StreamArn=arn, **start)["StreamDescription"]
        found += d["Shards"]
        if "LastEvaluatedShardId" not in d:
            return found
        start = {"ExclusiveStartShardId": d["LastEvaluatedShardId"]}


def read(arn, kind="TRIM_HORIZON", limit=1000, **more):
    """Every record: of each shard until it is closed or has no more."""
    records = []
    for shard in shards(arn):
        it = s.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType=kind, **more)["ShardIterator"]
        while it:
            got = s.get_records(ShardIterator=it, Limit=limit)
            records += got["Records"]
            it = got.get("NextShardIterator") if got["Records"] else None
    return records


def both_images():
    arn = c.describe_table(TableName="NEW_AND_OLD_IMAGES")["Table"]["LatestStreamArn"]
    d = s.describe_stream(StreamArn=arn)["StreamDescription"]
    same("the stream", (d["StreamArn"], d["TableName"], d["StreamViewType"], d["StreamStatus"]),
         (arn, "NEW_AND_OLD_IMAGES", "NEW_AND_OLD_IMAGES", "ENABLED"))
    same("its keys", [k["AttributeName"] for k in d["KeySchema"]], ["pk", "sk"])
    holds("its shards", d["Shards"] and d["Shards"][0]["SequenceNumberRange"]["StartingSequenceNumber"].isdigit(), d["Shards"])
    records = read(arn)
    same("events", sorted(r["eventName"] for r in records), ["INSERT"] * 7 + ["MODIFY"] + ["REMOVE"])
    of_key = [r for r in records if r["dynamodb"]["Keys"] == KEY]
    same("events of one item, in order", [r["eventName"] for r in of_key], ["INSERT", "MODIFY", "REMOVE"])
    first, second = {**KEY, "v": {"N": "1"}}, {**KEY, "v": {"N": "2"}, "b": {"B": b"\x00\x01"}}
    same("their images", [(r["dynamodb"].get("OldImage"), r["dynamodb"].get("NewImage")) for r in of_key],
         [(None, first), (first, second), (second, None)])
    numbers = [int(r["dynamodb"]["SequenceNumber"]) for r in of_key]
    holds("sequence numbers ascend", numbers == sorted(set(numbers)), numbers)
    for r in records:
        same("eventSource", r["eventSource"], "aws:dynamodb")
        same("StreamViewType", r["dynamodb"]["StreamViewType"], "NEW_AND_OLD_IMAGES")
        holds("eventVersion", r["eventVersion"] in ("1.0", "1.1"), r["eventVersion"])
        holds("SizeBytes", r["dynamodb"]["SizeBytes"] > 0, r)
        age = datetime.datetime.now(datetime.timezone.utc) - r["dynamodb"]["ApproximateCreationDateTime"]
        holds("time", datetime.timedelta(seconds=-60) < age < datetime.timedelta(hours=1), age)
    same("event ids differ", len({r["eventID"] for r in records}), len(records))
    same("records by twos", [r["eventID"] for r in read(arn, limit=2)], [r["eventID"] for r in records])


def iterators():
    arn = c.describe_table(TableName="NEW_AND_OLD_IMAGES")["Table"]["LatestStreamArn"]
    records = read(arn)
    # The service decides which shard has a record; within a shard, sequence numbers say where to begin.
    if len(shards(arn)) == 1:
        at = {"SequenceNumber": records[2]["dynamodb"]["SequenceNumber"]}
        same("AT_SEQUENCE_NUMBER", ids(read(arn, "AT_SEQUENCE_NUMBER", **at)), ids(records[2:]))
        same("AFTER_SEQUENCE_NUMBER", ids(read(arn, "AFTER_SEQUENCE_NUMBER", **at)), ids(records[3:]))
    same("LATEST", read(arn, "LATEST"), [])
    open_shard = [x for x in shards(arn) if "EndingSequenceNumber" not in x["SequenceNumberRange"]][-1]
    latest = s.get_shard_iterator(StreamArn=arn, ShardId=open_shard["ShardId"], ShardIteratorType="LATEST")["ShardIterator"]
    got = s.get_records(ShardIterator=latest)
    c.put_item(TableName="NEW_AND_OLD_IMAGES", Item={"pk": {"S": "late"}, "sk": {"N": "1"}})
    same("what came after", [r["dynamodb"]["Keys"]["pk"]["S"] for r in s.get_records(ShardIterator=got["NextShardIterator"])["Records"]],
         ["late"])
    refused("a stream that is not there", "ResourceNotFoundException",
            lambda: s.describe_stream(StreamArn=arn[:-4] + "9999"))
    refused("an iterator that is none", "ValidationException", lambda: s.get_records(ShardIterator="x" * 20), )


def ids(records):
    return [r["eventID"] for r in records]


def other_views():
    for view, want in [
            ("KEYS_ONLY", [{"Keys"}, {"Keys"}, {"Keys"}]),
            ("NEW_IMAGE", [{"Keys", "NewImage"}, {"Keys", "NewImage"}, {"Keys"}]),
            ("OLD_IMAGE", [{"Keys"}, {"Keys", "OldImage"}, {"Keys", "OldImage"}])]:
        arn = c.describe_table(TableName=view)["Table"]["LatestStreamArn"]
        of_key = [r["dynamodb"] for r in read(arn) if r["dynamodb"]["Keys"] == KEY]
        same(view, [set(r) & {"Keys", "NewImage", "OldImage"} for r in of_key], want)
        same(view + ": StreamViewType", {r["StreamViewType"] for r in of_key}, {view})
        same(view + " is listed", [x["TableName"] for x in s.list_streams(TableName=view)["Streams"]], [view])
    listed = s.list_streams(Limit=3)
    same("a page of streams", len(listed["Streams"]), 3)
    rest = s.list_streams(ExclusiveStartStreamArn=listed["LastEvaluatedStreamArn"])
    same("all streams", sorted(x["TableName"] for x in listed["Streams"] + rest["Streams"]),
         ["KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE"])


def switched_off():
    arn = c.describe_table(TableName="KEYS_ONLY")["Table"]["LatestStreamArn"]
    before = ids(read(arn))
    c.update_table(TableName="KEYS_ONLY", StreamSpecification={"StreamEnabled": False})
    table = c.describe_table(TableName="KEYS_ONLY")["Table"]
    holds("the stream is off", not table.get("StreamSpecification", {}).get("StreamEnabled"), table.get("StreamSpecification"))
    c.put_item(TableName="KEYS_ONLY", Item={"pk": {"S": "unseen"}, "sk": {"N": "1"}})
    same("it can still be read", ids(read(arn)), before)
    holds("its shards are closed", all("EndingSequenceNumber" in x["SequenceNumberRange"] for x in shards(arn)), shards(arn))


def main():
    for view in ("NEW_AND_OLD_IMAGES", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE"):
        simple_table(c, view, StreamSpecification={"StreamEnabled": True, "StreamViewType": view})
        changes(view)
    both_images()
    iterators()
    other_views()
    switched_off()


main()
done("streams")
