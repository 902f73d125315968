package cricket

// PushKey is the cache key of what the pushing of a match has to remember: counters and the last timestamp.
func PushKey(matchID string) string { return "PUSH#" + matchID }

// BearerKey is the cache key of the provider token. Like the rest of the display cache it never leaves the node.
const BearerKey = "APNS#bearer"
