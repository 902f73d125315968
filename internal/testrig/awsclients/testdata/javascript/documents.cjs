// The document client: JavaScript's own values.
const { ConditionalCheckFailedException, CreateTableCommand, waitUntilTableExists } = require("@aws-sdk/client-dynamodb");
const {
  BatchExecuteStatementCommand, BatchGetCommand, BatchWriteCommand, DeleteCommand, DynamoDBDocument, DynamoDBDocumentClient,
  ExecuteStatementCommand, ExecuteTransactionCommand, GetCommand, PutCommand, QueryCommand, ScanCommand, TransactGetCommand,
  TransactWriteCommand, UpdateCommand, NumberValue, paginateQuery, paginateScan,
} = require("@aws-sdk/lib-dynamodb");
const { same, refused, bare, all, numbers, main, client } = require("./harness.cjs");

const plain = client();
const c = DynamoDBDocumentClient.from(plain, { marshallOptions: { removeUndefinedValues: true, convertEmptyValues: false } });
const TableName = "Docs";

async function values() {
  const item = {
    id: "a", n: 1, text: "é\u{1f600}", empty: "", nothing: null, yes: true, list: [1, [2, [3]], { x: {} }],
    map: { deep: { deeper: ["x"] } }, set: new Set(["b", "a"]), nums: new Set([1, 2.5]), raw: new Uint8Array([0, 255]),
  };
  await c.send(new PutCommand({ TableName, Item: { ...item, gone: undefined } }));
  const got = (await c.send(new GetCommand({ TableName, Key: { id: "a", n: 1 }, ConsistentRead: true }))).Item;
  same("what comes back", got, item);
  const big = NumberValue.from("12345678901234567890123456789012345678");
  await c.send(new PutCommand({ TableName, Item: { id: "big", n: 1, big } }));
  const exact = DynamoDBDocumentClient.from(client(), { unmarshallOptions: { wrapNumbers: true } });
  same("38 digits", (await exact.send(new GetCommand({ TableName, Key: { id: "big", n: 1 } }))).Item.big.value, big.value);
}

async function changes() {
  const Key = { id: "a", n: 1 };
  const got = await c.send(new UpdateCommand({
    TableName, Key, UpdateExpression: "SET #m.deep.deeper[1] = :v, cnt = if_not_exists(cnt, :zero) + :two REMOVE #l[1] ADD #s :s",
    ConditionExpression: "yes = :yes AND size(#m) = :one", ReturnValues: "UPDATED_NEW",
    ExpressionAttributeNames: { "#m": "map", "#l": "list", "#s": "set" },
    ExpressionAttributeValues: { ":v": "y", ":zero": 0, ":two": 2, ":yes": true, ":one": 1, ":s": new Set(["c"]) },
  }));
  same("an update", [got.Attributes.cnt, got.Attributes.set, got.Attributes.map], [2, new Set(["a", "b", "c"]), { deep: { deeper: ["y"] } }],
    [2, new Set(["a", "b", "c"]), { deep: { deeper: ["x", "y"] } }]); // DynamoDB Local gives whole attributes
  const error = await refused("a condition", c.send(new DeleteCommand({
    TableName, Key, ConditionExpression: "cnt > :n", ExpressionAttributeValues: { ":n": 2 }, ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  })), ConditionalCheckFailedException, "The conditional request failed");
  same("the item that is there", error.Item.cnt, { N: "2" });
  same("a delete", (await c.send(new DeleteCommand({ TableName, Key, ReturnValues: "ALL_OLD" }))).Attributes.list, [1, { x: {} }]);
}

