"""Query and Scan: keys, filters, projections, order, pages, indexes, segments."""

from concurrent.futures import ThreadPoolExecutor

from harness import client, done, holds, refused, same, simple_table

c, unchecked = client(), client(parameter_validation=False)
INDEXES = {
    "GlobalSecondaryIndexes": [{
        "IndexName": "byKind", "Projection": {"ProjectionType": "KEYS_ONLY"},
        "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}]}],
    "LocalSecondaryIndexes": [{
        "IndexName": "byTime", "Projection": {"ProjectionType": "ALL"},
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}]}],
}


def fill():
    c.create_table(
        TableName="Events", BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": t}
                              for n, t in [("pk", "S"), ("sk", "S"), ("kind", "S"), ("at", "N")]], **INDEXES)
    c.get_waiter("table_exists").wait(TableName="Events", WaiterConfig={"Delay": 1, "MaxAttempts": 30})
    for n in range(100):
        item = {"pk": {"S": f"p{n % 4}"}, "sk": {"S": f"{'even' if n % 2 == 0 else 'odd'}#{n:03}"},
                "at": {"N": str(1000 - n)}, "n": {"N": str(n)}}
        if n % 5 == 0:
            item["kind"] = {"S": "fifth"}
        c.put_item(TableName="Events", Item=item)


def query(condition, values, **more):
    given = {":" + name: {"N": str(v)} if isinstance(v, int) else {"S": v} for name, v in values.items()}
    return c.query(TableName="Events", KeyConditionExpression=condition, ExpressionAttributeValues=given, **more)


def numbers(answer):
    return [int(i["n"]["N"]) for i in answer["Items"]]


def keys():
    for condition, values, want in [
            ("pk = :p AND sk = :s", {"p": "p0", "s": "even#004"}, [4]),
            ("pk = :p AND sk < :s", {"p": "p0", "s": "even#012"}, [0, 4, 8]),
            ("pk = :p AND sk <= :s", {"p": "p0", "s": "even#012"}, [0, 4, 8, 12]),
            ("pk = :p AND sk > :s", {"p": "p0", "s": "even#088"}, [92, 96]),
            ("pk = :p AND sk >= :s", {"p": "p0", "s": "even#088"}, [88, 92, 96]),
            ("pk = :p AND sk BETWEEN :s AND :t", {"p": "p1", "s": "odd#010", "t": "odd#021"}, [13, 17, 21]),
            ("pk = :p AND begins_with(sk, :s)", {"p": "p1", "s": "odd#00"}, [1, 5, 9]),
            ("pk = :p AND begins_with(sk, :s)", {"p": "p1", "s": "even"}, [])]:
        got = query(condition, values)
        same(condition, numbers(got), want)
        same(condition + ": Count", (got["Count"], got["ScannedCount"]), (len(want), len(want)))
    got = query("pk = :p", {"p": "p0"}, ScanIndexForward=False, Limit=2)
    same("the last two", numbers(got), [96, 92])
    same("where to go on", got["LastEvaluatedKey"], {"pk": {"S": "p0"}, "sk": {"S": "even#092"}})
    got = query("pk = :p", {"p": "p0"}, ScanIndexForward=False, Limit=2, ExclusiveStartKey=got["LastEvaluatedKey"])
    same("the two before", numbers(got), [88, 84])
    got = query("pk = :p AND begins_with(sk, :s)", {"p": "p2", "s": "even#0", "min": 50, "max": 70},
                FilterExpression="n BETWEEN :min AND :max", ProjectionExpression="n")
    same("a filter", got["Items"], [{"n": {"N": str(n)}} for n in (50, 54, 58, 62, 66, 70)])
    same("a filter's counts", (got["Count"], got["ScannedCount"]), (6, 25))
    got = query("pk = :p", {"p": "p2"}, Select="COUNT")
    same("COUNT", (got["Count"], got["ScannedCount"], "Items" in got), (25, 25, False))


