package cricket

import (
	"fmt"
	"strings"
	"time"
)

// display builds the display. Its banner includes held events: only alerts wait.
func (s *Snapshot) display(st *State, all []Candidate, now time.Time) Display {
	d := Display{
		MatchID:   s.MatchID,
		League:    s.League.Name,
		Home:      s.Teams[0].ID,
		Phase:     st.MatchPhase,
		Status:    string(s.Status),
		Batters:   []Batter{},
		LastBalls: []BallMark{},
		Innings:   []InningsLine{},
		Note:      s.Note,
		Result:    st.Result,
		UpdatedAt: now,
	}
	if d.Phase == PhasePrematch && s.hasBegun() {
		d.Phase = PhaseInterrupted // "Delayed" in a match that has begun
	}
	for i := range s.Innings {
		d.Innings = append(d.Innings, s.inningsLine(&s.Innings[i]))
	}
	d.Teams = s.teamScores()
	if s.Toss.TeamID != 0 && len(s.Innings) == 0 && d.Note == "" {
		d.Note = fmt.Sprintf("%s won the toss, chose to %s", s.name(s.Toss.TeamID), s.Toss.Decision())
	}
	if s.MultiDay() && len(s.Innings) > 0 || st.Memory.Stumps > 0 {
		d.Day = st.Memory.day(s)
	}
	d.FollowOn, d.SuperOver = s.followsOn(), s.playsSuperOver()
	d.KeyEvent = s.banner(all, now)
	if in := s.current(); in != nil {
		s.displayInnings(&d, in)
	}
	return d
}

func (s *Snapshot) inningsLine(in *Innings) InningsLine {
	cause := s.CauseOfEnd(in)
	return InningsLine{
		No: in.No, TeamID: in.TeamID, Runs: in.Runs, Wickets: in.Wickets, Overs: in.Overs,
		AllOut:   in.Wickets >= s.maxWickets(in),
		Declared: cause == CauseDeclared, Forfeited: cause == CauseForfeited,
		SuperOver: s.IsSuperOver(in.No),
	}
}

// teamScores returns both sides, the batting side first.
func (s *Snapshot) teamScores() []TeamScore {
	order := s.Teams
	in := s.current()
	if in != nil && order[0].ID != in.TeamID && order[1].ID == in.TeamID {
		order[0], order[1] = order[1], order[0]
	}
	out := make([]TeamScore, 0, len(order))
	for _, t := range order {
		ts := TeamScore{ID: t.ID, Name: t.Name, Code: t.Code, Overs: "0.0"}
		for i := range s.Innings {
			if x := &s.Innings[i]; x.TeamID == t.ID && t.ID != 0 {
				ts.Runs, ts.Wickets, ts.Overs, ts.Batted = x.Runs, x.Wickets, x.Overs, true
			}
		}
		ts.Batting = in != nil && in.TeamID == t.ID && t.ID != 0
		out = append(out, ts)
	}
	return out
}

// displayInnings fills in the fields about the innings in play.
func (s *Snapshot) displayInnings(d *Display, in *Innings) {
	legal := s.legal(in)
	d.RunRate = rate(in.Runs, legal)
	d.Target = max(0, s.Target(in))
	quota := s.quota(in)
	if quota > 0 {
		d.BallsLeft = max(0, quota-legal)
	}
	if s.MultiDay() {
		lead := s.lead(in)
		d.Lead = &lead
	}
	over := d.Phase == PhaseCompleted || d.Phase == PhaseAbandoned
	if d.Target > 0 && !over {
		d.Required = max(0, d.Target-in.Runs)
		if !s.MultiDay() && d.BallsLeft > 0 {
			d.RequiredRate = rate(d.Required, d.BallsLeft)
		}
	}
	d.Equation = s.equation(d, in)
	balls := s.ballsIn(in.No)
	if s.CauseOfEnd(in) == CauseNone || over {
		d.Batters = s.atCrease(in, balls)
		d.Partnership = s.stand(balls)
	}
	if len(balls) > 0 {
		d.Bowler = s.bowler(in.No, balls[len(balls)-1].BowlerID)
	}
	for i := max(0, len(balls)-6); i < len(balls); i++ {
		d.LastBalls = append(d.LastBalls, balls[i].Mark())
	}
}

// rate returns runs per six balls with two decimals, "" before the first ball.
func rate(runs, balls int) string {
	if balls == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", 6*float64(runs)/float64(balls))
}

func (s *Snapshot) equation(d *Display, in *Innings) string {
	switch {
	case d.Result != "" || d.Phase == PhaseCompleted:
		return ""
	case d.Target > 0 && s.CauseOfEnd(in) != CauseNone:
		return chaseEnd(d.Target - in.Runs)
	case s.CauseOfEnd(in) != CauseNone && !s.MultiDay():
		return strings.Join(s.nextNeeds(in), "")
	case d.Required > 0 && s.MultiDay():
		return fmt.Sprintf("need %d to win", d.Required)
	case d.Required > 0 && d.BallsLeft > 0:
		return fmt.Sprintf("need %d from %d", d.Required, d.BallsLeft)
	case s.MultiDay() && in.No > 1:
		return strings.TrimPrefix(s.leadText(in), ", ")
	default:
		return ""
	}
}

// chaseEnd describes the end of a chase while there is no result yet.
func chaseEnd(need int) string {
	switch {
	case need <= 0:
		return "target reached"
	case need == 1:
		return "scores level"
	default:
		return plural(need-1, "run") + " short"
	}
}

