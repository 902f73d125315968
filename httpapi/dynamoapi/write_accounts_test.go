package dynamoapi_test

import "testing"

// TestWritesAreAccountedFor: capacity and item collections of each write that has them, in a table with local indexes.
func TestWritesAreAccountedFor(t *testing.T) {
	const (
		ask        = `"ReturnConsumedCapacity":"INDEXES","ReturnItemCollectionMetrics":"SIZE"`
		collection = `"ItemCollectionMetrics":{"ItemCollectionKey":{"a":{"S":"p"}},"SizeEstimateRangeGB":[0.0,1.0]}`
		two        = `"ItemCollectionMetrics":{"range":[{"ItemCollectionKey":{"a":{"S":"p"}},"SizeEstimateRangeGB":[0.0,1.0]},` +
			`{"ItemCollectionKey":{"a":{"S":"q"}},"SizeEstimateRangeGB":[0.0,1.0]}]}`
	)
	api := recordedTables(t)
	for _, step := range []struct{ op, body, want string }{
		{"PutItem", `{"TableName":"range","Item":{"a":{"S":"p"},"b":{"S":"1"},"c":{"S":"x"}},` + ask + `}`,
			`{"ConsumedCapacity":{"CapacityUnits":3.0,"TableName":"range","Table":{"CapacityUnits":1.0},"LocalSecondaryIndexes":{"index1":{"CapacityUnits":1.0}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":1.0}}},` + collection + `}`},
		{"UpdateItem", `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/range","Key":{"a":{"S":"p"},"b":{"S":"1"}},"UpdateExpression":"REMOVE c",` +
			`"ReturnValues":"ALL_NEW",` + ask + `}`,
			`{"Attributes":{"a":{"S":"p"},"b":{"S":"1"}},"ConsumedCapacity":{"CapacityUnits":3.0,"TableName":"range","Table":{"CapacityUnits":1.0},` +
				`"LocalSecondaryIndexes":{"index1":{"CapacityUnits":1.0}},"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":1.0}}},` + collection + `}`},
		{"DeleteItem", `{"TableName":"range","Key":{"a":{"S":"p"},"b":{"S":"1"}},` + ask + `}`,
			`{"ConsumedCapacity":{"CapacityUnits":1.0,"TableName":"range","Table":{"CapacityUnits":1.0}},` + collection + `}`},
		{"PutItem", `{"TableName":"hash","Item":{"a":{"S":"p"}},"ReturnItemCollectionMetrics":"SIZE"}`, `{}`},
		{"BatchWriteItem", `{"RequestItems":{"range":[{"PutRequest":{"Item":{"a":{"S":"q"},"b":{"S":"1"}}}},{"DeleteRequest":{"Key":{"a":{"S":"p"},"b":{"S":"1"}}}},` +
			`{"PutRequest":{"Item":{"a":{"S":"q"},"b":{"S":"2"},"c":{"S":"x"}}}}],"hash":[{"DeleteRequest":{"Key":{"a":{"S":"p"}}}}]},` + ask + `}`,
			`{"UnprocessedItems":{},"ConsumedCapacity":[{"CapacityUnits":1.0,"TableName":"hash","Table":{"CapacityUnits":1.0}},` +
				`{"CapacityUnits":5.0,"TableName":"range","Table":{"CapacityUnits":3.0},"LocalSecondaryIndexes":{"index1":{"CapacityUnits":1.0}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":1.0}}}],` + two + `}`},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"range","Item":{"a":{"S":"q"},"b":{"S":"3"}}}},` +
			`{"Update":{"TableName":"range","Key":{"a":{"S":"q"},"b":{"S":"2"}},"UpdateExpression":"SET c = :c","ExpressionAttributeValues":{":c":{"S":"y"}}}},` +
			`{"ConditionCheck":{"TableName":"range","Key":{"a":{"S":"p"},"b":{"S":"2"}},"ConditionExpression":"attribute_not_exists(a)"}}],"ClientRequestToken":"t",` + ask + `}`,
			`{"ConsumedCapacity":[{"CapacityUnits":14.0,"WriteCapacityUnits":14.0,"TableName":"range","Table":{"CapacityUnits":6.0,"WriteCapacityUnits":6.0},` +
				`"LocalSecondaryIndexes":{"index1":{"CapacityUnits":4.0,"WriteCapacityUnits":4.0}},` +
				`"GlobalSecondaryIndexes":{"index3":{"CapacityUnits":4.0,"WriteCapacityUnits":4.0}}}],` + two + `}`},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"range","Item":{"a":{"S":"q"},"b":{"S":"3"}}}},` +
			`{"Update":{"TableName":"range","Key":{"a":{"S":"q"},"b":{"S":"2"}},"UpdateExpression":"SET c = :c","ExpressionAttributeValues":{":c":{"S":"y"}}}},` +
			`{"ConditionCheck":{"TableName":"range","Key":{"a":{"S":"p"},"b":{"S":"2"}},"ConditionExpression":"attribute_not_exists(a)"}}],"ClientRequestToken":"t",` + ask + `}`,
			`{"ConsumedCapacity":[{"CapacityUnits":6.0,"ReadCapacityUnits":6.0,"TableName":"range","Table":{"CapacityUnits":6.0,"ReadCapacityUnits":6.0}}]}`},
	} {
		if got := do(t, api, step.op, step.body); !answers(t, got, step.want) {
			t.Errorf("%s %s\n got %s\nwant %s", step.op, step.body, got, step.want)
		}
	}
}
