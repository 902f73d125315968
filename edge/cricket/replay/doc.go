// Package replay serves a recorded match as a live feed: the JSON, paths and behaviour of SportMonks' Cricket
// API v2.0, all as a pure function of match and time. Nothing ticks: Match.MomentAt returns the state at a time,
// Match.NextChange when it changes next, and NewFeed reads the clock once per request.
//
// A feed may have faults (NewFeed): they are planned from a seed when the feed is created, so its answers are a function
// of time as well. A Set plays many matches at once on the wall clock, each with its own timetable and controls.
//
// The recordings (folder matches, read by package recording) have no times and no ball numbers; both are derived,
// see timetable.go. Each ball is rendered once and its bytes are kept, so in a long match a poll costs only a copy.
package replay
