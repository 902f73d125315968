package cricket

import (
	"time"
)

// Fixture is a match as the fixtures table keeps it: what is known of it besides the play.
type Fixture struct {
	MatchID       string        `dynamodbav:"matchId" json:"id"`
	LeagueID      int64         `dynamodbav:"leagueId" json:"leagueId"`
	LeagueCode    string        `dynamodbav:"leagueCode,omitempty" json:"leagueCode"`
	LeagueName    string        `dynamodbav:"leagueName" json:"league"`
	StartTime     time.Time     `dynamodbav:"startTime" json:"startTime"`
	Status        string        `dynamodbav:"status" json:"status"`
	Phase         Phase         `dynamodbav:"phase" json:"phase"`
	Type          string        `dynamodbav:"type" json:"type"`
	Round         string        `dynamodbav:"round,omitempty" json:"round,omitempty"`
	Venue         string        `dynamodbav:"venue,omitempty" json:"venue,omitempty"`
	Toss          string        `dynamodbav:"toss,omitempty" json:"toss,omitempty"`
	Note          string        `dynamodbav:"note,omitempty" json:"note,omitempty"`
	Result        string        `dynamodbav:"result,omitempty" json:"result,omitempty"`
	Teams         []FixtureTeam `dynamodbav:"teams" json:"teams"`
	LiveUpdatedAt time.Time     `dynamodbav:"liveUpdatedAt,omitempty" json:"liveUpdatedAt,omitzero"`
	ArchivedAt    time.Time     `dynamodbav:"archivedAt,omitempty" json:"archivedAt,omitzero"`
}

// FixtureTeam is a side of a fixture, with the score line of its latest innings.
type FixtureTeam struct {
	ID    int64  `dynamodbav:"id" json:"id"`
	Name  string `dynamodbav:"name" json:"name"`
	Code  string `dynamodbav:"code" json:"code"`
	Score string `dynamodbav:"score,omitempty" json:"score,omitempty"` // "241/8 (50.0)"
}

// fixture takes from a reading what the fixtures table keeps.
func (s *Snapshot) fixture(st *State, now time.Time) Fixture {
	f := Fixture{
		MatchID: s.MatchID, LeagueID: s.League.ID, LeagueCode: s.League.Code, LeagueName: s.League.Name,
		StartTime: s.StartsAt, Status: string(s.Status), Phase: st.MatchPhase, Type: s.Type, Round: s.Round,
		Venue: s.Venue, Note: s.Note, Result: st.Result,
	}
	if s.Toss.TeamID != 0 {
		f.Toss = s.team(s.Toss.TeamID).Name + " chose to " + tossWord(s.Toss.Chose)
	}
	for _, t := range s.Teams {
		ft := FixtureTeam{ID: t.ID, Name: t.Name, Code: t.Code}
		for i := range s.Innings {
			if in := &s.Innings[i]; in.TeamID == t.ID && !s.IsSuperOver(in.No) {
				ft.Score = scoreLine(in, s.Ended(in))
			}
		}
		f.Teams = append(f.Teams, ft)
	}
	if st.Status == ActiveEnded {
		f.ArchivedAt = now
	} else if len(s.Innings) > 0 {
		f.LiveUpdatedAt = now
	}
	return f
}
