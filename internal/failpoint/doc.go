// Package failpoint names the places in the code where tests make a process die, panic, fail or wait: those between
// two steps that a crash may tear apart. A program that nobody armed pays one atomic load at each.
//
// The list of points is points.go. A test goes through it, so that a point that no code reaches any more is noticed.
package failpoint
