// Package archtest holds the shape of the tree as tests, so that it stays what docs/ARCHITECTURE.md says: who may
// import whom, what lies at the top level, that every package says what it is for, how long a file may get, that
// package variables never change, and that what the documents name exists. What can be seen in one file alone is
// the linters' part (.golangci.yml).
//
// A rule that stands in the way is changed here, in the same commit as the document, with the reason in its body.
package archtest
