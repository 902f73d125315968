package apns

import "time"

// Type is the value of apns-push-type.
type Type string

// The push types this node sends.
const (
	TypeLiveActivity Type = "liveactivity"
	TypeAlert        Type = "alert"
)

// Priorities of a push. Urgent ones come out of a budget that the phone keeps; the others wait for a good moment.
const (
	PriorityUrgent = 10
	PriorityNormal = 5
)

// Push is one notification to one token, or to all who listen to a channel.
type Push struct {
	Token      string // hex
	Channel    string // of a broadcast, in place of the token
	ID         string // lower-case UUID, echoed by Apple; empty: Apple makes one
	Type       Type
	Priority   int
	Expiration time.Time // must be set: apns2 cannot say "now or never"
	CollapseID string    // at most 64 bytes, alerts only
	Payload    []byte    // JSON, at most 4,096 bytes
}

// Result is Apple's answer, classified. It is a value and not an error: a refusal is an ordinary answer, and what
// to do about it is in Action.
type Result struct {
	Action Action
	Alarm  bool   // a person must look: our bug, our configuration, our clock
	Status int    // 0: no answer came
	Reason string // Apple's word, or ours where no answer came
	ID     string // apns-id
	// RetryAfter is what Apple asked for, zero where it did not.
	RetryAfter time.Duration
	// Gone is when Apple first knew that the token was dead (410 only).
	Gone time.Time
	// Maybe is set where the push left and no answer came: the phone may have it.
	Maybe bool
	// Err is why no answer came, for logs; it holds no token.
	Err error

	conn uint64 // the connection it went by
}
