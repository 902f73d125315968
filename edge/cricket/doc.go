// Package cricket is the rules of a match: what a snapshot of the feed says, what happened since the last, what phones are
// told of it, and what is shown. It is pure: nothing in it reads a store, a clock or a network.
//
// A Snapshot goes with the stored State into Step, which returns the next State, the Events to record with at most one alert
// among them, and the Display. The packages below it do the rest: matches keeps all that in the tables, in one transaction a
// tick; reference keeps leagues and teams; phone keeps follows, devices and Live Activities; payload makes what a phone is
// sent; tables declares where everything lies.
package cricket
