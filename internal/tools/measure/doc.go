// Package measure is what the programs that measure touchline's targets share: taking samples of things that are
// compared in turns, figures with their spread, rows that are held against a target and printed as a table, and what a
// machine tells of itself and of its processes.
package measure
