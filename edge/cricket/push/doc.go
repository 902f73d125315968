// Package push tells phones about matches: who is told what, once. The Coordinator reads the journal behind what the
// rest of the node wrote, keeps a Live Activity on the lock screen of every follower, and sends each of them the
// newest state or an alert. DESIGN.md beside this file says what holds and what a crash does.
package push
