"""Items: every type, conditions, returned values, errors; the legacy parameters; capacity."""

import re

from harness import bare, client, done, refused, same, simple_table

c = client()
KEY = {"pk": {"S": "k"}, "sk": {"N": "1"}}


def put(**attributes):
    c.put_item(TableName="Items", Item={**KEY, **attributes})


def get(**more):
    return c.get_item(TableName="Items", Key=KEY, ConsistentRead=True, **more).get("Item")


def types():
    item = {
        **KEY,
        "text": {"S": "snow \u2603, \U0001f600, \"quotes\" \\ / \n\t\u0001 </script>"},
        "empty": {"S": ""}, "none": {"NULL": True}, "yes": {"BOOL": True}, "no": {"BOOL": False},
        "bytes": {"B": bytes(range(256))}, "no bytes": {"B": b""},
        "big": {"N": "12345678901234567890123456789012345678"},
        "negative": {"N": "-0.00012345678901234567890123456789012345678"},
        "list": {"L": [{"S": "a"}, {"N": "1"}, {"L": []}, {"M": {}}, {"M": {"deep": {"L": [{"BOOL": False}]}}}]},
        "map": {"M": {"a.b": {"N": "0"}, "\u00e9": {"NULL": True}, "x" * 300: {"S": ""}}},
    }
    c.put_item(TableName="Items", Item=item)
    same("types that come back", get(), item)
    put(texts={"SS": ["b", "a", "\u00e9"]}, numbers={"NS": ["1", "-2.5", "1000"]}, blobs={"BS": [b"\x00", b"\xff\xfe"]})
    got = get()
    same("a set of texts", sorted(got["texts"]["SS"]), ["a", "b", "\u00e9"])
    same("a set of numbers", sorted(got["numbers"]["NS"]), ["-2.5", "1", "1000"])
    same("a set of bytes", sorted(got["blobs"]["BS"]), [b"\x00", b"\xff\xfe"])


def numbers():
    for given, kept in [
            ("1.0", "1"), ("007", "7"), ("-0", "0"), ("1e3", "1000"), ("+5", "5"), ("1.50E-1", "0.15"),
            ("100", "100"), ("0.1", "0.1"), ("9.9999999999999999999999999999999999999E+125", "9" * 38 + "0" * 88),
            ("1E-130", "0." + "0" * 129 + "1")]:
        put(n={"N": given})
        same("the number " + given, get()["n"], {"N": kept})
    for given, message, local in [
            ("123456789012345678901234567890123456789",
             "Attempting to store more than 38 significant digits in a Number",
             "DynamoDB only supports precision up to 38 digits"),
            ("1E126", "Number overflow. Attempting to store a number with magnitude larger than supported range", None),
            ("1E-131", "Number underflow. Attempting to store a number with magnitude smaller than supported range", None),
            ("abc", "The parameter cannot be converted to a numeric value: abc",
             "A value provided cannot be converted into a number"),
            ("", "The parameter cannot be converted to a numeric value: ",
             "A value provided cannot be converted into a number")]:
        refused("the number " + given, "ValidationException", lambda given=given: put(n={"N": given}),
                "1 validation error detected: " + message, local or message)


