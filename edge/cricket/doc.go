// Package cricket is the cricket domain of Sightscreen: entities and keys of its tables, the state of a match, the
// rules that tell what happened and who is to be told, the display state, follows, devices and Live Activities.
//
// The data's way through it: a Snapshot (one reading of the feed) goes with the stored State into Step, which gives
// the next State, the Events to record with at most one alert among them, and the Display. Service.Tick does that
// in one store transaction; everybody else reads the journal behind it.
package cricket
