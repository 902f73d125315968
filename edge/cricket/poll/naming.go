package poll

import (
	"context"
	"slices"
	"strconv"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/store"
)

// naming is what the reference tables add to an answer: which leagues count, and the names that admins set.
type naming struct {
	leagues map[int64]reference.LeagueRecord
	teams   map[int64]reference.TeamRecord // those named by an admin
	marquee int64                          // 0: none
}

// rename reads the reference tables again.
func (p *Poller) rename(ctx context.Context) error {
	var leagues []reference.LeagueRecord
	var teams []reference.TeamRecord
	err := p.Data.View(ctx, func(tx *store.Tx) (err error) {
		if leagues, err = (reference.Leagues{}).All(tx); err != nil {
			return err
		}
		teams, err = reference.Teams{}.NamedByAdmins(tx)
		return err
	})
	if err != nil {
		return err
	}
	n := naming{leagues: map[int64]reference.LeagueRecord{}, teams: map[int64]reference.TeamRecord{}}
	for _, l := range leagues {
		id, err := strconv.ParseInt(l.LeagueID, 10, 64)
		if err != nil {
			continue // another program's row
		}
		n.leagues[id] = l
		if l.Marquee && l.Active && n.marquee == 0 {
			n.marquee = id
		}
	}
	for _, t := range teams {
		if id, err := strconv.ParseInt(t.TeamID, 10, 64); err == nil {
			n.teams[id] = t
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names = n
	return nil
}

// marqueeLeague returns the league that is watched closely, 0 for none.
func (p *Poller) marqueeLeague() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.names.marquee
}

// isActive reports whether the league of a match is synced and polled.
func (p *Poller) isActive(s *cricket.Snapshot) bool {
	return p.activeLeague(s.League.ID, s.League.Code)
}

// activeLeague follows the league's row; a league without one is active if its code is configured.
func (p *Poller) activeLeague(id int64, code string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, known := p.names.leagues[id]; known {
		return l.Active
	}
	return p.wanted(code)
}

// wanted reports whether a league is active when it is first seen.
func (p *Poller) wanted(code string) bool {
	return slices.Contains(p.Leagues, AllLeagues) || code != "" && slices.Contains(p.Leagues, code)
}

// withNames returns a copy of a match with the answer's clock skew, whether balls were requested, and the names that
// admins set for its league and teams. Answers are shared, so the original stays unchanged.
func (p *Poller) withNames(s *cricket.Snapshot, r *reading) *cricket.Snapshot {
	own := *s
	own.Skew, own.NoBalls = r.Skew, !r.balls
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names.apply(&own)
	return &own
}

func (n *naming) apply(s *cricket.Snapshot) {
	if l, known := n.leagues[s.League.ID]; known {
		set(&s.League.Name, l.Name, l.AdminFields, "name")
		set(&s.League.Code, l.Code, l.AdminFields, "code")
	}
	for i := range s.Teams {
		if t, known := n.teams[s.Teams[i].ID]; known {
			set(&s.Teams[i].Name, t.Name, t.AdminFields, "name")
			set(&s.Teams[i].Code, t.Code, t.AdminFields, "code")
		}
	}
}

func set(name *string, to string, fields []string, field string) {
	if to != "" && slices.Contains(fields, field) {
		*name = to
	}
}
