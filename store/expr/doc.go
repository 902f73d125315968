// Package expr implements DynamoDB's expression language: conditions and filters, key conditions, updates, projections.
//
// A text is parsed once, into a form that refers to placeholders by number and is kept in a Cache. Bind takes all expressions of a
// request with its names and values, and returns what can be run: Condition.Match, Update.Apply, KeyRange, Projection.Project. What
// DynamoDB refuses is refused with a fault of kind Invalid, code "validation" and DynamoDB's text. DESIGN.md has the rules on one page.
package expr