async function many() {
  for (let n = 0; n < 50; n += 25) {
    const requests = Array.from({ length: 25 }, (_, i) => ({ PutRequest: { Item: { id: "many", n: n + i, even: i % 2 === 0, tags: [`t${i}`] } } }));
    same("a batch", bare(await c.send(new BatchWriteCommand({ RequestItems: { [TableName]: requests } }))), { UnprocessedItems: {} });
  }
  const pages = await all(paginateQuery({ client: c, pageSize: 20 }, {
    TableName, KeyConditionExpression: "id = :id AND n < :n", FilterExpression: "even = :e", ProjectionExpression: "n",
    ExpressionAttributeValues: { ":id": "many", ":n": 25, ":e": true } }));
  same("a query", pages.flatMap((p) => p.Items.map((i) => i.n)), [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24]);
  const scanned = await all(paginateScan({ client: c, pageSize: 9 }, { TableName, FilterExpression: "contains(tags, :t)", ExpressionAttributeValues: { ":t": "t3" } }));
  same("a scan", numbers(scanned.flatMap((p) => p.Items.map((i) => i.n))), [3, 28]);
  const batch = await c.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [{ id: "many", n: 7 }, { id: "many", n: 777 }] } } }));
  same("a batch of reads", batch.Responses[TableName].map((i) => i.n), [7]);
  const first = await c.send(new QueryCommand({ TableName, KeyConditionExpression: "id = :id", ExpressionAttributeValues: { ":id": "many" }, Limit: 3 }));
  same("a key to go on from", first.LastEvaluatedKey, { id: "many", n: 2 });
  const rest = await c.send(new QueryCommand({ TableName, KeyConditionExpression: "id = :id", ExpressionAttributeValues: { ":id": "many" }, Limit: 1, ExclusiveStartKey: first.LastEvaluatedKey }));
  same("going on", rest.Items[0].n, 3);
  same("a count", (await c.send(new ScanCommand({ TableName, Select: "COUNT", FilterExpression: "even = :e", ExpressionAttributeValues: { ":e": false } }))).Count, 24);
}

async function together() {
  await c.send(new TransactWriteCommand({ TransactItems: [
    { Put: { TableName, Item: { id: "tx", n: 1, v: { a: [1] } } } },
    { Update: { TableName, Key: { id: "many", n: 1 }, UpdateExpression: "SET x = :x", ExpressionAttributeValues: { ":x": ["y"] } } },
    { ConditionCheck: { TableName, Key: { id: "many", n: 2 }, ConditionExpression: "even = :e", ExpressionAttributeValues: { ":e": true } } }] }));
  const got = await c.send(new TransactGetCommand({ TransactItems: [{ Get: { TableName, Key: { id: "tx", n: 1 } } }, { Get: { TableName, Key: { id: "many", n: 1 } } }] }));
  same("a transaction", [got.Responses[0].Item.v, got.Responses[1].Item.x], [{ a: [1] }, ["y"]]);
  const error = await refused("a transaction that fails", c.send(new TransactWriteCommand({ TransactItems: [
    { Put: { TableName, Item: { id: "tx", n: 1 }, ConditionExpression: "attribute_not_exists(id)", ReturnValuesOnConditionCheckFailure: "ALL_OLD" } }] })),
  "TransactionCanceledException");
  same("its reason", [error.CancellationReasons[0].Code, error.CancellationReasons[0].Item.v], ["ConditionalCheckFailed", { M: { a: { L: [{ N: "1" }] } } }]);
}

async function partiql() {
  const got = await c.send(new ExecuteStatementCommand({ Statement: "SELECT v FROM Docs WHERE id = ? AND n = ?", Parameters: ["tx", 1] }));
  same("a statement", got.Items, [{ v: { a: [1] } }]);
  await c.send(new ExecuteTransactionCommand({ TransactStatements: [{ Statement: "INSERT INTO Docs VALUE {'id': ?, 'n': ?, 'v': ?}", Parameters: ["pq", 1, { b: [true] }] }] }));
  const batch = await c.send(new BatchExecuteStatementCommand({ Statements: [{ Statement: "SELECT * FROM Docs WHERE id = 'pq' AND n = 1" }] }));
  same("a batch of statements", batch.Responses[0].Item, { id: "pq", n: 1, v: { b: [true] } });
  const whole = DynamoDBDocument.from(plain);
  same("the client with methods", (await whole.get({ TableName, Key: { id: "pq", n: 1 } })).Item.v, { b: [true] });
}

main("documents", async () => {
  await plain.send(new CreateTableCommand({
    TableName, BillingMode: "PAY_PER_REQUEST",
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }, { AttributeName: "n", KeyType: "RANGE" }],
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }, { AttributeName: "n", AttributeType: "N" }] }));
  await waitUntilTableExists({ client: plain, maxWaitTime: 30, minDelay: 1 }, { TableName });
  await values();
  await changes();
  await many();
  await together();
  await partiql();
});
