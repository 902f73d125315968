package sportmonks

import (
	"cmp"
	"slices"
	"strings"
	"unique"

	"github.com/touchline/touchline/edge/cricket"
)

// notOut is the wicket_id of a batter who is not out.
const notOut = 84

// snapshot normalises a fixture: rows sorted and without duplicates, missing includes left empty. Balls stay as in the reply,
// with which the next one is compared; the rules sort them.
func (d *decoder) snapshot(w *wireFixture, balls *knownBalls) cricket.Snapshot {
	d.odd.instant(w.StartingAt)
	for i := range w.Runs {
		d.odd.instant(w.Runs[i].UpdatedAt)
	}
	s := cricket.Snapshot{
		MatchID:   idText(w.ID),
		Status:    cricket.Status(w.Status),
		Type:      string(w.Type),
		Round:     string(w.Round),
		League:    cricket.League{ID: int64(w.LeagueID)},
		SeasonID:  int64(w.SeasonID),
		Stage:     string(w.Stage.value.Name),
		Venue:     string(w.Venue.value.Name),
		Teams:     [2]cricket.Team{team(w.LocalTeam, w.LocalID), team(w.VisitorTeam, w.VisitorID)},
		StartsAt:  w.StartingAt.Time,
		Toss:      cricket.Toss{TeamID: int64(w.TossWonBy), Chose: string(w.Elected)},
		Overs:     scheduledOvers(string(w.Type), w.Overs),
		RevOvers:  oversText(w.RevOvers),
		RevTarget: int(w.RevTarget),
		RainScore: [2]cricket.RainScore{rainScore(&w.LocalRain.value), rainScore(&w.VisitorRain.value)},
		Note:      string(w.Note),
		Winner:    int64(w.WinnerID),
		NoResult:  string(w.NoResult),
		SuperOver: bool(w.SuperOver),
		FollowOn:  bool(w.FollowOn),
		Player:    int64(w.PlayerID),
		LineUp:    len(w.Lineup),
		Innings:   innings(w.Runs, w.Scoreboards),
		Batting:   d.batting(w.Batting),
		Bowling:   bowling(w.Bowling),
		ReadAt:    d.now,
	}
	if w.League.is {
		s.League.Name, s.League.Code = string(w.League.value.Name), string(w.League.value.Code)
	}
	if balls != nil {
		s.Balls = balls.balls
	}
	s.Players = players(w.Lineup, balls)
	return s
}

func team(t one[wireNamed], id number) cricket.Team {
	return cricket.Team{
		ID:   int64(cmp.Or(id, t.value.ID)),
		Name: string(t.value.Name),
		Code: string(t.value.Code),
	}
}

func rainScore(w *wireRain) cricket.RainScore {
	if w.Score == nil {
		return cricket.RainScore{}
	}
	return cricket.RainScore{Known: true, Runs: int(*w.Score), Overs: oversText(w.Overs), Wickets: int(w.Wickets)}
}

// scheduledOvers returns the overs per innings, 0 in multi-day cricket. The feed's total_overs_played is the
// scheduled number despite its name; if it is missing, the type decides.
func scheduledOvers(kind string, sent text) int {
	k := strings.ToLower(kind)
	if strings.Contains(k, "test") || strings.Contains(k, "day") && !strings.Contains(k, "one day") {
		return 0
	}
	if n := overOf(sent); n > 0 {
		return n
	}
	switch {
	case strings.Contains(k, "t20"), strings.Contains(k, "100"):
		return 20
	case strings.Contains(k, "t10"):
		return 10
	case strings.Contains(k, "odi"), strings.Contains(k, "list a"), strings.Contains(k, "one day"):
		return 50
	}
	return 0
}

// innings returns the score lines by number. Penalty runs are only on the scoreboards: in the row of extras and,
// as clients report, sometimes in the total too.
func innings(rows []wireRuns, boards []wireScoreboard) []cricket.Innings {
	penalty := map[int]int{}
	for _, b := range boards {
		n := inningsOf(b.Scoreboard)
		penalty[n] = max(penalty[n], int(b.Penalty))
	}
	rows = single(rows, func(a, b *wireRuns) int { return cmp.Compare(a.Inning, b.Inning) },
		func(a, b *wireRuns) bool { return a.UpdatedAt.Before(b.UpdatedAt.Time) })
	var out []cricket.Innings
	for _, r := range rows {
		out = append(out, cricket.Innings{
			No:        int(r.Inning),
			TeamID:    int64(r.TeamID),
			Runs:      int(r.Score),
			Wickets:   int(r.Wickets),
			Overs:     oversText(r.Overs),
			Penalty:   penalty[int(r.Inning)],
			Powerplay: powerplayOvers(r.Powerplay),
			UpdatedAt: r.UpdatedAt.Time,
		})
	}
	return out
}

