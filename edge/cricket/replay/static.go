package replay

import (
	"time"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// static holds the rendered objects that never change during a match.
type static struct {
	leagueID, seasonID, stageID, venueID int64

	officials [4]int64 // first, second and TV umpire, referee; 0: unknown
	best      int64    // man of the match

	teamIDs [2]int64
	teams   [2][]byte
	players map[recording.Ref][]byte // without their end, so that the lineup can be added
	ids     map[recording.Ref]int64
	league  []byte
	season  []byte
	stage   []byte
	venue   []byte
	updated time.Time
}

const imageHost = "https://cdn.sportmonks.com"

func newStatic(t *recording.Match, at time.Time) static {
	league, code, stage := competition(t)
	s := static{
		leagueID: idOf("league", league), seasonID: idOf("season", league+t.Season),
		stageID: idOf("stage", t.Event.Name+t.Season+stage), venueID: idOf("venue", t.Venue+t.City),
		players: map[recording.Ref][]byte{}, ids: map[recording.Ref]int64{}, updated: at,
	}
	s.renderCompetition(t, league, code, stage)
	s.nameOfficials(t)
	keepers := keepers(t)
	bowlers := bowlers(t)
	for i := range t.Teams {
		s.renderTeam(t, i)
		for k := range t.Teams[i].Players {
			r := recording.RefOf(i, k)
			s.renderPlayer(t, r, position(keepers[r], bowlers[r]))
		}
	}
	if len(t.Best) > 0 {
		s.best = s.ids[t.Best[0]]
	}
	return s
}

// object renders one of the feed's records.
func (s *static) object(resource string, id int64, members func(e *encoder)) []byte {
	var e encoder
	e.open("", '{')
	e.word("resource", resource)
	e.id("id", id)
	members(&e)
	e.writeTime("updated_at", s.updated)
	e.closeBracket('}')
	return e.b
}

func (s *static) renderCompetition(t *recording.Match, league, code, stage string) {
	s.league = s.object("leagues", s.leagueID, func(e *encoder) {
		e.id("season_id", s.seasonID)
		e.int("country_id", 0)
		e.text("name", league)
		e.text("code", code)
		e.word("image_path", imageHost+"/images/cricket/placeholder.png")
		e.word("type", "phase")
	})
	s.season = s.object("seasons", s.seasonID, func(e *encoder) {
		e.id("league_id", s.leagueID)
		e.text("name", t.Season)
		e.text("code", t.Season)
	})
	s.stage = s.object("stages", s.stageID, func(e *encoder) {
		e.id("league_id", s.leagueID)
		e.id("season_id", s.seasonID)
		e.text("name", stage)
		e.text("code", initials(stage))
		e.null("type")
		e.bool("standings", false)
	})
	s.venue = s.object("venues", s.venueID, func(e *encoder) {
		e.int("country_id", 0)
		e.text("name", t.Venue)
		e.text("city", t.City)
		e.word("image_path", imageHost)
		e.int("capacity", 0)
		e.bool("floodlight", false)
	})
}

func (s *static) nameOfficials(t *recording.Match) {
	names := [4]string{}
	copy(names[:2], t.Umpires)
	copy(names[2:3], t.TVUmpires)
	copy(names[3:], t.Referees)
	for i, n := range names {
		if n != "" {
			s.officials[i] = idOf("official", n)
		}
	}
}

func (s *static) renderTeam(t *recording.Match, i int) {
	name := t.Teams[i].Name
	s.teamIDs[i] = idOf("team "+t.Gender, name)
	s.teams[i] = s.object("teams", s.teamIDs[i], func(e *encoder) {
		e.text("name", name)
		e.text("code", teamCode(name))
		e.word("image_path", imageHost+"/images/cricket/placeholder.png")
		e.int("country_id", 0)
		e.bool("national_team", t.Sides == "international")
	})
}

// unknownBirth is used for all dates of birth. The record has none, and none is invented for real people.
const unknownBirth = "1970-01-01"

// renderPlayer leaves the object open: a ball adds "}", a line-up adds the lineup first.
func (s *static) renderPlayer(t *recording.Match, r recording.Ref, pos [2]string) {
	p := t.Player(r)
	s.ids[r] = playerID(p)
	first, last := splitName(p.Name)
	gender := "m"
	if t.Gender == "female" {
		gender = "f"
	}
	var e encoder
	e.open("", '{')
	e.word("resource", "players")
	e.id("id", s.ids[r])
	e.int("country_id", 0)
	e.text("firstname", first)
	e.text("lastname", last)
	e.text("fullname", p.Name)
	e.word("image_path", imageHost+"/images/cricket/placeholder.png")
	e.word("dateofbirth", unknownBirth)
	e.word("gender", gender)
	e.word("battingstyle", "")
	e.null("bowlingstyle")
	e.open("position", '{')
	e.word("resource", "positions")
	e.raw("id", pos[0])
	e.word("name", pos[1])
	e.closeBracket('}')
	e.writeTime("updated_at", s.updated)
	s.players[r] = e.b
}

// position returns the feed's position of a player, derived from the match.
func position(keeps, bowls bool) [2]string {
	switch {
	case keeps:
		return [2]string{"3", "Wicketkeeper"}
	case bowls:
		return [2]string{"2", "Bowler"}
	default:
		return [2]string{"1", "Batsman"}
	}
}

// keepers returns the players with a stumping: the record does not name wicketkeepers.
func keepers(t *recording.Match) map[recording.Ref]bool {
	set := map[recording.Ref]bool{}
	eachDelivery(t, func(d *recording.Delivery) {
		for _, w := range d.Wickets {
			if w.Kind == recording.Stumped && len(w.Fielders) > 0 && !w.Fielders[0].Substitute {
				set[w.Fielders[0].Who] = true
			}
		}
	})
	return set
}

func bowlers(t *recording.Match) map[recording.Ref]bool {
	set := map[recording.Ref]bool{}
	eachDelivery(t, func(d *recording.Delivery) { set[d.Bowler] = true })
	return set
}

func eachDelivery(t *recording.Match, f func(*recording.Delivery)) {
	for i := range t.Innings {
		for o := range t.Innings[i].Overs {
			for b := range t.Innings[i].Overs[o].Balls {
				f(&t.Innings[i].Overs[o].Balls[b])
			}
		}
	}
}
