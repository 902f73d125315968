// The client of the commands: tables with waiters, items of every type, pages, batches, transactions, errors.
const {
  BatchGetItemCommand, BatchWriteItemCommand, ConditionalCheckFailedException, CreateTableCommand, DeleteItemCommand,
  DeleteTableCommand, DescribeTableCommand, DescribeTimeToLiveCommand, ExecuteStatementCommand, GetItemCommand,
  IdempotentParameterMismatchException, ListTagsOfResourceCommand, PutItemCommand, QueryCommand, ResourceInUseException,
  ResourceNotFoundException, ScanCommand, TagResourceCommand, TransactGetItemsCommand, TransactWriteItemsCommand,
  TransactionCanceledException, UpdateItemCommand, UpdateTableCommand, UpdateTimeToLiveCommand, DynamoDB,
  paginateListTables, paginateQuery, paginateScan, waitUntilTableExists, waitUntilTableNotExists,
} = require("@aws-sdk/client-dynamodb");
const { marshall, unmarshall } = require("@aws-sdk/util-dynamodb");
const { LOCAL, same, holds, refused, bare, all, numbers, main, client, options } = require("./harness.cjs");

const c = client();
const TableName = "Games";
const wait = { client: c, maxWaitTime: 30, minDelay: 1, maxDelay: 1 };
const key = (n, pk = "p") => ({ pk: { S: pk }, sk: { N: String(n) } });
const definition = {
  TableName, BillingMode: "PAY_PER_REQUEST",
  KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }, { AttributeName: "sk", KeyType: "RANGE" }],
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" }, { AttributeName: "sk", AttributeType: "N" },
    { AttributeName: "kind", AttributeType: "S" }, { AttributeName: "score", AttributeType: "N" },
  ],
  GlobalSecondaryIndexes: [{
    IndexName: "byKind", Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["note"] },
    KeySchema: [{ AttributeName: "kind", KeyType: "HASH" }, { AttributeName: "score", KeyType: "RANGE" }],
  }],
  LocalSecondaryIndexes: [{
    IndexName: "byScore", Projection: { ProjectionType: "ALL" },
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }, { AttributeName: "score", KeyType: "RANGE" }],
  }],
};

async function tables() {
  const made = await c.send(new CreateTableCommand(definition));
  same("the name of a new table", made.TableDescription.TableName, TableName);
  same("waited", (await waitUntilTableExists(wait, { TableName })).state, "SUCCESS");
  const { Table } = await c.send(new DescribeTableCommand({ TableName }));
  same("TableStatus", Table.TableStatus, "ACTIVE");
  holds("CreationDateTime", Math.abs(Date.now() - Table.CreationDateTime) < 3_600_000, Table.CreationDateTime);
  same("the indexes", [Table.GlobalSecondaryIndexes[0].IndexStatus, Table.LocalSecondaryIndexes[0].IndexName], ["ACTIVE", "byScore"]);
  await refused("a table that is there", c.send(new CreateTableCommand(definition)), ResourceInUseException);
  await refused("a table that is not there", c.send(new DescribeTableCommand({ TableName: "nothere" })),
    ResourceNotFoundException, LOCAL ? "Cannot do operations on a non-existent table" : "Requested resource not found: Table: nothere not found");
  for (let n = 0; n < 5; n++) {
    const { GlobalSecondaryIndexes, LocalSecondaryIndexes, ...plain } = definition;
    await c.send(new CreateTableCommand({ ...plain, TableName: `list-${n}`, AttributeDefinitions: definition.AttributeDefinitions.slice(0, 2) }));
  }
  const pages = await all(paginateListTables({ client: c, pageSize: 2 }, {}));
  same("pages of tables", pages.map((p) => p.TableNames), [["Games", "list-0"], ["list-1", "list-2"], ["list-3", "list-4"]]);
  for (let n = 0; n < 5; n++) {
    await c.send(new DeleteTableCommand({ TableName: `list-${n}` }));
    same("waited", (await waitUntilTableNotExists(wait, { TableName: `list-${n}` })).state, "SUCCESS");
  }
}

async function types() {
  const Item = {
    ...key(1), text: { S: "snow \u2603, \u{1f600}, \"quotes\" \\ \n\u0001" }, empty: { S: "" }, none: { NULL: true },
    yes: { BOOL: true }, no: { BOOL: false }, bytes: { B: Uint8Array.from({ length: 256 }, (_, n) => n) },
    big: { N: "12345678901234567890123456789012345678" }, small: { N: "-0.00012345678901234567890123456789012345678" },
    list: { L: [{ S: "a" }, { L: [] }, { M: {} }, { M: { deep: { L: [{ BOOL: false }] } } }] },
  };
  await c.send(new PutItemCommand({ TableName, Item }));
  const got = await c.send(new GetItemCommand({ TableName, Key: key(1), ConsistentRead: true }));
  same("types that come back", got.Item, Item);
  await c.send(new PutItemCommand({ TableName, Item: { ...key(1), t: { SS: ["b", "a"] }, n: { NS: ["3", "-1", "2.5"] }, b: { BS: [Uint8Array.of(1), Uint8Array.of(0, 255)] } } }));
  const sets = (await c.send(new GetItemCommand({ TableName, Key: key(1) }))).Item;
  same("texts", sets.t.SS.sort(), ["a", "b"]);
  same("numbers", numbers(sets.n.NS), [-1, 2.5, 3]);
  same("bytes", sets.b.BS.map((b) => [...b]).sort(), [[0, 255], [1]]);
  const given = { pk: "p", sk: 2, nested: { list: [1, "two", null, true, { x: [] }], big: 1234567890123 }, set: new Set(["x"]), raw: Uint8Array.of(7) };
  await c.send(new PutItemCommand({ TableName, Item: marshall(given) }));
  same("marshall and unmarshall", unmarshall((await c.send(new GetItemCommand({ TableName, Key: key(2) }))).Item), given);
}

