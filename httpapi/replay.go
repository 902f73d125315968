package httpapi

import (
	"math"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/fault"
)

// ReplayDeck plays recorded matches as if they were live. Unknown tapes and replays are fault.NotFound, what cannot be
// done now fault.Conflict, what makes no sense fault.Invalid.
type ReplayDeck interface {
	// Tapes lists what can be played.
	Tapes() []Tape
	// Start plays a tape from its beginning.
	Start(r StartReplay) (Playing, error)
	// List returns what was started and not removed.
	List() []Playing
	// Control changes a replay.
	Control(id string, c ReplayControl) (Playing, error)
	// Remove ends a replay and forgets it.
	Remove(id string) error
}

// StartReplay asks for a tape to be played.
type StartReplay struct {
	TapeID string
	Speed  float64 // 1: a ball every MsPerBall
	Faults uint64  // seed of the lies that the feed tells; 0: none
}

// ReplayControl changes a replay: Action is play, pause, stop, seek, speed or faults.
type ReplayControl struct {
	Action   string
	Position int     // of seek: the number of balls bowled
	Speed    float64 // of speed
	Faults   uint64  // of faults
}

const (
	maxSpeed    = 10_000
	maxPosition = 20_000 // balls; the longest Test has fewer
)

func (s *Server) deck() (ReplayDeck, error) {
	if s.cfg.Replay == nil {
		return nil, fault.New(fault.NotFound, "replay_off", "This node plays no recorded matches: its feed is real.")
	}
	return s.cfg.Replay, nil
}

func (s *Server) getTapes(c *gin.Context) error {
	deck, err := s.deck()
	if err != nil {
		return err
	}
	return writeJSON(c, newList(deck.Tapes(), ""))
}

func (s *Server) getReplays(c *gin.Context) error {
	deck, err := s.deck()
	if err != nil {
		return err
	}
	return writeJSON(c, newList(deck.List(), ""))
}

// postReplay: {tapeId, speed?, faults?}.
func (s *Server) postReplay(c *gin.Context) error {
	deck, err := s.deck()
	if err != nil {
		return err
	}
	b, err := readBody(c)
	if err != nil {
		return err
	}
	ask := StartReplay{
		TapeID: need(b, "tapeId", b.id), Speed: b.number("speed", 0.01, maxSpeed, 1), Faults: b.seed("faults"),
	}
	if err := b.err(); err != nil {
		return err
	}
	p, err := deck.Start(ask)
	if err != nil {
		return err
	}
	return answerWith(c, http.StatusCreated, p)
}

// postReplayControl: {action, position?, speed?, faults?}.
func (s *Server) postReplayControl(c *gin.Context) error {
	deck, err := s.deck()
	if err != nil {
		return err
	}
	b, err := readBody(c)
	if err != nil {
		return err
	}
	ask, err := readControl(b)
	if err != nil {
		return err
	}
	p, err := deck.Control(c.Param("id"), ask)
	if err != nil {
		return err
	}
	return answerWith(c, http.StatusOK, p)
}

// readControl reads an action with what it needs.
func readControl(b *body) (ReplayControl, error) {
	ask := ReplayControl{
		Action:   need(b, "action", func(n string) string { return b.oneOf(n, "play", "pause", "stop", "seek", "speed", "faults") }),
		Position: int(b.whole("position", maxPosition, 0)), Speed: b.number("speed", 0.01, maxSpeed, 0), Faults: b.seed("faults"),
	}
	for action, member := range map[string]string{"seek": "position", "speed": "speed", "faults": "faults"} {
		if _, ok := b.get(member); !ok && ask.Action == action {
			b.bad(member, "is required to %s", action)
		}
	}
	return ask, b.err()
}

// seed reads the seed of a feed's lies; 0, or absent: none.
func (b *body) seed(name string) uint64 { return uint64(b.whole(name, math.MaxInt32, 0)) }

func (s *Server) deleteReplay(c *gin.Context) error {
	deck, err := s.deck()
	if err != nil {
		return err
	}
	if err := deck.Remove(c.Param("id")); err != nil {
		return err
	}
	return noContent(c)
}
