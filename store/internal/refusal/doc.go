// Package refusal makes the errors that several parts of the store have in common.
package refusal
