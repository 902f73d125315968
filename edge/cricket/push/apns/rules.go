package apns

import "net/http"

// Action is what an answer requires.
type Action uint8

// The actions.
const (
	Accepted   Action = iota // Apple has it; delivery is another matter
	Suspend                  // the token belongs to another environment or app: clear it from its session
	Gone                     // the token is dead since Result.Gone: clear it, or delete it if it was registered before
	Later                    // too many pushes for this token: drop this state, send a later one
	Retry                    // send the newest state again after a while
	Reconnect                // as Retry, on a new connection
	RenewToken               // create a new provider token and send once more
	KeepToken                // return to the previous provider token for 20 minutes
	Shrink                   // send a smaller payload once more
	Stop                     // our bug or configuration: retrying does not help; keep all tokens
)

// String names the action for logs and metrics.
func (a Action) String() string {
	names := [...]string{"accepted", "suspend", "gone", "later", "retry", "reconnect", "renew_token", "keep_token", "shrink", "stop"}
	if int(a) < len(names) {
		return names[a]
	}
	return "unknown"
}

// Rule is a row of Apple's table of reasons, with what to do.
type Rule struct {
	Status int
	Reason string // empty: any other reason with this status
	Action Action
	Alarm  bool
}

// Rules returns that table. Of statuses not in it, a 5xx comes from something on the way (retry); any other is not Apple's (stop).
func Rules() []Rule {
	return []Rule{
		{Status: http.StatusOK, Action: Accepted},

		{Status: 400, Reason: "BadDeviceToken", Action: Suspend},
		{Status: 400, Reason: "DeviceTokenNotForTopic", Action: Suspend, Alarm: true},
		{Status: 400, Reason: "IdleTimeout", Action: Reconnect},
		{Status: 400, Reason: "BadCollapseId", Action: Stop, Alarm: true},
		{Status: 400, Reason: "BadExpirationDate", Action: Stop, Alarm: true},
		{Status: 400, Reason: "BadMessageId", Action: Stop, Alarm: true},
		{Status: 400, Reason: "BadPriority", Action: Stop, Alarm: true},
		{Status: 400, Reason: "BadTopic", Action: Stop, Alarm: true},
		{Status: 400, Reason: "DuplicateHeaders", Action: Stop, Alarm: true},
		{Status: 400, Reason: "InvalidPushType", Action: Stop, Alarm: true},
		{Status: 400, Reason: "MissingDeviceToken", Action: Stop, Alarm: true},
		{Status: 400, Reason: "MissingTopic", Action: Stop, Alarm: true},
		{Status: 400, Reason: "PayloadEmpty", Action: Stop, Alarm: true},
		{Status: 400, Reason: "TopicDisallowed", Action: Stop, Alarm: true},
		{Status: 400, Action: Stop, Alarm: true},

		// Broadcast channels: one that Apple does not know is gone, and its phones are notified by token again.
		{Status: 400, Reason: "BadChannelId", Action: Gone},
		{Status: 400, Reason: "ChannelNotRegistered", Action: Gone},
		{Status: 400, Reason: "CannotCreateChannelConfig", Action: Later, Alarm: true}, // the app has too many
		{Status: 400, Reason: "MissingChannelId", Action: Stop, Alarm: true},
		{Status: 400, Reason: "MissingPushType", Action: Stop, Alarm: true},
		{Status: 400, Reason: "FeatureNotEnabled", Action: Stop, Alarm: true}, // for the app, at Apple
		{Status: 410, Reason: "ChannelNotRegistered", Action: Gone},

		{Status: 403, Reason: "ExpiredProviderToken", Action: RenewToken},
		{Status: 403, Reason: "BadCertificate", Action: Stop, Alarm: true},
		{Status: 403, Reason: "BadCertificateEnvironment", Action: Stop, Alarm: true},
		{Status: 403, Reason: "BadEnvironmentKeyInToken", Action: Stop, Alarm: true},
		{Status: 403, Reason: "Forbidden", Action: Stop, Alarm: true},
		{Status: 403, Reason: "InvalidProviderToken", Action: Stop, Alarm: true},
		{Status: 403, Reason: "MissingProviderToken", Action: Stop, Alarm: true},
		{Status: 403, Reason: "UnrelatedKeyIdInToken", Action: Stop, Alarm: true},
		{Status: 403, Action: Stop, Alarm: true},

		{Status: 404, Reason: "BadPath", Action: Stop, Alarm: true},
		{Status: 404, Action: Stop, Alarm: true},
		{Status: 405, Reason: "MethodNotAllowed", Action: Stop, Alarm: true},
		{Status: 405, Action: Stop, Alarm: true},

		{Status: 410, Reason: "Unregistered", Action: Gone},
		{Status: 410, Reason: "ExpiredToken", Action: Gone},
		{Status: 410, Action: Gone},

		{Status: 413, Reason: "PayloadTooLarge", Action: Shrink, Alarm: true},
		{Status: 413, Action: Shrink, Alarm: true},

		{Status: 429, Reason: "TooManyRequests", Action: Later},
		{Status: 429, Reason: "TooManyProviderTokenUpdates", Action: KeepToken, Alarm: true},
		{Status: 429, Action: Later},

		{Status: 500, Reason: "InternalServerError", Action: Retry},
		{Status: 503, Reason: "ServiceUnavailable", Action: Retry},
		{Status: 503, Reason: "Shutdown", Action: Reconnect},
	}
}

// verdict is the outcome of a Rule.
type verdict struct {
	action Action
	alarm  bool
}

type reasonKey struct {
	status int
	reason string
}

// classifier is Rules as a lookup table.
type classifier map[reasonKey]verdict

func newClassifier() classifier {
	c := classifier{}
	for _, r := range Rules() {
		c[reasonKey{r.Status, r.Reason}] = verdict{r.Action, r.Alarm}
	}
	return c
}

func (c classifier) classify(status int, reason string) verdict {
	if v, ok := c[reasonKey{status, reason}]; ok {
		return v
	}
	if v, ok := c[reasonKey{status, ""}]; ok {
		return v
	}
	if status >= 500 {
		return verdict{action: Retry}
	}
	return verdict{action: Stop, alarm: true}
}
