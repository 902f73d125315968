package payload

import (
	"crypto/sha1" //nolint:gosec // an id, not a secret
	"encoding/hex"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
)

// Notification is an ordinary notification, for a phone that shows no card of the match, or from an admin.
type Notification struct {
	Title    string
	Subtitle string // empty: none
	Body     string
	Thread   string // notifications with the same one are a group; empty: none
	Silent   bool   // it joins the list of notifications: neither sound nor light
	MatchID  string // for the app; empty: not about a match
	Event    string // key of the event
	NoCard   string // why there is no card; empty: not said
}

// notificationBody is the payload of a Notification.
type notificationBody struct {
	APS     notificationAPS `json:"aps"`
	MatchID string          `json:"matchId,omitempty"`
	Event   string          `json:"event,omitempty"`
	NoCard  string          `json:"noCard,omitempty"`
}

type notificationAPS struct {
	Alert        notificationAlert `json:"alert"`
	Sound        string            `json:"sound,omitempty"`
	Thread       string            `json:"thread-id,omitempty"`
	Interruption string            `json:"interruption-level"`
}

type notificationAlert struct {
	Title    string `json:"title"`
	Subtitle string `json:"subtitle,omitempty"`
	Body     string `json:"body"`
}

// NewNotification returns the notification of an event: what the alert of a card says, and which match it is.
func NewNotification(d *cricket.Display, matchID string, e *cricket.Event) Notification {
	n := Notification{Title: cut(e.Text, 170), Thread: "match-" + matchID, MatchID: matchID, Event: e.Key}
	if d == nil {
		n.Title, n.Body = "Cricket", cut(e.Text, 170)
		return n
	}
	a := NewAlert(d, e)
	n.Title, n.Body = cut(versus(d), 60), a.Body
	if a.Title != n.Title {
		n.Subtitle = a.Title
	}
	return n
}

// Encode returns the payload.
func (n *Notification) Encode() ([]byte, error) {
	body := notificationBody{MatchID: n.MatchID, Event: n.Event, NoCard: n.NoCard}
	body.APS = notificationAPS{
		Alert: notificationAlert{Title: n.Title, Subtitle: n.Subtitle, Body: n.Body},
		Sound: alertSound, Thread: n.Thread, Interruption: "active",
	}
	if n.Silent {
		body.APS.Sound, body.APS.Interruption = "", "passive"
	}
	raw, err := encodeContent(body)
	if err == nil && len(raw) > MaxPush {
		return nil, fault.New(fault.TooLarge, "push_size", "the notification has %d bytes, Apple accepts %d", len(raw), MaxPush)
	}
	return raw, err
}

// MatchCollapseID returns the collapse id of a match's states. Apple's documents say nothing of collapse ids for Live Activities.
func MatchCollapseID(matchID string) string {
	sum := sha1.Sum([]byte(matchID)) //nolint:gosec // an id, not a secret
	return hex.EncodeToString(sum[:])
}

// CollapseID returns the collapse id of an event's notifications: an event and its corrections have the same one, so that a correction
// replaces what it corrects. Apple allows 64 bytes.
func CollapseID(matchID string, e *cricket.Event) string {
	sum := sha1.Sum([]byte(matchID + "|" + e.FactKey())) //nolint:gosec // an id, not a secret
	return hex.EncodeToString(sum[:])
}
