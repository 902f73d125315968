package tables

import (
	"fmt"
	"strings"
)

// This file is the only place where a key string of a cricket table is built or parsed.

// DisplayKey returns the cache key of a match's display, in the neutral view, which has no team.
func DisplayKey(matchID string) string { return "DISPLAY#" + matchID + "#-" }

// DisplayMatch returns the match in a cache key of DisplayKey.
func DisplayMatch(key string) (matchID string, ok bool) {
	rest, ok := strings.CutPrefix(key, "DISPLAY#")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, "#-")
}

// CardKey returns the cache key of one innings of a match's scorecard.
func CardKey(matchID string, innings int) string { return fmt.Sprintf("CARD#%s#%d", matchID, innings) }

// CardMatch returns the match in a cache key of CardKey.
func CardMatch(key string) (matchID string, ok bool) {
	rest, ok := strings.CutPrefix(key, "CARD#")
	if !ok {
		return "", false
	}
	matchID, _, ok = strings.Cut(rest, "#")
	return matchID, ok
}

// PushKey returns the key in PushState of a match's push state: counters and the last timestamp.
func PushKey(matchID string) string { return "PUSH#" + matchID }

// SessionKey returns the sort key of a Live Activity. The attribute is literally named userId#deviceId.
func SessionKey(userID, deviceID string) string { return userID + "#" + deviceID }

// MatchLock returns the key of the lock that the poller of a match holds.
func MatchLock(matchID string) string { return "match:" + matchID }

// FeedLock is the lock of the leading node, which finds matches.
const FeedLock = "feed:livescores"

// FeedSlot returns the lock of a slot among the polling nodes, from 0: the first is the leader's.
func FeedSlot(no int) string {
	if no == 0 {
		return FeedLock
	}
	return fmt.Sprintf("%s#%d", FeedLock, no)
}

// ReferenceLock is the lock of the node that syncs fixtures, leagues and teams.
const ReferenceLock = "feed:reference"
