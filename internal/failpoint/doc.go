// Package failpoint names the places in the code where tests make a process die, panic, fail or wait: those between two steps that a
// crash can separate. In a program without armed points, each costs one atomic load.
//
// The points are listed in points.go. A test visits all of them, so it notices a point that no code reaches any more.
package failpoint