def refusals():
    refused("a filter on a key", "ValidationException", lambda: query(
        "pk = :p", {"p": "p0", "s": "x"}, FilterExpression="sk = :s"),
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk")
    refused("no partition key", "ValidationException", lambda: query("sk = :s", {"s": "x"}),
            "Query condition missed key schema element: pk",
            local="Query condition missed key schema element")
    refused("a wrong comparison", "ValidationException", lambda: query("pk > :p", {"p": "x"}),
            "Query key condition not supported")
    refused("a consistent read of a global index", "ValidationException", lambda: query(
        "kind = :k", {"k": "fifth"}, IndexName="byKind", ConsistentRead=True),
        "Consistent reads are not supported on global secondary indexes")
    refused("Limit of 0", "ValidationException", lambda: unchecked.scan(TableName="Events", Limit=0),
            "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1",
            local="Limit must be greater than or equal to 1")


def indexes():
    got = query("kind = :k AND #at > :at", {"k": "fifth", "at": 980}, IndexName="byKind",
                ExpressionAttributeNames={"#at": "at"})
    same("a global index", got["Items"], [
        {"kind": {"S": "fifth"}, "at": {"N": str(1000 - n)}, "pk": {"S": f"p{n % 4}"},
         "sk": {"S": f"{'even' if n % 2 == 0 else 'odd'}#{n:03}"}} for n in (15, 10, 5, 0)])
    got = query("pk = :p AND #at < :at", {"p": "p3", "at": 910}, IndexName="byTime", ConsistentRead=True,
                ExpressionAttributeNames={"#at": "at"})
    same("a local index", numbers(got), [99, 95, 91])
    got = query("kind = :k", {"k": "fifth"}, IndexName="byKind", Limit=1)
    same("a page of an index", got["LastEvaluatedKey"],
         {"kind": {"S": "fifth"}, "at": {"N": "905"}, "pk": {"S": "p3"}, "sk": {"S": "odd#095"}})
    got = c.scan(TableName="Events", IndexName="byKind")
    same("a sparse index", got["Count"], 20)


def pages():
    paginator = c.get_paginator("query")
    all_pages = list(paginator.paginate(
        TableName="Events", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "p1"}},
        PaginationConfig={"PageSize": 10}))
    same("pages of a query", [p["Count"] for p in all_pages], [10, 10, 5])
    same("what they hold", [n for p in all_pages for n in numbers(p)], list(range(1, 100, 4)))
    found = paginator.paginate(
        TableName="Events", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "p1"}},
        PaginationConfig={"PageSize": 4, "MaxItems": 7}).build_full_result()
    same("the first seven", [int(i["n"]["N"]) for i in found["Items"]], [1, 5, 9, 13, 17, 21, 25])
    scanned = list(c.get_paginator("scan").paginate(TableName="Events", PaginationConfig={"PageSize": 30}))
    same("pages of a scan", [p["Count"] for p in scanned], [30, 30, 30, 10])
    same("what they hold, in any order", sorted(n for p in scanned for n in numbers(p)), list(range(100)))


def segments():
    def segment(n):
        return [i for page in c.get_paginator("scan").paginate(
            TableName="Events", Segment=n, TotalSegments=4, FilterExpression="n < :n",
            ExpressionAttributeValues={":n": {"N": "90"}}) for i in numbers(page)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(segment, range(4)))
    same("a parallel scan", sorted(n for part in found for n in part), list(range(90)))
    refused("a segment that is not there", "ValidationException", lambda: c.scan(
        TableName="Events", Segment=4, TotalSegments=4),
        "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 4 is not less than "
        "TotalSegments: 4", local="1 validation error detected: Value '4' at 'segment' failed to satisfy constraint: "
        "Member must have value less than or equal to 3")


def large():
    simple_table(c, "Large")
    for n in range(12):
        c.put_item(TableName="Large", Item={"pk": {"S": "a"}, "sk": {"N": str(n)}, "b": {"B": bytes(200_000)}})
    answers = list(c.get_paginator("query").paginate(
        TableName="Large", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "a"}}))
    same("pages end at 1 MB", [p["Count"] for p in answers], [6, 6, 0] if answers[-1]["Count"] == 0 else [6, 6])
    holds("bytes come back whole", all(i["b"]["B"] == bytes(200_000) for p in answers for i in p["Items"]))


def main():
    fill()
    keys()
    refusals()
    indexes()
    pages()
    segments()
    large()


main()
done("queries")