def conditions():
    put(v={"N": "1"}, name={"S": "old"})
    exists = "attribute_not_exists(pk)"
    error = refused("a key that is taken", "ConditionalCheckFailedException", lambda: c.put_item(
        TableName="Items", Item=KEY, ConditionExpression=exists, ReturnValuesOnConditionCheckFailure="ALL_OLD"),
        "The conditional request failed")
    same("the item that is there", error.get("Item"), {**KEY, "v": {"N": "1"}, "name": {"S": "old"}})
    error = refused("a condition without values", "ConditionalCheckFailedException", lambda: c.delete_item(
        TableName="Items", Key=KEY, ConditionExpression="v > :v", ExpressionAttributeValues={":v": {"N": "1"}}))
    same("no item without being asked", error.get("Item"), None)
    for text, ok in [
            ("v = :one", True), ("v <> :one", False), ("v BETWEEN :zero AND :one", True), ("v IN (:zero, :one)", True),
            ("attribute_type(v, :N)", True), ("begins_with(#n, :ol)", True), ("contains(#n, :ol)", True),
            ("size(#n) = :three", True), ("NOT (v = :one OR #n = :ol)", False), ("attribute_exists(x.y[3])", False)]:
        values = {":one": {"N": "1"}, ":zero": {"N": "0"}, ":three": {"N": "3"}, ":N": {"S": "N"}, ":ol": {"S": "ol"}}
        more = {"ExpressionAttributeValues": {k: v for k, v in values.items() if k in re.findall(r":\w+", text)}}
        if "#n" in text:
            more["ExpressionAttributeNames"] = {"#n": "name"}
        if not more["ExpressionAttributeValues"]:
            del more["ExpressionAttributeValues"]
        call = lambda: c.update_item(TableName="Items", Key=KEY, UpdateExpression="REMOVE nothing",
                                     ConditionExpression=text, **more)
        if ok:
            same(text, bare(call()), {})
        else:
            refused(text, "ConditionalCheckFailedException", call)


def returned():
    same("nothing returned", bare(c.put_item(TableName="Items", Item={**KEY, "v": {"N": "1"}})), {})
    old = c.put_item(TableName="Items", Item={**KEY, "v": {"N": "2"}}, ReturnValues="ALL_OLD")
    same("ALL_OLD of a put", old["Attributes"], {**KEY, "v": {"N": "1"}})

    def update(kind, text="SET v = v + :d, w = :d", d="1"):
        return c.update_item(TableName="Items", Key=KEY, UpdateExpression=text, ReturnValues=kind,
                             ExpressionAttributeValues={":d": {"N": d}}).get("Attributes")
    same("NONE", update("NONE"), None)
    same("UPDATED_NEW", update("UPDATED_NEW"), {"v": {"N": "4"}, "w": {"N": "1"}})
    same("UPDATED_OLD", update("UPDATED_OLD", d="7"), {"v": {"N": "4"}, "w": {"N": "1"}})
    same("ALL_NEW", update("ALL_NEW"), {**KEY, "v": {"N": "12"}, "w": {"N": "1"}})
    same("ALL_OLD", update("ALL_OLD"), {**KEY, "v": {"N": "12"}, "w": {"N": "1"}})
    same("ADD", update("UPDATED_NEW", "ADD v :d", "-0.5"), {"v": {"N": "12.5"}})
    same("ALL_OLD of a delete", c.delete_item(TableName="Items", Key=KEY, ReturnValues="ALL_OLD")["Attributes"],
         {**KEY, "v": {"N": "12.5"}, "w": {"N": "1"}})
    same("a delete of nothing", bare(c.delete_item(TableName="Items", Key=KEY, ReturnValues="ALL_OLD")), {},
         local={"ConsumedCapacity": {"TableName": "Items", "CapacityUnits": 1.0}})
    same("a get of nothing", bare(c.get_item(TableName="Items", Key=KEY)), {})
    refused("values that a put does not return", "ValidationException", lambda: c.put_item(
        TableName="Items", Item=KEY, ReturnValues="UPDATED_NEW"), "ReturnValues can only be ALL_OLD or NONE",
        local="Return values set to invalid value")


