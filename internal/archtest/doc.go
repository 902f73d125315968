// Package archtest checks the structure of the tree with tests, so that it stays as docs/ARCHITECTURE.md describes it: which packages may
// import which, what is at the top level, that every package has a doc comment, how long a file may be, that package variables never
// change, that tests wait with internal/testrig/wait, and that everything named in the documents exists. What can be checked in a single
// file is left to the linters (.golangci.yml).
//
// If a rule has to change, change it here in the same commit as the document, and give the reason in the commit message.
package archtest
