// Package clienttest holds the DynamoDB API to what other people's clients make of it, over real HTTP: boto3, the AWS
// CLI, the AWS SDKs for Go and for JavaScript, and the tests of guregu/dynamo. What they expect is literal, from
// DynamoDB's documentation. So that the scripts themselves are right, they also run against DynamoDB Local, and say
// where that one differs:
//
//	go test -tags long ./httpapi/dynamoapi/clienttest -against local
//
// Everything is in the tests, with the build tag long.
package clienttest
