package apns

import "time"

// Type is a value of apns-push-type.
type Type string

// The push types this node sends.
const (
	TypeLiveActivity Type = "liveactivity"
	TypeAlert        Type = "alert"
)

// Priorities of a push. Urgent ones use up a budget that the phone keeps; the others are delivered when convenient.
const (
	PriorityUrgent = 10
	PriorityNormal = 5
)

// Push is one notification to a token or to all listeners of a channel.
type Push struct {
	Token       string // hex
	Channel     string // for a broadcast, instead of the token
	ID          string // lower-case UUID, echoed by Apple; empty: Apple creates one
	Type        Type
	Priority    int
	Expiration  time.Time // required: apns2 cannot express "now or never"
	CollapseID  string    // at most 64 bytes, alerts only
	Development bool      // the token is of Config.DevelopmentHost, if there is one
	Payload     []byte    // JSON, at most 4,096 bytes
}

// Result is Apple's classified answer. It is a value, not an error: a refusal is an ordinary answer, and Action says what to do.
type Result struct {
	Action Action
	Alarm  bool   // an operator is needed: our bug, configuration or clock
	Status int    // 0: no answer
	Reason string // Apple's reason, or ours if there was no answer
	ID     string // apns-id
	// RetryAfter is the wait that Apple asked for, zero if none.
	RetryAfter time.Duration
	// Gone is since when Apple has known the token to be dead (410 only).
	Gone time.Time
	// Maybe is set if the push was sent and no answer came: the phone may have it.
	Maybe bool
	// Err is why no answer came, for logs; it contains no token.
	Err error

	conn *connection // that it was sent on
}

// SaysNothing reports whether an answer says nothing about the token: there were too many pushes at once, or Apple was not well.
func (r *Result) SaysNothing() bool {
	return r.Action == Later || r.Action == Retry || r.Action == Reconnect
}
