package sandbox

import (
	"encoding/json"
	"errors"
	"time"
)

// Alert is a notification that lights up the screen.
type Alert struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	Sound string `json:"sound,omitempty"`
}

// payload is the aps dictionary.
type payload struct {
	Timestamp      json.Number     `json:"timestamp"`
	Event          string          `json:"event"`
	ContentState   json.RawMessage `json:"content-state"`
	StaleDate      int64           `json:"stale-date"`
	DismissalDate  *int64          `json:"dismissal-date"`
	Alert          *Alert          `json:"alert"`
	AttributesType string          `json:"attributes-type"`
	Attributes     json.RawMessage `json:"attributes"`
	InputChannel   string          `json:"input-push-channel"`
	InputToken     int             `json:"input-push-token"`
}

// shapes are the types that the app can decode; nil: any.
type shapes struct {
	attributesType    string
	attributes, state schema
}

func (s *Sandbox) shapes() *shapes {
	if s.cfg.Lenient {
		return nil
	}
	return &shapes{attributesType: attributesType, attributes: attributes(), state: contentState()}
}

func decodePayload(body []byte) (payload, error) {
	var p struct {
		APS *payload `json:"aps"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return payload{}, errors.New("payload is not JSON of the right shape")
	}
	if p.APS == nil {
		return payload{}, errors.New("no aps dictionary")
	}
	return *p.APS, nil
}

// at returns the timestamp of the state. One in milliseconds is far in the future.
func (p payload) at(now time.Time) (time.Time, error) {
	n, err := p.Timestamp.Int64()
	if err != nil || n <= 0 {
		return time.Time{}, errors.New("timestamp is missing or not whole seconds")
	}
	if at := unix(n); at.Before(now.AddDate(1, 0, 0)) {
		return at, nil
	}
	return time.Time{}, errors.New("timestamp is not in seconds")
}

// wantStart returns an error if a push cannot start an activity.
func (p payload) wantStart(fit *shapes) error {
	switch {
	case p.Event != "start":
		return errors.New("not a start: only a start goes to a push-to-start token")
	case p.Alert == nil || p.Alert.Title == "" || p.Alert.Body == "":
		return errors.New("start without alert")
	case p.AttributesType == "" || fit != nil && p.AttributesType != fit.attributesType:
		return errors.New("attributes-type is missing or another app's")
	case len(p.Attributes) == 0:
		return errors.New("start without attributes")
	}
	if fit == nil {
		return p.wantState(fit)
	}
	if err := decode(p.Attributes, fit.attributes); err != nil {
		return errors.New("attributes: " + err.Error())
	}
	return p.wantState(fit)
}

// wantUpdate returns an error if a push cannot update an activity. An end needs no state.
func (p payload) wantUpdate(fit *shapes) error {
	switch p.Event {
	case "update":
		return p.wantState(fit)
	case "end":
		if len(p.ContentState) == 0 {
			return nil
		}
		return p.wantState(fit)
	default:
		return errors.New("event is neither update nor end")
	}
}

func (p payload) wantState(fit *shapes) error {
	if len(p.ContentState) == 0 {
		return errors.New("no content-state")
	}
	if fit == nil {
		return nil
	}
	if err := decode(p.ContentState, fit.state); err != nil {
		return errors.New("content-state: " + err.Error())
	}
	return nil
}
