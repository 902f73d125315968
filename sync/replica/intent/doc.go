// Package intent is the protocol that brings a local write to DynamoDB exactly once: what is sent, under which guards, and what
// each answer means. It is pure: entries, answers and instants go in, actions and outcomes come out. Package replica stores the
// entries and talks to the cloud.
package intent
