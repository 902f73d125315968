// Shared by all scripts: counted checks, and clients of the test's endpoint.
const assert = require("node:assert/strict");
const { DynamoDBClient } = require("@aws-sdk/client-dynamodb");
const { DynamoDBStreamsClient } = require("@aws-sdk/client-dynamodb-streams");

const LOCAL = process.env.AGAINST === "local"; // DynamoDB Local, which is not DynamoDB everywhere
const KEEP_GOING = process.env.KEEP_GOING; // for people who look at an endpoint: show all that differs
// No retries unless requested, so that failures are visible. DynamoDB Local sometimes fails while an index is
// created.
const options = { maxAttempts: Number(process.env.ATTEMPTS ?? (LOCAL ? 5 : 1)) };
let passed = 0;
let failed = 0;

function note(what, check) {
  try {
    check();
    passed++;
  } catch (error) {
    console.error(`${what}: ${error.message}`);
    failed++;
    if (!KEEP_GOING) process.exit(1);
  }
}

// same compares values; local is the answer of DynamoDB Local if it differs from DynamoDB's documentation.
function same(what, got, want, local) {
  note(what, () => assert.deepStrictEqual(got, LOCAL && local !== undefined ? local : want));
}

function holds(what, ok, shown) {
  note(what, () => assert.ok(ok, `does not hold: ${JSON.stringify(shown)}`));
}

// refused expects an error of one of the client's classes, and returns it.
async function refused(what, promise, kind, message) {
  try {
    const answer = await promise;
    note(what, () => assert.fail(`want ${kind.name ?? kind}, got ${JSON.stringify(answer)}`));
    return {};
  } catch (error) {
    if (typeof kind === "string") same(`${what}: name`, error.name, kind);
    else holds(`${what}: instanceof ${kind.name}`, error instanceof kind, `${error.name}: ${error.message}`);
    if (message !== undefined) same(`${what}: message`, error.message, message);
    same(`${what}: status`, error.$metadata?.httpStatusCode, 400);
    return error;
  }
}

// bare returns an answer without what the client adds.
function bare(answer) {
  const { $metadata, ...rest } = answer;
  return rest;
}

async function all(paginator) {
  const pages = [];
  for await (const page of paginator) pages.push(page);
  return pages;
}

const numbers = (of) => [...of].map(Number).sort((a, b) => a - b);

// main runs a script to its end.
function main(name, script) {
  script().then(
    () => {
      console.log(`${name}: ${passed} checks passed`);
      process.exit(failed ? 1 : 0);
    },
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
}

module.exports = {
  LOCAL, options, same, holds, refused, bare, all, numbers, main,
  client: (more) => new DynamoDBClient({ ...options, ...more }),
  streams: () => new DynamoDBStreamsClient(options),
};
