// Package cricket holds the rules of a match: what a snapshot of the feed shows, what happened since the last
// one, what phones are told, and what is displayed. The package is pure: it uses no store, clock or network.
//
// Step takes the stored State and a Snapshot, and returns the next State, the Events to record (at most one of them an
// alert) and the Display. The packages below it do the rest: matches stores the outcome, one transaction per tick;
// reference keeps leagues and teams; phone keeps follows, devices and Live Activities; payload builds what a phone is sent;
// tables declares the tables.
package cricket
