// Package expr is DynamoDB's expression language: conditions and filters, key conditions, updates, projections.
//
// A text is parsed once, into a form that knows placeholders by number only and is kept in a Cache. Bind takes all the
// expressions of a request with its names and values and gives what can be run: Condition.Match, Update.Apply,
// KeyRange, Projection.Project. What DynamoDB refuses is refused, with a fault of kind Invalid, code "validation"
// and DynamoDB's words. DESIGN.md has the rules on one page.
package expr
