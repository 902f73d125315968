package web

import (
	"math"
	"net/http"

	"github.com/gin-gonic/gin"

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

// withReplays passes this node's replay set to a handler.
func (a *api) withReplays(do func(c *gin.Context, set ReplaySet) error) httpapi.Handler {
	return func(c *gin.Context) error {
		if a.Replay == nil {
			return fault.New(fault.NotFound, "replay_off", "This node plays no recorded matches: its feed is real.")
		}
		return do(c, a.Replay)
	}
}

func getRecordings(c *gin.Context, set ReplaySet) error {
	return httpapi.JSON(c, httpapi.NewList(set.Recordings(), ""), nil)
}

func getReplays(c *gin.Context, set ReplaySet) error {
	return httpapi.JSON(c, httpapi.NewList(set.List(), ""), nil)
}

// postReplay: {tapeId, speed?, faults?}.
func postReplay(c *gin.Context, set ReplaySet) error {
	b := httpapi.Body(c)
	ask := replay.StartReplay{
		RecordingID: bind.Need(b, "tapeId", matchMember(b)), Speed: b.Number("speed", 0.01, maxSpeed, 1), Faults: uint64(b.Whole("faults", maxSeed, 0)),
	}
	if err := b.Err(); err != nil {
		return err
	}
	p, err := set.Start(ask)
	return httpapi.Answer(c, http.StatusCreated, p, err)
}

// postReplayControl: {action, position?, speed?, faults?}.
func postReplayControl(c *gin.Context, set ReplaySet) error {
	b := httpapi.Body(c)
	ask, err := readControl(b)
	if err != nil {
		return err
	}
	p, err := set.Control(c.Param("id"), ask)
	return httpapi.Answer(c, http.StatusOK, p, err)
}

// readControl reads an action and its parameters.
func readControl(b *bind.Body) (replay.Control, error) {
	action := func(name string) string { return b.OneOf(name, "play", "pause", "stop", "seek", "speed", "faults") }
	ask := replay.Control{
		Action: bind.Need(b, "action", action), Position: int(b.Whole("position", maxPosition, 0)),
		Speed: b.Number("speed", 0.01, maxSpeed, 0), Faults: uint64(b.Whole("faults", maxSeed, 0)),
	}
	for action, member := range map[string]string{"seek": "position", "speed": "speed", "faults": "faults"} {
		if _, ok := b.Get(member); !ok && ask.Action == action {
			b.Bad(member, "is required to %s", action)
		}
	}
	return ask, b.Err()
}

func deleteReplay(c *gin.Context, set ReplaySet) error {
	if err := set.Remove(c.Param("id")); err != nil {
		return err
	}
	return httpapi.NoContent(c)
}