// powerplayOvers returns the last over of a range, "1-6".
func powerplayOvers(sent text) int {
	_, upto, ok := strings.Cut(string(sent), "-")
	if !ok {
		return 0
	}
	return overOf(text(upto))
}

func (d *decoder) batting(rows []wireBatting) []cricket.BattingRow {
	rows = single(rows, func(a, b *wireBatting) int { return a.compare(&b.wireRow) },
		func(a, b *wireBatting) bool { return a.UpdatedAt.Before(b.UpdatedAt.Time) })
	var out []cricket.BattingRow
	for i := range rows {
		r := &rows[i]
		row := cricket.BattingRow{
			Innings:  inningsOf(r.Scoreboard),
			Order:    int(r.Sort),
			TeamID:   int64(r.TeamID),
			PlayerID: int64(r.PlayerID),
			Runs:     int(r.Score),
			Balls:    int(r.Ball),
			Fours:    int(r.FourX),
			Sixes:    int(r.SixX),
			BowlerID: int64(r.BowlerID),
			CatchID:  int64(r.CatchID),
			RunOutID: int64(r.RunOutID),
		}
		how := d.howOut(r)
		if row.Out = isOut(r) && !notDismissed(how); row.Out {
			row.HowOut = how
			row.FoWRuns = int(r.FoWScore)
			row.FoWOvers = oversText(r.FoWBalls)
		}
		out = append(out, row)
	}
	return out
}

// isOut reports whether a batting row is out. The active flag is false on every row, so it is not used.
func isOut(r *wireBatting) bool {
	if r.WicketID == 0 || r.WicketID == notOut {
		return false
	}
	fell := strings.Trim(string(r.FoWBalls), "0.") != ""
	return fell || r.BowlerID != 0 || r.RunOutID != 0 || r.CatchID != 0
}

func (d *decoder) howOut(r *wireBatting) string {
	if r.Result.is {
		d.scores.learn(r.Result.value)
		return words(r.Result.value.Name)
	}
	if r.ScoreID == notOut {
		return ""
	}
	return words(d.scores.find(int64(r.ScoreID)).Name)
}

func bowling(rows []wireBowling) []cricket.BowlingRow {
	rows = single(rows, func(a, b *wireBowling) int { return a.compare(&b.wireRow) },
		func(a, b *wireBowling) bool { return a.UpdatedAt.Before(b.UpdatedAt.Time) })
	var out []cricket.BowlingRow
	for i := range rows {
		r := &rows[i]
		out = append(out, cricket.BowlingRow{
			Innings:  inningsOf(r.Scoreboard),
			Order:    int(r.Sort),
			TeamID:   int64(r.TeamID),
			PlayerID: int64(r.PlayerID),
			Overs:    oversText(r.Overs),
			Maidens:  int(r.Maidens),
			Runs:     int(r.Runs),
			Wickets:  int(r.Wickets),
			Wides:    int(r.Wide),
			NoBalls:  int(r.NoBall),
		})
	}
	return out
}

// single sorts rows by key. Of rows with the same key it keeps the one updated last, or the later one in the reply.
func single[T any](rows []T, key func(a, b *T) int, older func(a, b *T) bool) []T {
	slices.SortStableFunc(rows, func(a, b T) int { return key(&a, &b) })
	kept := rows[:0]
	for i := range rows {
		last := len(kept) - 1
		switch {
		case last < 0 || key(&kept[last], &rows[i]) != 0:
			kept = append(kept, rows[i])
		case !older(&rows[i], &kept[last]):
			kept[last] = rows[i]
		}
	}
	return kept
}

// players returns the names of all players: from the line-ups and from the balls.
func players(lineup []wirePlayer, balls *knownBalls) map[int64]cricket.Name {
	out := make(map[int64]cricket.Name, len(lineup)+8)
	if balls != nil {
		for i := range balls.balls {
			name(out, balls.balls[i].BatterID, balls.named[i][0])
			name(out, balls.balls[i].BowlerID, balls.named[i][1])
		}
	}
	for i := range lineup {
		if n := nameOf(&lineup[i]); n.Full != "" {
			out[int64(lineup[i].ID)] = n
		}
	}
	return out
}

func name(out map[int64]cricket.Name, id int64, handle unique.Handle[cricket.Name]) {
	if _, done := out[id]; done || id == 0 {
		return
	}
	if n := handle.Value(); n.Full != "" {
		out[id] = n
	}
}
