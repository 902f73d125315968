package replay

import (
	"slices"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// fixture writes the object of a match at a moment, without its end and without the balls, which come last.
func (m *Match) fixture(e *encoder, v *view, inc include) {
	t, s := m.rec, &m.static
	e.open("", '{')
	e.word("resource", "fixtures")
	e.id("id", m.id)
	e.id("league_id", s.leagueID)
	e.id("season_id", s.seasonID)
	e.id("stage_id", s.stageID)
	e.text("round", round(t))
	e.id("localteam_id", s.teamIDs[0])
	e.id("visitorteam_id", s.teamIDs[1])
	e.writeTime("starting_at", m.balls[0].at)
	e.word("type", feedType(t))
	e.bool("live", true) // coverage exists; it never means "in play"
	e.word("status", v.Status)
	e.null("last_period")
	e.textOrNull("note", m.feedNote(v))
	e.id("venue_id", s.venueID)
	m.people(e, v)
	if overs := scheduledOvers(t); overs > 0 {
		e.int("total_overs_played", overs)
	} else {
		e.null("total_overs_played")
	}
	e.textOrNull("elected", m.tossChoice(v))
	e.bool("super_over", v.Begun > 0 && t.Innings[v.Begun-1].SuperOver)
	e.bool("follow_on", t.MultiDay() && v.Begun > 2 && t.Innings[2].Team == t.Innings[1].Team)
	for _, k := range []string{"localteam_dl_data", "visitorteam_dl_data"} {
		e.raw(k, `{"score":null,"overs":null,"wickets_out":null}`)
	}
	if overs, runs, ok := m.revisedFigures(v); ok {
		e.raw("rpc_overs", overs)
		e.idOrNull("rpc_target", int64(runs))
	} else {
		e.null("rpc_overs")
		e.null("rpc_target")
	}
	e.raw("weather_report", "[]")
	m.writeIncludes(e, v, inc)
}

// people writes who won the toss, the winner, and the officials.
func (m *Match) people(e *encoder, v *view) {
	s := &m.static
	e.idOrNull("toss_won_team_id", m.teamID(m.tossWinner(v)))
	e.idOrNull("winner_team_id", m.teamID(m.winner(v)))
	if v.Finished && v.verdict == nil {
		e.textOrNull("draw_noresult", drawOrNoResult(m.rec))
	} else {
		e.null("draw_noresult")
	}
	for i, k := range [...]string{"first_umpire_id", "second_umpire_id", "tv_umpire_id", "referee_id"} {
		e.idOrNull(k, s.officials[i])
	}
	if v.Finished {
		e.idOrNull("man_of_match_id", s.best)
	} else {
		e.null("man_of_match_id")
	}
	e.null("man_of_series_id")
}

func (m *Match) tossWinner(v *view) int {
	if !v.Toss {
		return -1
	}
	return m.rec.Toss.Winner
}

func (m *Match) winner(v *view) int {
	switch {
	case !v.Finished:
		return -1
	case v.verdict != nil:
		return v.verdict.winner
	default:
		return winner(m.rec)
	}
}

func (m *Match) tossChoice(v *view) string {
	switch {
	case !v.Toss:
		return ""
	case m.rec.Toss.Bat:
		return "batting"
	default:
		return "bowling"
	}
}

// teamID returns a side's id, 0 for none.
func (m *Match) teamID(side int) int64 {
	if side < 0 {
		return 0
	}
	return m.static.teamIDs[side]
}

// team returns a side's object, nil for none.
func (m *Match) team(side int) []byte {
	if side < 0 {
		return nil
	}
	return m.static.teams[side]
}

// player returns a player's object, nil for nobody.
func (m *Match) player(r recording.Ref) []byte {
	open := m.static.players[r]
	if open == nil {
		return nil
	}
	return append(slices.Clip(open), '}')
}

// writeIncludes writes the requested parts beyond the fixture itself.
func (m *Match) writeIncludes(e *encoder, v *view, inc include) {
	s := &m.static
	objects := []struct {
		part include
		key  string
		body []byte
	}{
		{incLeague, "league", s.league},
		{incSeason, "season", s.season},
		{incStage, "stage", s.stage},
		{incVenue, "venue", s.venue},
		{incLocal, "localteam", s.teams[0]},
		{incVisitor, "visitorteam", s.teams[1]},
		{incToss, "tosswon", m.team(m.tossWinner(v))},
		{incWinner, "winnerteam", m.team(m.winner(v))},
	}
	for _, o := range objects {
		if inc.has(o.part &^ v.lacks) {
			e.json(o.key, o.body)
		}
	}
	m.rows(e, v, inc)
	if inc.has(incLineup &^ v.lacks) {
		m.lineup(e, v)
	}
}

// lineup writes both sides from the toss on: the eleven, then substitutes.
func (m *Match) lineup(e *encoder, v *view) {
	e.open("lineup", '[')
	defer e.closeBracket(']')
	if !v.Toss || v.empties.has(incLineup) {
		return
	}
	keeps := keepers(m.rec)
	for i := range m.rec.Teams {
		for k, p := range m.rec.Teams[i].Players {
			r := recording.RefOf(i, k)
			e.comma()
			e.b = append(e.b, m.static.players[r]...)
			e.open("lineup", '{')
			e.id("team_id", m.static.teamIDs[i])
			e.bool("captain", false) // not in the record
			e.bool("wicketkeeper", keeps[r])
			e.bool("substitution", !p.Listed || p.SuperSub || p.Substitute)
			e.closeBracket('}')
			e.closeBracket('}')
		}
	}
}
