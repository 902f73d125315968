package web

import (
	"math"
	"net/http"

	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
)

const (
	maxSpeed    = 10_000
	maxPosition = 20_000        // balls; the longest Test has fewer
	maxSeed     = math.MaxInt32 // of a feed's faults; 0: none
)

// checkReplays returns an error if this node plays no recorded matches.
func (h *handlers) checkReplays() error {
	if h.Replay == nil {
		return fault.New(fault.NotFound, "replay_off", "This node plays no recorded matches: its feed is real.")
	}
	return nil
}

func (h *handlers) listTapes(*httpapi.Request) (httpapi.Response, error) {
	return httpapi.ReplyTagged(httpapi.NewList(h.Replay.Recordings(), ""))
}

func (h *handlers) listReplays(*httpapi.Request) (httpapi.Response, error) {
	return httpapi.ReplyTagged(httpapi.NewList(h.Replay.List(), ""))
}

// startReplay takes {tapeId, speed?, faults?}.
func (h *handlers) startReplay(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	start := replay.StartReplay{
		RecordingID: requiredMatch(b, "tapeId"), Speed: b.Number("speed", 0.01, maxSpeed, 1), Faults: uint64(b.Whole("faults", maxSeed, 0)),
	}
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	playing, err := h.Replay.Start(start)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Reply(http.StatusCreated, playing)
}

// controlReplay takes {action, position?, speed?, faults?}.
func (h *handlers) controlReplay(r *httpapi.Request) (httpapi.Response, error) {
	control := readControl(r.Body())
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	playing, err := h.Replay.Control(r.Param("id"), control)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Reply(http.StatusOK, playing)
}

// readControl reads an action and its parameters.
func readControl(b *bind.Body) replay.Control {
	action := func(name string) string { return b.OneOf(name, "play", "pause", "stop", "seek", "speed", "faults") }
	control := replay.Control{
		Action: bind.Need(b, "action", action), Position: int(b.Whole("position", maxPosition, 0)),
		Speed: b.Number("speed", 0.01, maxSpeed, 0), Faults: uint64(b.Whole("faults", maxSeed, 0)),
	}
	for action, member := range map[string]string{"seek": "position", "speed": "speed", "faults": "faults"} {
		if _, ok := b.Get(member); !ok && control.Action == action {
			b.Bad(member, "is required to %s", action)
		}
	}
	return control
}

func (h *handlers) deleteReplay(r *httpapi.Request) (httpapi.Response, error) {
	return httpapi.Response{}, h.Replay.Remove(r.Param("id"))
}
