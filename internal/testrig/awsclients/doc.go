// Package awsclients provides tests with the DynamoDB clients that other people use: boto3 and the AWS CLI for Python, the AWS SDK for
// JavaScript, and the test suite of guregu/dynamo, a Go library. Each is fetched from its registry on first use, in the versions pinned
// here, and then kept in the user's cache folder.
//
// Without Python, Node or access to a registry, a test is skipped with a message; CI treats a skipped test as a failure.
//
// The tests of this package check our endpoint with these clients and aws-sdk-go-v2, over real HTTP and with verified signatures. The
// expected results are literals from DynamoDB's documentation. To verify the scripts themselves, they also run against DynamoDB Local,
// and note where it differs:
//
//	go test -tags long ./internal/testrig/awsclients -against local
//
// With -all a script reports all differences instead of only the first.
package awsclients
