package cricket

// PushKey is the cache key of what the pushing of a match has to remember: counters and the last timestamp.
func PushKey(matchID string) string { return "PUSH#" + matchID }

// ProviderKey is the cache key of what Apple knows this node by. Like the rest of the display cache it never leaves
// the node.
const ProviderKey = "APNS#provider"
