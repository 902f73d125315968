package replay

import (
	"slices"

	"github.com/touchline/touchline/edge/cricket/replay/tape"
)

// fixture writes the object of a match at a moment, without its end and without the balls, which come last.
func (m *Match) fixture(e *encoder, mo *Moment, inc include) {
	t, s := m.tape, &m.static
	e.open("", '{')
	e.word("resource", "fixtures")
	e.id("id", m.id)
	e.id("league_id", s.leagueID)
	e.id("season_id", s.seasonID)
	e.id("stage_id", s.stageID)
	e.text("round", round(t))
	e.id("localteam_id", s.teamIDs[0])
	e.id("visitorteam_id", s.teamIDs[1])
	e.at("starting_at", m.balls[0].at)
	e.word("type", feedType(t))
	e.bool("live", true) // coverage exists; it never means "in play"
	e.word("status", mo.Status)
	e.null("last_period")
	e.textOrNull("note", m.note(mo))
	e.id("venue_id", s.venueID)
	m.people(e, mo)
	if overs := scheduledOvers(t); overs > 0 {
		e.int("total_overs_played", overs)
	} else {
		e.null("total_overs_played")
	}
	e.textOrNull("elected", m.elected(mo))
	e.bool("super_over", mo.Begun > 0 && t.Innings[mo.Begun-1].SuperOver)
	e.bool("follow_on", t.MultiDay() && mo.Begun > 2 && t.Innings[2].Team == t.Innings[1].Team)
	for _, k := range []string{"localteam_dl_data", "visitorteam_dl_data"} {
		e.raw(k, `{"score":null,"overs":null,"wickets_out":null}`)
	}
	if overs, runs, ok := m.revised(mo); ok {
		e.raw("rpc_overs", overs)
		e.idOrNull("rpc_target", int64(runs))
	} else {
		e.null("rpc_overs")
		e.null("rpc_target")
	}
	e.raw("weather_report", "[]")
	m.included(e, mo, inc)
}

// people writes who tossed, won and stood in the match.
func (m *Match) people(e *encoder, mo *Moment) {
	s := &m.static
	e.idOrNull("toss_won_team_id", m.teamID(m.tossWinner(mo)))
	e.idOrNull("winner_team_id", m.teamID(m.winner(mo)))
	if mo.Finished {
		e.textOrNull("draw_noresult", drawOrNoResult(m.tape))
	} else {
		e.null("draw_noresult")
	}
	for i, k := range [...]string{"first_umpire_id", "second_umpire_id", "tv_umpire_id", "referee_id"} {
		e.idOrNull(k, s.officials[i])
	}
	if mo.Finished {
		e.idOrNull("man_of_match_id", s.best)
	} else {
		e.null("man_of_match_id")
	}
	e.null("man_of_series_id")
}

func (m *Match) tossWinner(mo *Moment) int {
	if !mo.Toss {
		return -1
	}
	return m.tape.Toss.Winner
}

func (m *Match) winner(mo *Moment) int {
	if !mo.Finished {
		return -1
	}
	return winner(m.tape)
}

func (m *Match) elected(mo *Moment) string {
	switch {
	case !mo.Toss:
		return ""
	case m.tape.Toss.Bat:
		return "batting"
	default:
		return "bowling"
	}
}

// teamID gives a side's id, 0 for none.
func (m *Match) teamID(side int) int64 {
	if side < 0 {
		return 0
	}
	return m.static.teamIDs[side]
}

// team gives a side's object, nil for none.
func (m *Match) team(side int) []byte {
	if side < 0 {
		return nil
	}
	return m.static.teams[side]
}

// player gives a player's object, nil for nobody.
func (m *Match) player(r tape.Ref) []byte {
	open := m.static.players[r]
	if open == nil {
		return nil
	}
	return append(slices.Clip(open), '}')
}

// included writes what was asked for beyond the fixture itself.
func (m *Match) included(e *encoder, mo *Moment, inc include) {
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
		{incFirstUmpire, "firstumpire", s.official[0]},
		{incSecondUmpire, "secondumpire", s.official[1]},
		{incTVUmpire, "tvumpire", s.official[2]},
		{incReferee, "referee", s.official[3]},
		{incManOfMatch, "manofmatch", m.manOfMatch(mo)},
		{incManOfSeries, "manofseries", nil},
		{incToss, "tosswon", m.team(m.tossWinner(mo))},
		{incWinner, "winnerteam", m.team(m.winner(mo))},
	}
	for _, o := range objects {
		if inc.has(o.part) {
			e.json(o.key, o.body)
		}
	}
	m.rows(e, mo, inc)
	if inc.has(incLineup) {
		m.lineup(e, mo)
	}
}

func (m *Match) manOfMatch(mo *Moment) []byte {
	if !mo.Finished || len(m.tape.Best) == 0 {
		return nil
	}
	return m.player(m.tape.Best[0])
}

// lineup writes both sides from the toss on: the eleven, then who came or could come in for them.
func (m *Match) lineup(e *encoder, mo *Moment) {
	e.open("lineup", '[')
	defer e.shut(']')
	if !mo.Toss {
		return
	}
	keeps := keepers(m.tape)
	for i := range m.tape.Teams {
		for k, p := range m.tape.Teams[i].Players {
			r := tape.RefOf(i, k)
			e.comma()
			e.b = append(e.b, m.static.players[r]...)
			e.open("lineup", '{')
			e.id("team_id", m.static.teamIDs[i])
			e.bool("captain", false) // the record does not say
			e.bool("wicketkeeper", keeps[r])
			e.bool("substitution", !p.Listed || p.SuperSub || p.Substitute)
			e.shut('}')
			e.shut('}')
		}
	}
}
