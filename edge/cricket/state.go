package cricket

import "time"

// The states of a row in active-matches.
const (
	ActiveIdle      = "idle"      // about to start
	ActiveLive      = "live"      // polled, its events announced to phones
	ActivePostponed = "postponed" // told as postponed or cancelled; not polled until the feed gives it another time
	ActiveEnded     = "ended"     // archived
)

// lastBalls is how many balls the state keeps.
const lastBalls = 30

// State is what one tick leaves for the next: the match's row in active-matches. Attribute names up to cooldowns
// are the original application's; the later ones are ours.
type State struct {
	MatchID         string           `dynamodbav:"matchId"`
	Status          string           `dynamodbav:"status"`
	InstanceID      string           `dynamodbav:"instanceId,omitempty"`
	LastTickAt      time.Time        `dynamodbav:"lastTickAt,omitempty"`
	MatchPhase      Phase            `dynamodbav:"matchPhase"`
	PreviousStatus  Status           `dynamodbav:"previousStatus,omitempty"`
	PreviousBallID  int64            `dynamodbav:"previousBallId,omitempty"`
	PreviousScore   []PreviousScore  `dynamodbav:"previousScore,omitempty"`
	PreviousBatting []PreviousBat    `dynamodbav:"previousBatting,omitempty"`
	PreviousBowling []PreviousBowl   `dynamodbav:"previousBowling,omitempty"`
	Last30Balls     []PreviousBall   `dynamodbav:"last30Balls,omitempty"`
	Cooldowns       map[string]int64 `dynamodbav:"cooldowns,omitempty"`  // event type to the end of its cooldown, epoch ms
	Pending         []Pending        `dynamodbav:"pending,omitempty"`    // seen, and held until confirmed
	AlertTimes      []int64          `dynamodbav:"alertTimes,omitempty"` // of the last hour, epoch ms
	LastAlert       string           `dynamodbav:"lastAlert,omitempty"`  // key of the latest event with an alert
	FinishedAt      time.Time        `dynamodbav:"finishedAt,omitempty"` // when the result was confirmed
	Result          string           `dynamodbav:"result,omitempty"`
	PutOff          int              `dynamodbav:"putOff,omitempty"`   // how often it was given another time after it was postponed or cancelled
	PutOffAt        time.Time        `dynamodbav:"putOffAt,omitempty"` // the start that was put off last
	Stale           int              `dynamodbav:"stale,omitempty"`    // alerts dropped as old news since the last one, at most maxStale
	Inconsistent    int              `dynamodbav:"torn,omitempty"`     // consecutive snapshots whose score and balls disagree
	Memory          Memory           `dynamodbav:"memory"`
	Seen            SeenKeys         `dynamodbav:"emitted,omitempty"`   // keys of recorded events
	Announced       Announced        `dynamodbav:"told,omitempty"`      // what was recorded and must stay true
	Notice          *Notice          `dynamodbav:"notice,omitempty"`    // the last correction, for the banner
	Stamp           time.Time        `dynamodbav:"stamp,omitempty"`     // newest stamp of an accepted score
	Doubt           string           `dynamodbav:"doubt,omitempty"`     // sign of the last snapshot that was not accepted
	Nameless        bool             `dynamodbav:"nameless,omitempty"`  // the last accepted snapshot lacked names: another such is not doubted
	WaveredAt       time.Time        `dynamodbav:"wavered,omitempty"`   // when the feed last took back a wicket
	Sides           []Side           `dynamodbav:"sides,omitempty"`     // the sides by the names they last had
	LinedUp         bool             `dynamodbav:"linedUp,omitempty"`   // the last snapshot had line-ups, which name the fielders
	Doubts          int              `dynamodbav:"doubts,omitempty"`    // consecutive snapshots that were not accepted
	NewStatus       Status           `dynamodbav:"newStatus,omitempty"` // seen once, not yet accepted
	TTL             int64            `dynamodbav:"ttl,omitempty"`
}

// PreviousScore is a score line at the last tick.
type PreviousScore struct {
	Innings int    `dynamodbav:"innings"`
	TeamID  int64  `dynamodbav:"teamId"`
	Runs    int    `dynamodbav:"runs"`
	Wickets int    `dynamodbav:"wickets"`
	Overs   string `dynamodbav:"overs"`
	At      int64  `dynamodbav:"at,omitempty"` // since when the line reads so, by the feed's clock, epoch ms
}