async function conditions() {
  await c.send(new PutItemCommand({ TableName, Item: { ...key(3), v: { N: "1" } } }));
  const error = await refused("a key that is taken", c.send(new PutItemCommand({
    TableName, Item: key(3), ConditionExpression: "attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  })), ConditionalCheckFailedException, "The conditional request failed");
  same("the item that is there", error.Item, { ...key(3), v: { N: "1" } });
  for (const [ReturnValues, want] of [
    ["NONE", undefined], ["UPDATED_NEW", { v: { N: "3" } }], ["UPDATED_OLD", { v: { N: "3" } }],
    ["ALL_NEW", { ...key(3), v: { N: "5" } }], ["ALL_OLD", { ...key(3), v: { N: "5" } }]]) {
    const got = await c.send(new UpdateItemCommand({
      TableName, Key: key(3), UpdateExpression: "SET #v = #v + :one", ConditionExpression: "#v < :ten", ReturnValues,
      ExpressionAttributeNames: { "#v": "v" }, ExpressionAttributeValues: { ":one": { N: "1" }, ":ten": { N: "10" } },
    }));
    same(ReturnValues, got.Attributes, want);
  }
  same("a delete", (await c.send(new DeleteItemCommand({ TableName, Key: key(3), ReturnValues: "ALL_OLD" }))).Attributes.v, { N: "6" });
  await refused("an expression that is none", c.send(new UpdateItemCommand({ TableName, Key: key(3), UpdateExpression: "SET" })),
    "ValidationException", 'Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET"');
  await refused("an empty key", c.send(new GetItemCommand({ TableName, Key: { pk: { S: "" }, sk: { N: "1" } } })), "ValidationException",
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk");
  await refused("a table that is not there", c.send(new GetItemCommand({ TableName: "nothere", Key: key(1) })),
    ResourceNotFoundException, LOCAL ? "Cannot do operations on a non-existent table" : "Requested resource not found");
}

async function reads() {
  const all60 = Array.from({ length: 60 }, (_, n) => ({ ...key(n, "q"), kind: { S: n % 2 ? "odd" : "even" }, score: { N: String(-n) }, note: { S: `n${n}` }, x: { S: "y" } }));
  for (let n = 0; n < 60; n += 20) {
    const got = await c.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: all60.slice(n, n + 20).map((Item) => ({ PutRequest: { Item } })) } }));
    same("a batch of writes", bare(got), { UnprocessedItems: {} });
  }
  const query = { TableName, KeyConditionExpression: "pk = :p AND sk BETWEEN :a AND :b", ExpressionAttributeValues: { ":p": { S: "q" }, ":a": { N: "10" }, ":b": { N: "19" } } };
  const pages = await all(paginateQuery({ client: c, pageSize: 4 }, { ...query, ScanIndexForward: false, ProjectionExpression: "sk" }));
  same("pages of a query", pages.map((p) => p.Items.map((i) => Number(i.sk.N))).filter((p) => p.length), [[19, 18, 17, 16], [15, 14, 13, 12], [11, 10]]);
  const index = await c.send(new QueryCommand({
    TableName, IndexName: "byKind", Limit: 2, KeyConditionExpression: "kind = :k AND score > :s", FilterExpression: "note <> :n",
    ExpressionAttributeValues: { ":k": { S: "odd" }, ":s": { N: "-10" }, ":n": { S: "n9" } },
  }));
  same("an index with a filter", [index.Items, index.Count, index.ScannedCount],
    [[{ ...key(7, "q"), kind: { S: "odd" }, score: { N: "-7" }, note: { S: "n7" } }], 1, 2]);
  same("where to go on", index.LastEvaluatedKey, { ...key(7, "q"), kind: { S: "odd" }, score: { N: "-7" } });
  const segments = await Promise.all([0, 1, 2].map((Segment) => all(paginateScan({ client: c, pageSize: 7 }, {
    TableName, TotalSegments: 3, Segment, FilterExpression: "attribute_exists(score)" }))));
  same("a parallel scan", numbers(segments.flat().flatMap((p) => p.Items.map((i) => i.sk.N))), all60.map((_, n) => n));
  const batch = await c.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [key(1, "q"), key(99, "q")], ProjectionExpression: "note" } } }));
  same("a batch of reads", bare(batch), { Responses: { [TableName]: [{ note: { S: "n1" } }] }, UnprocessedKeys: {} });
  const units = await c.send(new ScanCommand({ TableName, Select: "COUNT", ReturnConsumedCapacity: "TOTAL", ConsistentRead: true }));
  same("a count", [units.Count, units.Items, units.ConsumedCapacity.TableName], [62, undefined, TableName]);
}