// atCrease returns the two batters at the crease: the pair of the last ball, without a batter who got out and with
// one who came in. In the rows a batter who retired hurt looks not out, so the balls decide if there are any.
func (s *Snapshot) atCrease(in *Innings, balls []Ball) []Batter {
	batters := []Batter{}
	var pair [2]int64
	var striker int64
	if len(balls) > 0 {
		last := &balls[len(balls)-1]
		pair, striker = last.PairIDs, s.nextStriker(last, balls)
	}
	for r := range s.battingOf(in.No) {
		if r.Out || len(batters) == 2 {
			continue
		}
		if len(balls) > 0 && r.PlayerID != pair[0] && r.PlayerID != pair[1] && !s.justIn(in.No, r, balls) {
			continue
		}
		b := s.batter(r)
		b.OnStrike = r.PlayerID == striker
		batters = append(batters, b)
	}
	return batters
}

// justIn reports whether a batter came in after the last ball.
func (s *Snapshot) justIn(innings int, row *BattingRow, balls []Ball) bool {
	for i := range balls {
		if balls[i].PairIDs[0] == row.PlayerID || balls[i].PairIDs[1] == row.PlayerID {
			return false
		}
	}
	return row.Innings == innings
}

// nextStriker returns who faces the next ball; 0 after a wicket, when it is open.
func (s *Snapshot) nextStriker(last *Ball, balls []Ball) int64 {
	if last.Wicket {
		return 0
	}
	partner := last.PairIDs[0]
	if partner == last.BatterID {
		partner = last.PairIDs[1]
	}
	run := last.BatRuns() + last.Byes + last.LegByes
	if last.Wide {
		run = max(0, last.Runs-1)
	}
	crossed := run%2 == 1
	if s.overDone(balls) {
		crossed = !crossed
	}
	if crossed {
		return partner
	}
	return last.BatterID
}

// overDone reports whether the last ball ended its over.
func (s *Snapshot) overDone(balls []Ball) bool {
	last, legal := &balls[len(balls)-1], 0
	for i := len(balls) - 1; i >= 0 && balls[i].Over == last.Over; i-- {
		if balls[i].Legal() {
			legal++
		}
	}
	return legal >= s.BallsPerOver()
}

func (s *Snapshot) batter(r *BattingRow) Batter {
	b := Batter{
		ID: r.PlayerID, Name: s.lastName(r.PlayerID), Runs: r.Runs, Balls: r.Balls, Fours: r.Fours, Sixes: r.Sixes,
	}
	if r.Balls > 0 {
		b.StrikeRate = fmt.Sprintf("%.1f", 100*float64(r.Runs)/float64(r.Balls))
	}
	return b
}

func (s *Snapshot) bowler(innings int, id int64) *Bowler {
	for r := range s.bowlingOf(innings) {
		if r.PlayerID == id {
			b := s.bowlerLine(r)
			return &b
		}
	}
	return nil
}

func (s *Snapshot) bowlerLine(r *BowlingRow) Bowler {
	return Bowler{
		ID: r.PlayerID, Name: s.lastName(r.PlayerID), Overs: r.Overs, Maidens: r.Maidens, Runs: r.Runs, Wickets: r.Wickets,
	}
}

// stand returns the runs and balls since the last wicket.
func (s *Snapshot) stand(balls []Ball) *Stand {
	var st Stand
	for i := len(balls) - 1; i >= 0 && !balls[i].Wicket; i-- {
		st.Runs += balls[i].Total()
		if !balls[i].Wide {
			st.Balls++
		}
	}
	return &st
}

// bannerBalls is how many balls an event stays in the banner. A wicket stays twice as long unless something more
// important than the end of an over happens. bannerTime is used instead if there are no balls.
const (
	bannerBalls = 6
	bannerTime  = 4 * time.Minute
)

// ago returns the time of the ball that many balls before the last, or now minus d if there are no balls.
func (s *Snapshot) ago(balls int, d time.Duration, now time.Time) time.Time {
	if n := len(s.Balls); n > 0 {
		return s.Balls[max(0, n-balls)].UpdatedAt
	}
	return now.Add(-d)
}

// banner returns the most important recent event; of equals, the later one. It stays until it is too old or
// something as important happens. A batter in the nineties shows only while nothing else does.
func (s *Snapshot) banner(all []Candidate, now time.Time) *KeyEvent {
	oldest, since := s.ago(2*bannerBalls, 2*bannerTime, now), s.ago(bannerBalls, bannerTime, now)
	var best *Candidate
	least := 0
	for i := range all {
		c := &all[i]
		rank := bannerRank(c, c.SeenAt.Before(since))
		if c.SeenAt.Before(oldest) || rank == 0 || best != nil && rank > least {
			continue
		}
		best, least = c, rank
	}
	if best == nil {
		return nil
	}
	return &KeyEvent{Key: best.Key, Type: WireType(best.Type), Text: best.Text, At: best.SeenAt}
}

// bannerRank orders events in the banner, 1 first; 0 keeps one out. An older wicket comes before what happens
// every over. A super over's start shows until something happens in it.
func bannerRank(c *Candidate, older bool) int {
	priority := ruleOf(c.Type).priority
	switch {
	case older && c.Type == EventWicket:
		return 2*ruleOf(EventOverEnd).priority - 1
	case older:
		return 0
	case c.Type == EventSuperOver:
		priority = ruleOf(EventInningsEnd).priority
	}
	return 2 * priority
}