// PreviousBat is a batting row of the innings in play at the last tick.
type PreviousBat struct {
	PlayerID int64 `dynamodbav:"playerId"`
	Runs     int   `dynamodbav:"runs"`
	Balls    int   `dynamodbav:"balls"`
	Out      bool  `dynamodbav:"out,omitempty"`
}

// PreviousBowl is a bowling row of the innings in play at the last tick.
type PreviousBowl struct {
	PlayerID int64  `dynamodbav:"playerId"`
	Overs    string `dynamodbav:"overs"`
	Runs     int    `dynamodbav:"runs"`
	Wickets  int    `dynamodbav:"wickets"`
}

// PreviousBall is one of the last thirty balls.
type PreviousBall struct {
	ID    int64  `dynamodbav:"id"`
	Label string `dynamodbav:"label"`
	Mark  string `dynamodbav:"mark"`
}

// Side is the last known name of a side.
type Side struct {
	TeamID int64  `dynamodbav:"teamId"`
	Name   string `dynamodbav:"name,omitempty"`
	Code   string `dynamodbav:"code,omitempty"`
}

// Pending is an event that was seen and is held: one ball in seven is corrected within ten seconds. Attribute
// names are short because a burst holds two dozen.
type Pending struct {
	Key      string `dynamodbav:"k"`
	Mark     string `dynamodbav:"m,omitempty"` // digest of the data it was found in
	Since    int64  `dynamodbav:"t"`           // epoch ms
	Seen     int    `dynamodbav:"n"`           // number of snapshots it was seen in, at most two
	Burst    bool   `dynamodbav:"b,omitempty"` // it arrived with more than three new balls
	Baseline bool   `dynamodbav:"j,omitempty"` // it was there when the node joined
}

// Notice is a correction that the banner shows for noticeFor.
type Notice struct {
	Key  string    `dynamodbav:"key"`
	Text string    `dynamodbav:"text"`
	At   time.Time `dynamodbav:"at"`
}

// Quiet reports whether processing the same snapshot again would change nothing.
func (st *State) Quiet() bool {
	return st.PreviousStatus != "" && len(st.Pending) == 0 && st.FinishedAt.IsZero() && st.Inconsistent == 0 &&
		st.Doubts == 0 && st.NewStatus == ""
}

// remember stores the snapshot in the state, for the next tick to compare with.
func (st *State) remember(s *Snapshot, now time.Time) {
	st.LastTickAt = now
	st.Nameless, st.LinedUp = s.nameless(), s.LineUp > 0
	st.Sides = nil
	for _, t := range s.Teams {
		if t.Name != "" || t.Code != "" {
			st.Sides = append(st.Sides, Side{t.ID, t.Name, t.Code})
		}
	}
	st.PreviousStatus = s.Status
	if phase, known := s.phaseKnown(); known && (phase != PhasePrematch || len(s.Innings) == 0) {
		st.MatchPhase = phase // a match with a score has begun, whatever the feed says
	}
	st.PreviousScore = nil
	for i := range s.Innings {
		st.PreviousScore = append(st.PreviousScore, scoreOf(&s.Innings[i]))
	}
	st.PreviousBatting, st.PreviousBowling = nil, nil
	if !s.NoBalls || len(s.Balls) > 0 {
		st.Last30Balls, st.PreviousBallID = nil, 0
	}
	in := s.current()
	if in == nil {
		return
	}
	for r := range s.battingOf(in.No) {
		st.PreviousBatting = append(st.PreviousBatting, PreviousBat{r.PlayerID, r.Runs, r.Balls, r.Out})
	}
	for r := range s.bowlingOf(in.No) {
		st.PreviousBowling = append(st.PreviousBowling, PreviousBowl{r.PlayerID, r.Overs, r.Runs, r.Wickets})
	}
	st.rememberBalls(s)
}

func scoreOf(in *Innings) PreviousScore {
	return PreviousScore{in.No, in.TeamID, in.Runs, in.Wickets, in.Overs, in.UpdatedAt.UnixMilli()}
}

func (st *State) rememberBalls(s *Snapshot) {
	if len(s.Balls) == 0 {
		return
	}
	for i := max(0, len(s.Balls)-lastBalls); i < len(s.Balls); i++ {
		b := &s.Balls[i]
		st.Last30Balls = append(st.Last30Balls, PreviousBall{b.ID, b.Label, b.Mark().Mark})
	}
	st.PreviousBallID = s.Balls[len(s.Balls)-1].ID
}
