package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket/payload"
)

// aps is the payload's dictionary for the phone.
type aps struct {
	Timestamp      json.Number     `json:"timestamp"`
	Event          string          `json:"event"`
	ContentState   json.RawMessage `json:"content-state"`
	StaleDate      int64           `json:"stale-date"`
	Relevance      float64         `json:"relevance-score"`
	DismissalDate  *int64          `json:"dismissal-date"`
	Alert          *payload.Alert  `json:"alert"`
	AttributesType string          `json:"attributes-type"`
	Attributes     json.RawMessage `json:"attributes"`
	InputChannel   string          `json:"input-push-channel"`
	InputToken     int             `json:"input-push-token"`
}

func decodePayload(body []byte) (aps, error) {
	var p struct {
		APS *aps `json:"aps"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return aps{}, errors.New("payload is not JSON of the right shape")
	}
	if p.APS == nil {
		return aps{}, errors.New("no aps dictionary")
	}
	return *p.APS, nil
}

// stateTime returns the timestamp of the state. One in milliseconds is far in the future.
func (p aps) stateTime(now time.Time) (time.Time, error) {
	n, err := p.Timestamp.Int64()
	if err != nil || n <= 0 {
		return time.Time{}, errors.New("timestamp is missing or not whole seconds")
	}
	if at := unix(n); at.Before(now.AddDate(1, 0, 0)) {
		return at, nil
	}
	return time.Time{}, errors.New("timestamp is not in seconds")
}

// wantStart returns an error if a push cannot start an activity. Of a lenient sandbox's app the types are unknown.
func (p aps) wantStart(lenient bool) error {
	switch {
	case p.Event != "start":
		return errors.New("not a start: only a start goes to a push-to-start token")
	case p.Alert == nil || p.Alert.Title == "" || p.Alert.Body == "":
		return errors.New("start without alert")
	case p.AttributesType == "" || !lenient && p.AttributesType != payload.AttributesType:
		return errors.New("attributes-type is missing or another app's")
	case len(p.Attributes) == 0:
		return errors.New("start without attributes")
	}
	if !lenient {
		if err := decode(p.Attributes, &payload.Attributes{}); err != nil {
			return fmt.Errorf("attributes: %w", err)
		}
	}
	return p.wantState(lenient)
}

// wantUpdate returns an error if a push cannot update an activity. An end needs no state.
func (p aps) wantUpdate(lenient bool) error {
	switch {
	case p.Event != "update" && p.Event != "end":
		return errors.New("event is neither update nor end")
	case p.Event == "end" && len(p.ContentState) == 0:
		return nil
	}
	return p.wantState(lenient)
}

func (p aps) wantState(lenient bool) error {
	if len(p.ContentState) == 0 {
		return errors.New("no content-state")
	}
	if lenient {
		return nil
	}
	if err := decode(p.ContentState, &payload.ContentState{}); err != nil {
		return fmt.Errorf("content-state: %w", err)
	}
	return nil
}

// decode returns an error if the app could not decode a part of a payload into its struct, which into points to. A
// property is required if Go writes it even when it is empty. Unknown properties are errors too: Swift ignores them, but
// here they mean that node and app have drifted apart.
func decode(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	whole, err := json.Marshal(into)
	if err != nil {
		return err
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(raw, &got), json.Unmarshal(whole, &want)); err != nil {
		return err
	}
	return missing("", want, got)
}

// missing returns an error for the first thing that is in want and not in got.
func missing(at string, want, got any) error {
	if got == nil {
		return fmt.Errorf("%s is missing", strings.TrimPrefix(at, "."))
	}
	switch want := want.(type) {
	case map[string]any:
		m, _ := got.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if err := missing(at+"."+name, want[name], m[name]); err != nil {
				return err
			}
		}
	case []any:
		list, _ := got.([]any)
		for i := range want {
			var element any
			if i < len(list) { // Go also reads a property whose name is in another case
				element = list[i]
			}
			if err := missing(fmt.Sprintf("%s[%d]", at, i), want[i], element); err != nil {
				return err
			}
		}
	}
	return nil
}