async function transactions() {
  const put = (n, more) => ({ Put: { TableName, Item: { ...key(n, "t"), ...more } } });
  same("a transaction", bare(await c.send(new TransactWriteItemsCommand({ TransactItems: [put(1, { v: { N: "1" } }), put(2)] }))), {});
  const error = await refused("a transaction that fails", c.send(new TransactWriteItemsCommand({ TransactItems: [put(3), {
    Delete: { TableName, Key: key(1, "t"), ConditionExpression: "v = :v", ExpressionAttributeValues: { ":v": { N: "2" } }, ReturnValuesOnConditionCheckFailure: "ALL_OLD" },
  }] })), TransactionCanceledException,
  "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed]");
  same("its reasons", error.CancellationReasons, [{ Code: "None" }, {
    Code: "ConditionalCheckFailed", Message: "The conditional request failed", Item: { ...key(1, "t"), v: { N: "1" } } }]);
  const add = { Update: { TableName, Key: key(1, "t"), UpdateExpression: "ADD v :v", ExpressionAttributeValues: { ":v": { N: "5" } } } };
  const ClientRequestToken = `token-${Date.now()}`;
  for (let n = 0; n < 2; n++) await c.send(new TransactWriteItemsCommand({ TransactItems: [add], ClientRequestToken }));
  await refused("another with the token", c.send(new TransactWriteItemsCommand({ TransactItems: [put(4)], ClientRequestToken })),
    IdempotentParameterMismatchException);
  const got = await c.send(new TransactGetItemsCommand({ TransactItems: [1, 3].map((n) => ({ Get: { TableName, Key: key(n, "t") } })) }));
  same("what was done, once", got.Responses, [{ Item: { ...key(1, "t"), v: { N: "6" } } }, {}]);
}

async function settings() {
  await c.send(new UpdateTableCommand({
    TableName, AttributeDefinitions: [...definition.AttributeDefinitions, { AttributeName: "note", AttributeType: "S" }],
    GlobalSecondaryIndexUpdates: [{ Create: { IndexName: "byNote", Projection: { ProjectionType: "ALL" }, KeySchema: [{ AttributeName: "note", KeyType: "HASH" }] } }],
  }));
  let indexes;
  for (let n = 0; n < 600; n++) {
    const { Table } = await c.send(new DescribeTableCommand({ TableName }));
    indexes = Table.GlobalSecondaryIndexes;
    if (Table.TableStatus === "ACTIVE" && indexes.every((i) => i.IndexStatus === "ACTIVE")) break;
    await new Promise((done) => setTimeout(done, 50));
  }
  same("the indexes", indexes.map((i) => i.IndexName + i.IndexStatus).sort(), ["byKindACTIVE", "byNoteACTIVE"]);
  const found = await c.send(new QueryCommand({ TableName, IndexName: "byNote", KeyConditionExpression: "note = :n", ExpressionAttributeValues: { ":n": { S: "n42" } } }));
  same("what the new index has", found.Items.map((i) => i.sk.N), ["42"]);
  await c.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: { Enabled: true, AttributeName: "ttl" } }));
  const ttl = await c.send(new DescribeTimeToLiveCommand({ TableName }));
  same("time to live", ttl.TimeToLiveDescription.AttributeName, "ttl");
  if (LOCAL) return; // it has no tags
  const { Table } = await c.send(new DescribeTableCommand({ TableName }));
  await c.send(new TagResourceCommand({ ResourceArn: Table.TableArn, Tags: [{ Key: "a", Value: "b" }] }));
  same("tags", (await c.send(new ListTagsOfResourceCommand({ ResourceArn: Table.TableArn }))).Tags, [{ Key: "a", Value: "b" }]);
}

async function others() {
  const aggregated = new DynamoDB(options);
  same("the client with methods", (await aggregated.getItem({ TableName, Key: key(1, "q"), AttributesToGet: ["note"] })).Item, { note: { S: "n1" } });
  const got = await c.send(new ExecuteStatementCommand({ Statement: `SELECT note FROM "${TableName}" WHERE pk = ? AND sk > ?`, Parameters: [{ S: "q" }, { N: "57" }] }));
  same("PartiQL", got.Items, [{ note: { S: "n58" } }, { note: { S: "n59" } }]);
  const parallel = await Promise.all(Array.from({ length: 50 }, (_, n) => c.send(new GetItemCommand({ TableName, Key: key(n, "q") }))));
  same("fifty at once", parallel.map((g) => g.Item.note.S), parallel.map((_, n) => `n${n}`));
  await c.send(new DeleteTableCommand({ TableName }));
  same("waited", (await waitUntilTableNotExists(wait, { TableName })).state, "SUCCESS");
}

main("client", async () => {
  await tables();
  await types();
  await conditions();
  await reads();
  await transactions();
  await settings();
  await others();
});
