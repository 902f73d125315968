// Streams, read to the end of every shard.
const { CreateTableCommand, DeleteItemCommand, DescribeTableCommand, PutItemCommand, UpdateItemCommand, waitUntilTableExists } = require("@aws-sdk/client-dynamodb");
const { DescribeStreamCommand, GetRecordsCommand, GetShardIteratorCommand, ListStreamsCommand, ResourceNotFoundException } = require("@aws-sdk/client-dynamodb-streams");
const { same, holds, refused, main, client, streams } = require("./harness.cjs");

const c = client();
const s = streams();
const TableName = "Streamed";
const Key = { id: { S: "a" } };

async function read(StreamArn) {
  const { StreamDescription } = await s.send(new DescribeStreamCommand({ StreamArn }));
  const records = [];
  for (const { ShardId } of StreamDescription.Shards) {
    let { ShardIterator } = await s.send(new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" }));
    while (ShardIterator) {
      const got = await s.send(new GetRecordsCommand({ ShardIterator, Limit: 3 }));
      records.push(...got.Records);
      ShardIterator = got.Records.length ? got.NextShardIterator : undefined;
    }
  }
  return records;
}

main("streams", async () => {
  await c.send(new CreateTableCommand({
    TableName, BillingMode: "PAY_PER_REQUEST", KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
    StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" } }));
  await waitUntilTableExists({ client: c, maxWaitTime: 30, minDelay: 1 }, { TableName });
  for (let n = 0; n < 5; n++) await c.send(new PutItemCommand({ TableName, Item: { ...Key, n: { N: String(n) }, bin: { B: Uint8Array.of(n) } } }));
  await c.send(new PutItemCommand({ TableName, Item: { ...Key, n: { N: "4" }, bin: { B: Uint8Array.of(4) } } })); // changes nothing
  await c.send(new UpdateItemCommand({ TableName, Key, UpdateExpression: "SET x = :x REMOVE n, bin", ExpressionAttributeValues: { ":x": { L: [{ NULL: true }] } } }));
  await c.send(new DeleteItemCommand({ TableName, Key }));

  const { Table } = await c.send(new DescribeTableCommand({ TableName }));
  const listed = await s.send(new ListStreamsCommand({ TableName }));
  same("the stream", listed.Streams.map((x) => x.StreamArn), [Table.LatestStreamArn]);
  const records = await read(Table.LatestStreamArn);
  same("events", records.map((r) => r.eventName), ["INSERT", "MODIFY", "MODIFY", "MODIFY", "MODIFY", "MODIFY", "REMOVE"]);
  same("keys", records.map((r) => r.dynamodb.Keys.id.S), Array(7).fill("a"));
  same("new images", records.slice(0, 5).map((r) => [r.dynamodb.NewImage.n.N, ...r.dynamodb.NewImage.bin.B]), [0, 1, 2, 3, 4].map((n) => [String(n), n]));
  same("an old image", records[1].dynamodb.OldImage, { ...Key, n: { N: "0" }, bin: { B: Uint8Array.of(0) } });
  same("an update", records[5].dynamodb.NewImage, { ...Key, x: { L: [{ NULL: true }] } });
  same("a delete", [records[6].dynamodb.NewImage, records[6].dynamodb.OldImage], [undefined, { ...Key, x: { L: [{ NULL: true }] } }]);
  holds("sequence numbers ascend", records.every((r, n) => n === 0 || BigInt(records[n - 1].dynamodb.SequenceNumber) < BigInt(r.dynamodb.SequenceNumber)));
  holds("times", records.every((r) => Math.abs(Date.now() - r.dynamodb.ApproximateCreationDateTime) < 3_600_000));
  await refused("a stream that is not there", s.send(new DescribeStreamCommand({ StreamArn: Table.LatestStreamArn.slice(0, -4) + "9999" })), ResourceNotFoundException);
});
