// Package awsclients gives tests the clients of DynamoDB that other people use: boto3 and the AWS CLI for Python, the
// AWS SDK for JavaScript, and the test suite of guregu/dynamo, a Go library. Each comes from its registry the first
// time, in the versions that are pinned here, and lies in the user's cache folder from then on.
//
// Where Python, Node or the way to a registry is missing, a test is skipped and says so; CI takes a skipped test for a
// failure.
//
// Its own tests hold our endpoint to what these clients, and aws-sdk-go-v2, make of it, over real HTTP and with
// signatures that are verified. What they expect is literal, from DynamoDB's documentation. So that the scripts
// themselves are right, they also run against DynamoDB Local, and say where that one differs:
//
//	go test -tags long ./internal/testrig/awsclients -against local
//
// With -all a script shows all that differs, instead of the first.
package awsclients
