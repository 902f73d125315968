// Package replay serves a recorded match as a live feed: the JSON, paths and manners of SportMonks' Cricket API v2.0,
// with everything a pure function of the match and the instant. Nothing ticks: Match.At tells how things stand at an
// instant, Match.NextChange when that is over, and NewFeed asks the clock once a request.
//
// A feed may have faults (NewFeed): what it says is then planned from a seed when the feed is created, and is a function of the
// instant as well. A Set plays many matches at once on the wall clock, under controls: each has a timetable of its own.
//
// The recordings (folder matches, read by package recording) have no times and no ball numbers; both are derived, see
// timetable.go. Each ball is rendered once and its bytes are kept, so a long match costs no more a poll than a copy.
package replay
