"""The legacy parameters, which boto3 and the CLI still take."""

from harness import LOCAL, bare, client, done, refused, same, simple_table

c = client()
KEY = {"pk": {"S": "k"}, "sk": {"N": "1"}}


def values(*of):
    return [{"N": str(v)} if isinstance(v, int) else {"S": v} for v in of]


def compare(operator, *of):
    return {"ComparisonOperator": operator, "AttributeValueList": values(*of)}


def expected():
    def put(v, **more):
        return bare(c.put_item(TableName="Legacy", Item={**KEY, "v": {"N": str(v)}, "t": {"S": "text"}}, **more))
    same("a key that is free", put(1, Expected={"pk": {"Exists": False}}), {})
    message = "The conditional request failed"
    refused("a key that is taken", "ConditionalCheckFailedException",
            lambda: put(2, Expected={"pk": {"Exists": False}}), message)
    same("a value", put(2, Expected={"v": {"Value": {"N": "1"}}}), {})
    same("a comparison", put(3, Expected={"v": compare("LT", 5), "t": compare("BEGINS_WITH", "te")}), {})
    refused("both must hold", "ConditionalCheckFailedException",
            lambda: put(4, Expected={"v": compare("LT", 5), "t": compare("EQ", "x")}), message)
    same("one is enough", put(5, ConditionalOperator="OR", Expected={"v": compare("LT", 5), "t": compare("EQ", "x")}), {})
    for condition in [compare("BETWEEN", 1, 9), compare("IN", 4, 5), compare("NE", 6), {"ComparisonOperator": "NOT_NULL"}]:
        same(condition["ComparisonOperator"], put(5, Expected={"v": condition}), {})
    same("NULL", put(5, Expected={"nothing": {"ComparisonOperator": "NULL"}}), {})
    same("CONTAINS", put(5, Expected={"t": compare("CONTAINS", "ex")}), {})
    same("a delete", bare(c.delete_item(TableName="Legacy", Key=KEY, Expected={"v": {"Value": {"N": "5"}}},
                                        ReturnValues="ALL_OLD"))["Attributes"]["v"], {"N": "5"})
    refused("both kinds at once", "ValidationException", lambda: put(
        6, Expected={"pk": {"Exists": False}}, ConditionExpression="attribute_not_exists(pk)"),
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}")


def updates():
    c.put_item(TableName="Legacy", Item={**KEY, "n": {"N": "1"}, "s": {"SS": ["a", "b"]}, "x": {"S": "x"},
                                         "l": {"L": [{"N": "1"}]}})
    all_kinds = {
        "n": {"Action": "ADD", "Value": {"N": "4"}}, "s": {"Action": "DELETE", "Value": {"SS": ["a"]}},
        "x": {"Action": "DELETE"}, "y": {"Value": {"S": "put"}}, "z": {"Action": "PUT", "Value": {"BOOL": True}},
        "l": {"Action": "ADD", "Value": {"L": [{"N": "2"}]}}}
    # DynamoDB Local loses some of them if they are combined, and does not know that PUT is the default.
    one_by_one = [{name: {"Action": "PUT", **update}} for name, update in all_kinds.items()]
    for part in one_by_one if LOCAL else [all_kinds]:
        new = c.update_item(TableName="Legacy", Key=KEY, ReturnValues="ALL_NEW", AttributeUpdates=part)["Attributes"]
    same("AttributeUpdates", new, {**KEY, "n": {"N": "5"}, "s": {"SS": ["b"]}, "y": {"S": "put"}, "z": {"BOOL": True},
                                   "l": {"L": [{"N": "1"}, {"N": "2"}]}})
    same("AttributesToGet", c.get_item(TableName="Legacy", Key=KEY, AttributesToGet=["n", "y", "none"])["Item"],
         {"n": {"N": "5"}, "y": {"S": "put"}})
    refused("a condition with it", "ConditionalCheckFailedException", lambda: c.update_item(
        TableName="Legacy", Key=KEY, AttributeUpdates={"n": {"Action": "ADD", "Value": {"N": "4"}}},
        Expected={"n": compare("GT", 5)}))


def reads():
    for n in range(2, 12):
        c.put_item(TableName="Legacy", Item={"pk": {"S": "k"}, "sk": {"N": str(n)}, "even": {"BOOL": n % 2 == 0},
                                             "n": {"N": str(n)}})

    def query(conditions, **more):
        got = c.query(TableName="Legacy", KeyConditions={"pk": compare("EQ", "k"), **conditions}, **more)
        return [int(i["sk"]["N"]) for i in got["Items"]]
    same("KeyConditions", query({"sk": compare("BETWEEN", 3, 5)}), [3, 4, 5])
    same("GE", query({"sk": compare("GE", 10)}), [10, 11])
    same("QueryFilter", query({"sk": compare("GT", 1)}, QueryFilter={
        "even": {"ComparisonOperator": "EQ", "AttributeValueList": [{"BOOL": True}]}, "n": compare("LE", 6)}), [2, 4, 6])
    same("either", query({"sk": compare("GT", 1)}, ConditionalOperator="OR", QueryFilter={
        "n": compare("LT", 3), "even": {"ComparisonOperator": "NE", "AttributeValueList": [{"BOOL": True}]}}),
        [2, 3, 5, 7, 9, 11])
    got = c.scan(TableName="Legacy", ScanFilter={"n": compare("IN", 3, 4, 99)}, AttributesToGet=["n"])
    same("ScanFilter", sorted(i["n"]["N"] for i in got["Items"]), ["3", "4"])
    got = c.batch_get_item(RequestItems={"Legacy": {"Keys": [KEY], "AttributesToGet": ["n"]}})
    same("AttributesToGet of a batch", got["Responses"]["Legacy"], [{"n": {"N": "5"}}])


def main():
    simple_table(c, "Legacy")
    expected()
    updates()
    reads()


main()
done("legacy")
