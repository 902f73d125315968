"""Consumed capacity and item collection metrics, as the guide counts them: 1 KB a write unit, 4 KB a read unit."""

from harness import LOCAL, client, done, same

c = client()


def table():
    c.create_table(
        TableName="Units", BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "sk", "g", "l")],
        GlobalSecondaryIndexes=[{"IndexName": "gsi", "Projection": {"ProjectionType": "ALL"},
                                 "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}],
        LocalSecondaryIndexes=[{"IndexName": "lsi", "Projection": {"ProjectionType": "KEYS_ONLY"},
                                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"},
                                              {"AttributeName": "l", "KeyType": "RANGE"}]}])
    c.get_waiter("table_exists").wait(TableName="Units", WaiterConfig={"Delay": 1, "MaxAttempts": 30})


def key(sk, pk="p"):
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def writes():
    def put(item, kind="TOTAL"):
        return c.put_item(TableName="Units", Item=item, ReturnConsumedCapacity=kind)["ConsumedCapacity"]
    same("a small put", put(key("a")), {"TableName": "Units", "CapacityUnits": 1.0})
    same("a put of 2 KB and a bit", put({**key("b"), "x": {"S": "x" * 2048}}), {"TableName": "Units", "CapacityUnits": 3.0})
    same("a put with indexes", put({**key("c"), "g": {"S": "g"}, "l": {"S": "l"}}, "INDEXES"), {
        "TableName": "Units", "CapacityUnits": 3.0, "Table": {"CapacityUnits": 1.0},
        "GlobalSecondaryIndexes": {"gsi": {"CapacityUnits": 1.0}}, "LocalSecondaryIndexes": {"lsi": {"CapacityUnits": 1.0}}})
    same("TOTAL has all of it", put({**key("d"), "g": {"S": "g"}}), {"TableName": "Units", "CapacityUnits": 2.0})
    same("a delete counts what was there", c.delete_item(TableName="Units", Key=key("b"), ReturnConsumedCapacity="TOTAL")
         ["ConsumedCapacity"]["CapacityUnits"], 3.0)
    got = c.transact_write_items(TransactItems=[{"Put": {"TableName": "Units", "Item": key("t")}}],
                                 ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
    same("a transaction costs twice", [(x["TableName"], x["CapacityUnits"]) for x in got], [("Units", 2.0)])
    got = c.batch_write_item(ReturnConsumedCapacity="TOTAL", RequestItems={
        "Units": [{"PutRequest": {"Item": key(str(n))}} for n in range(3)]})["ConsumedCapacity"]
    same("a batch", [(x["TableName"], x["CapacityUnits"]) for x in got], [("Units", 3.0)])


def reads():
    c.put_item(TableName="Units", Item={**key("large"), "x": {"S": "x" * 5000}})

    def get(sk, **more):
        return c.get_item(TableName="Units", Key=key(sk), ReturnConsumedCapacity="TOTAL", **more)["ConsumedCapacity"]["CapacityUnits"]
    same("a get", get("a"), 0.5)
    same("a consistent get", get("a", ConsistentRead=True), 1.0)
    same("a get of 5 KB", get("large"), 1.0)
    same("a consistent get of 5 KB", get("large", ConsistentRead=True), 2.0)
    same("a get of nothing", get("none"), 0.5)
    got = c.query(TableName="Units", KeyConditionExpression="pk = :p AND sk BETWEEN :a AND :d", ConsistentRead=True,
                  ExpressionAttributeValues={":p": {"S": "p"}, ":a": {"S": "a"}, ":d": {"S": "d"}},
                  ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    same("a query adds its items up", got, {"TableName": "Units", "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}})
    got = c.query(TableName="Units", IndexName="gsi", KeyConditionExpression="g = :g",
                  ExpressionAttributeValues={":g": {"S": "g"}}, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    same("a query of an index", got, {"TableName": "Units", "CapacityUnits": 0.5, "Table": {"CapacityUnits": 0.0},
                                      "GlobalSecondaryIndexes": {"gsi": {"CapacityUnits": 0.5}}})
    got = c.batch_get_item(RequestItems={"Units": {"Keys": [key("a"), key("c"), key("none")]}},
                           ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
    same("a batch counts each", [x["CapacityUnits"] for x in got], [1.5], local=[1.0])
    got = c.transact_get_items(TransactItems=[{"Get": {"TableName": "Units", "Key": key("a")}}],
                               ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
    same("a transaction of reads", [x["CapacityUnits"] for x in got], [2.0])
    same("nothing if not asked", "ConsumedCapacity" in c.get_item(TableName="Units", Key=key("a")), False)


def collections():
    if LOCAL:
        return  # it has no metrics
    got = c.put_item(TableName="Units", Item=key("m"), ReturnItemCollectionMetrics="SIZE")["ItemCollectionMetrics"]
    same("the collection", got["ItemCollectionKey"], {"pk": {"S": "p"}})
    low, high = got["SizeEstimateRangeGB"]
    same("its size", (low, high), (0.0, 1.0))
    got = c.batch_write_item(RequestItems={"Units": [{"PutRequest": {"Item": key("m")}}]}, ReturnItemCollectionMetrics="SIZE")
    same("of a batch", [m["ItemCollectionKey"] for m in got["ItemCollectionMetrics"]["Units"]], [{"pk": {"S": "p"}}])


table()
writes()
reads()
collections()
done("capacity")
