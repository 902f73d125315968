package tables

import (
	"fmt"
	"strings"
)

// This file is the only place where a key string of a cricket table is built or parsed.

// DisplayKey is the cache key of a match's display state. The neutral view has no team.
func DisplayKey(matchID string) string { return "DISPLAY#" + matchID + "#-" }

// DisplayMatch returns the match of a neutral view's cache key.
func DisplayMatch(key string) (matchID string, ok bool) {
	rest, ok := strings.CutPrefix(key, "DISPLAY#")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, "#-")
}

// CardKey is the cache key of one innings of a match's scorecard.
func CardKey(matchID string, innings int) string { return fmt.Sprintf("CARD#%s#%d", matchID, innings) }

// CardMatch returns the match of a scorecard's cache key.
func CardMatch(key string) (matchID string, ok bool) {
	rest, ok := strings.CutPrefix(key, "CARD#")
	if !ok {
		return "", false
	}
	matchID, _, ok = strings.Cut(rest, "#")
	return matchID, ok
}

// PushKey is the key, in PushState, of what the pushing of a match has to remember: counters and the last timestamp.
func PushKey(matchID string) string { return "PUSH#" + matchID }

// ProviderKey is the key, in PushState, of what Apple knows this node by.
const ProviderKey = "APNS#provider"

// SessionKey is the sort key of a Live Activity: its attribute is literally named userId#deviceId.
func SessionKey(userID, deviceID string) string { return userID + "#" + deviceID }

// MatchLock is the lock that the poller of a match holds.
func MatchLock(matchID string) string { return "match:" + matchID }

// FeedLock is the lock of the node that leads those which poll: it finds the matches.
const FeedLock = "feed:livescores"

// FeedSlot is the lock of a place among the nodes that poll, from 0: the first is the leader's.
func FeedSlot(no int) string {
	if no == 0 {
		return FeedLock
	}
	return fmt.Sprintf("%s#%d", FeedLock, no)
}

// ReferenceLock is the lock of the one node that syncs fixtures, leagues and teams.
const ReferenceLock = "feed:reference"
