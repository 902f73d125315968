package web

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Names of the events in a match's stream.
const (
	frameDisplay = "display"
	frameEvent   = "event"
	frameCard    = "card"
)

// streamMatch streams a match: display, card (one innings) and event. It starts with a snapshot: all events, all
// innings and the display. Events carry their key: an event with a known key replaces the earlier one.
func (h *handlers) streamMatch(r *httpapi.Request) (httpapi.Response, error) {
	match, err := matchID(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	if _, err := h.Service.Match(r.Context(), match); err != nil {
		return httpapi.Response{}, err
	}
	return r.Stream("match", match)
}

// streamAll streams all matches: the same events as streamMatch, in an envelope with the match id. Its snapshot
// has the displays of live matches.
func (h *handlers) streamAll(r *httpapi.Request) (httpapi.Response, error) {
	return r.Stream("all", "")
}

// topicOf turns a journal record into a stream event; a topic is a match. Display and card are journaled as the JSON that is sent.
func topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	if r.New == nil {
		return sse.Change{}, false, nil // swept: the match was over long ago
	}
	switch r.Table {
	case tables.Display:
		key := r.Key["cacheKey"].Str()
		name := frameDisplay
		match, ok := tables.DisplayMatch(key)
		if !ok {
			name = frameCard
			match, ok = tables.CardMatch(key)
		}
		if !ok {
			return sse.Change{}, false, nil
		}
		ch = change(match, sse.NewFrame(name, r.Seq, []byte(r.New["state"].Str())))
		ch.Frame.Slot = key
		return ch, true, nil
	case tables.Events:
		var e cricket.Event
		if err := attr.Unmarshal(r.New, &e); err != nil {
			return sse.Change{}, false, fmt.Errorf("journal record %d: %w", r.Seq, err)
		}
		data, err := json.Marshal(e)
		if err != nil {
			return sse.Change{}, false, fmt.Errorf("journal record %d: %w", r.Seq, err)
		}
		return change(r.Key["matchId"].Str(), sse.NewFrame(frameEvent, r.Seq, data)), true, nil
	case tables.Fixtures:
		// A fixture alone is not sent, but lists of matches depend on it.
		return sse.Change{Topic: r.Key["matchId"].Str()}, true, nil
	default:
		return sse.Change{}, false, nil
	}
}

func change(match string, f sse.Frame) sse.Change {
	return sse.Change{Topic: match, Frame: f, All: func() sse.Frame { return wide(match, f) }}
}

// wide returns the frame for readers of all matches: {"matchId":"7","display":{...}}.
func wide(match string, f sse.Frame) sse.Frame {
	id, err := json.Marshal(match)
	if err != nil {
		panic(err) // a string
	}
	return sse.NewFrame(f.Name, f.Seq, fmt.Appendf(nil, `{"matchId":%s,%q:%s}`, id, f.Name, f.Data))
}

// snapshot returns the first frames of a stream.
func (h *handlers) snapshot(ctx context.Context, match string) ([]sse.Frame, error) {
	if match == "" {
		return h.liveFrames(ctx)
	}
	events, err := h.Service.Events(ctx, match)
	if err != nil {
		return nil, err
	}
	card, err := h.Service.Card(ctx, match)
	if err != nil {
		return nil, err
	}
	frames := make([]sse.Frame, 0, len(events)+len(card.Innings)+1)
	for i := range events {
		if frames, err = appendFrame(frames, frameEvent, events[i]); err != nil {
			return nil, err
		}
	}
	for i := range card.Innings {
		if frames, err = appendFrame(frames, frameCard, card.Innings[i]); err != nil {
			return nil, err
		}
	}
	return h.displayFrame(ctx, frames, match)
}

// displayFrame appends the display of a match, if it has one.
func (h *handlers) displayFrame(ctx context.Context, frames []sse.Frame, match string) ([]sse.Frame, error) {
	display, err := h.Service.Display(ctx, match)
	if fault.Is(err, fault.NotFound) {
		return frames, nil
	}
	if err != nil {
		return nil, err
	}
	return appendFrame(frames, frameDisplay, display)
}

// liveFrames returns the displays of live matches, each with its match id.
func (h *handlers) liveFrames(ctx context.Context) (out []sse.Frame, err error) {
	on, err := h.Service.Live(ctx)
	if err != nil {
		return nil, err
	}
	for i := range on {
		id := on[i].MatchID
		one, err := h.displayFrame(ctx, nil, id)
		if err != nil {
			return nil, err
		}
		for j := range one {
			out = append(out, wide(id, one[j]))
		}
	}
	return out, nil
}

func appendFrame[T cricket.Event | cricket.CardInnings | cricket.Display](frames []sse.Frame, name string, v T) ([]sse.Frame, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	return append(frames, sse.Frame{Name: name, Data: data}), nil
}
