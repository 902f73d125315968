// Package refusal has the errors that several parts of the store share.
package refusal
