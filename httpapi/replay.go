package httpapi

import (
	"context"
	"time"
)

// ReplayDeck plays recorded matches as if they were live. Unknown tapes and replays are fault.NotFound, what cannot be
// done now fault.Conflict, what makes no sense fault.Invalid.
type ReplayDeck interface {
	// Tapes lists what can be played.
	Tapes() []Tape
	// Start plays a tape from its beginning.
	Start(ctx context.Context, r StartReplay) (Playing, error)
	// List gives what was started and not removed.
	List() []Playing
	// Control changes a replay.
	Control(ctx context.Context, id string, c ReplayControl) (Playing, error)
	// Remove ends a replay and forgets it.
	Remove(ctx context.Context, id string) error
}

// Tape is a finished match that can be played.
type Tape struct {
	ID     string `json:"id"`
	Title  string `json:"title"`  // "England v New Zealand"
	Detail string `json:"detail"` // "World Cup 2019, final"
	Type   string `json:"type"`   // ODI, T20, Test/5day
	Balls  int    `json:"balls"`
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

// Playing is a replay.
type Playing struct {
	ID        string    `json:"id"`
	TapeID    string    `json:"tapeId"`
	MatchID   string    `json:"matchId"`
	Title     string    `json:"title"`
	Status    string    `json:"status"` // playing, paused, stopped, finished, or what the match is in ("Innings Break")
	Cursor    int       `json:"cursor"` // balls bowled
	Balls     int       `json:"balls"`
	MsPerBall float64   `json:"msPerBall"`
	Speed     float64   `json:"speed"`
	Faults    uint64    `json:"faults"`
	StartedAt time.Time `json:"startedAt"`
}
