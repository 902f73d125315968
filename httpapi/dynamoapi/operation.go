package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
)

// request is the input of one operation.
type request interface {
	// members names the request's members and where to store them.
	members(m *wire.Member)
	// constrain records violations of the API's model (lengths, patterns, ranges and enumerations), in the service's order.
	constrain(c *constraints)
	// touches reports the tables of the request, as named in it, and the action on each as named in permissions, mostly the operation's
	// name.
	touches(operation string, visit func(action, table string))
	// run makes the operation's own checks in the service's order, does the work, and writes the members of the answer.
	run(c *call) error
}

// nothingAsked is a request without members.
type nothingAsked struct{}

func (nothingAsked) members(*wire.Member)                       {}
func (nothingAsked) constrain(*constraints)                     {}
func (nothingAsked) touches(string, func(action, table string)) {}

// ofTable is the TableName of a request about one table.
type ofTable struct{ table wire.Opt[string] }

func (r *ofTable) touches(operation string, visit func(action, table string)) {
	visit(operation, r.table.V)
}

// operation is an entry of the table of operations.
type operation struct {
	name string
	new  func() request
}

// operations returns the API's operations, sorted by name. A new operation is a type that implements request and a line here; a test
// then requires its name in package inject.
func operations() []operation {
	return []operation{
		{"BatchExecuteStatement", func() request { return new(batchExecuteStatement) }},
		{"BatchGetItem", func() request { return new(batchGetItem) }},
		{"BatchWriteItem", func() request { return new(batchWriteItem) }},
		{"CreateTable", func() request { return new(createTable) }},
		{"DeleteItem", func() request { return new(deleteItem) }},
		{"DeleteTable", func() request { return new(deleteTable) }},
		{"DescribeEndpoints", func() request { return new(describeEndpoints) }},
		{"DescribeLimits", func() request { return new(describeLimits) }},
		{"DescribeStream", func() request { return new(describeStream) }},
		{"DescribeTable", func() request { return new(describeTable) }},
		{"DescribeTimeToLive", func() request { return new(describeTimeToLive) }},
		{"ExecuteStatement", func() request { return new(executeStatement) }},
		{"ExecuteTransaction", func() request { return new(executeTransaction) }},
		{"GetItem", func() request { return new(getItem) }},
		{"GetRecords", func() request { return new(getRecords) }},
		{"GetShardIterator", func() request { return new(getShardIterator) }},
		{"ListStreams", func() request { return new(listStreams) }},
		{"ListTables", func() request { return new(listTables) }},
		{"ListTagsOfResource", func() request { return new(listTagsOfResource) }},
		{"PutItem", func() request { return new(putItem) }},
		{"Query", func() request { return new(query) }},
		{"Scan", func() request { return new(scan) }},
		{"TagResource", func() request { return new(tagResource) }},
		{"TransactGetItems", func() request { return new(transactGetItems) }},
		{"TransactWriteItems", func() request { return new(transactWriteItems) }},
		{"UntagResource", func() request { return new(untagResource) }},
		{"UpdateItem", func() request { return new(updateItem) }},
		{"UpdateTable", func() request { return new(updateTable) }},
		{"UpdateTimeToLive", func() request { return new(updateTimeToLive) }},
	}
}
