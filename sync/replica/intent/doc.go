// Package intent is the protocol by which a local write reaches DynamoDB exactly once: what is sent, under which guards,
// and what each answer means. It is pure: entries, answers and instants go in, actions and outcomes come out. Package
// replica keeps the entries and asks the cloud.
package intent