def updates():
    put(l={"L": [{"N": "1"}, {"N": "2"}]}, m={"M": {"a": {"N": "1"}, "c": {"L": [{"N": "5"}, {"N": "6"}]}}}, s={"SS": ["a", "b"]}, gone={"S": "x"})
    new = c.update_item(
        TableName="Items", Key=KEY, ReturnValues="ALL_NEW",
        UpdateExpression="SET l = list_append(l, :l), m.b = if_not_exists(m.b, :n), #z = m.a REMOVE gone, m.c[0] "
                         "ADD c :n DELETE s :a",
        ExpressionAttributeNames={"#z": "size"},
        ExpressionAttributeValues={":l": {"L": [{"N": "3"}]}, ":n": {"N": "9"}, ":a": {"SS": ["a"]}})["Attributes"]
    same("an update of everything", new, {
        **KEY, "l": {"L": [{"N": "1"}, {"N": "2"}, {"N": "3"}]},
        "m": {"M": {"a": {"N": "1"}, "b": {"N": "9"}, "c": {"L": [{"N": "6"}]}}},
        "s": {"SS": ["b"]}, "size": {"N": "1"}, "c": {"N": "9"}})
    same("a projection", get(ProjectionExpression="l[2], m.b, #z, nothing", ExpressionAttributeNames={"#z": "size"}),
         {"l": {"L": [{"N": "3"}]}, "m": {"M": {"b": {"N": "9"}}}, "size": {"N": "1"}})
    for text, values, message in [
            ("SET name = :n", {":n": {"N": "1"}},
             "Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: name"),
            ("SET a = :n, a = :n", {":n": {"N": "1"}},
             "Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these "
             "paths; path one: [a], path two: [a]"),
            ("SET pk = :s", {":s": {"S": "x"}},
             "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key"),
            ("SET nope.x = :n", {":n": {"N": "1"}},
             "The document path provided in the update expression is invalid for update"),
            ("SET c = m + :n", {":n": {"N": "1"}},
             "An operand in the update expression has an incorrect data type"),
            ("SET c = :n", {":n": {"N": "1"}, ":unused": {"N": "1"}},
             "Value provided in ExpressionAttributeValues unused in expressions: keys: {:unused}"),
            ("SET c = :x", {":n": {"N": "1"}},
             "Invalid UpdateExpression: An expression attribute value used in expression is not defined; attribute value: :x")]:
        refused(text, "ValidationException", lambda text=text, values=values: c.update_item(
            TableName="Items", Key=KEY, UpdateExpression=text, ExpressionAttributeValues=values), message)


def refusals():
    key = "The provided key element does not match the schema"
    refused("a key without its sort key", "ValidationException", lambda: c.get_item(
        TableName="Items", Key={"pk": {"S": "k"}}), key,
        local="The number of conditions on the keys is invalid")
    refused("an item without its key", "ValidationException", lambda: c.put_item(
        TableName="Items", Item={"pk": {"S": "k"}}),
        "One or more parameter values were invalid: Missing the key sk in the item",
        local="One of the required keys was not given a value")
    refused("a key of another type", "ValidationException", lambda: c.put_item(
        TableName="Items", Item={"pk": {"S": "k"}, "sk": {"S": "1"}}),
        "One or more parameter values were invalid: Type mismatch for key sk expected: N actual: S",
        local="One or more parameter values were invalid: Type mismatch for key")
    refused("a table that is not there", "ResourceNotFoundException", lambda: c.get_item(
        TableName="nothere", Key=KEY), "Requested resource not found", local="Cannot do operations on a non-existent table")
    refused("a set with the same twice", "ValidationException", lambda: put(s={"SS": ["a", "a"]}),
            "One or more parameter values were invalid: Input collection [a, a] contains duplicates.",
            local="One or more parameter values were invalid: Input collection [a, a] contains duplicates")
    refused("an item that is too large", "ValidationException", lambda: put(s={"S": "x" * 409600}),
            "Item size has exceeded the maximum allowed size")
    put(s={"S": "x" * (409600 - len("pksksk1") - 2)})
    same("an item as large as can be", len(get()["s"]["S"]), 409600 - 9)


def main():
    simple_table(c, "Items")
    types()
    numbers()
    conditions()
    returned()
    updates()
    refusals()


main()
done("items")
