// Package push notifies phones about matches: which phone is notified of what, once. The Coordinator follows the
// journal of what the rest of the node writes, keeps a Live Activity on the lock screen of every follower, and
// sends each the newest state or an alert. DESIGN.md in this directory states the guarantees and what a crash does.
package push
