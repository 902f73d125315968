package threefc

import (
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// buried is how long a tombstone is kept: longer than a node that has not seen it may stay offline.
const buried = 30 * 24 * time.Hour

// free refuses an id that is taken, or whose partition has a tombstone: rows of the deleted record may still come and be removed.
func (p *plan) free(what string, keys ...attr.Item) {
	for _, k := range keys {
		for _, at := range []attr.Item{k, deletedKey(k["pk"].Str())} {
			p.Refuse(p.Get(at) != nil, conflict("already_exists", "The ID is taken by another %s, or by one deleted in the last 30 days: choose a new one.", what))
		}
	}
}

// create adds a record under each of its keys. The last one begins a partition, which must not be one that is being emptied. An expired
// tombstone, which stays until it is swept, does not count.
func create[T any, P stamped[T]](p *plan, what string, v T, keys ...attr.Item) {
	p.free(what, keys...)
	for _, k := range keys {
		add[T, P](p, k, v)
	}
	unused := table.IfTrue(absent+" OR "+AttrTTL+" < :now", attr.Item{":now": attr.Int(p.Tx.Now().Unix())})
	p.Write(p.Check(deletedKey(keys[len(keys)-1]["pk"].Str()), unused))
}

// CreateLeague creates a league and makes its creator an admin. It refuses a user who has created as many leagues as one may.
func (s *Service) CreateLeague(tx *store.Tx, user string, l League) (Change, error) {
	p := s.plan(tx)
	p.mayCreateLeague(user)
	l.CreatedByUserID, l.Stamps = user, s.stamp(tx)
	create(p, "league", l, leagueKey(l.LeagueID))
	add(p, aclKey(l.LeagueID, user), Access{LeagueID: l.LeagueID, UserID: user, Role: RoleAdmin, GrantedByUserID: user, Stamps: l.Stamps})
	if l.Slug != nil {
		p.list(*l.Slug, l.LeagueID, "ADD")
	}
	return p.change("league", l.LeagueID)
}

// list adds a league to the row of its slug (ADD), or removes it (DELETE). By that row a node finds a league that it has not read. It is only a
// pointer: two leagues may have one slug, and the older one gets the address.
func (p *plan) list(slug, league, verb string) {
	ids, err := attr.SS(league)
	p.Fail(err)
	p.Write(p.Update(slugKey(slug), verb+" leagueIds :league", table.IfTrue("", attr.Item{":league": ids})))
}

// League reads a league.
func (s *Service) League(tx *store.Tx, id string) (*League, error) {
	p := s.plan(tx)
	return requireRecord[League](p, leagueKey(id), "League %s", id), p.Err()
}

// OwnLeague is a league with the reader's role in it.
type OwnLeague struct {
	League
	Access struct {
		Role     string `json:"role"`
		Accepted *bool  `json:"accepted,omitempty"` // as Access.Accepted
	} `json:"access"`
}

// Offered reports whether a user's role in the league waits to be accepted.
func (l *OwnLeague) Offered() bool { return l.Access.Accepted != nil && !*l.Access.Accepted }

// DeleteLeague deletes a league without seasons.
func (s *Service) DeleteLeague(tx *store.Tx, user, id string) (Change, error) {
	p := s.plan(tx)
	l := must(p, s.League, id)
	p.Refuse(!p.isEmpty(pkLeague+id, pkSeason), conflict("league_has_seasons", "Cannot delete league with existing seasons."))
	p.remove(leagueKey(id), l.Stamps)
	p.stillAdmin(id, user)
	if l.Slug != nil && p.Get(slugKey(*l.Slug)) != nil {
		p.list(*l.Slug, id, "DELETE")
	}
	p.bury(pkLeague+id, tombstone{Stamps: s.stamp(tx)})
	return p.change()
}

// bury writes the tombstone of a partition. Nothing else is needed to have the partition emptied.
func (p *plan) bury(pk string, of tombstone) {
	it, err := encode(deletedKey(pk), of)
	if p.Fail(err); err == nil {
		it[AttrTTL] = attr.Int(p.Now(p.Tx).Add(buried).Unix())
	}
	p.Write(p.Put(it, table.If{}))
}

// CreateSeason creates a season and its mirror.
func (s *Service) CreateSeason(tx *store.Tx, se Season) (Change, error) {
	p := s.plan(tx)
	l := must(p, s.League, se.LeagueID)
	p.tooMany(pkLeague+se.LeagueID, pkSeason, MaxSeasons, "seasons")
	se.Stamps = s.stamp(tx)
	create(p, "season", se, seasonKey(se.LeagueID, se.SeasonID), seasonMirror(se.SeasonID))
	p.begin(leagueKey(se.LeagueID), l.Stamps, se.CreatedAt)
	return p.change("season", se.SeasonID)
}

// Season reads a season by its mirror.
func (s *Service) Season(tx *store.Tx, id string) (*Season, error) {
	p := s.plan(tx)
	return requireRecord[Season](p, seasonMirror(id), "Season %s", id), p.Err()
}

// Seasons lists the seasons of a league.
func (s *Service) Seasons(tx *store.Tx, league string) ([]Season, error) {
	p := s.plan(tx)
	return list[Season](p, pkLeague+league, pkSeason), p.Err()
}

// DeleteSeason deletes a season without games. ConsumeRecords removes its sessions.
func (s *Service) DeleteSeason(tx *store.Tx, user, id string) (Change, error) {
	p := s.plan(tx)
	se := must(p, s.Season, id)
	games, err := s.HasGames(tx, id)
	p.Fail(err)
	p.Refuse(games, conflict("season_has_games", "Cannot delete season with existing games."))
	p.remove(seasonMirror(id), se.Stamps)
	p.Write(p.Drop(seasonKey(se.LeagueID, id)))
	p.stillAdmin(se.LeagueID, user)
	p.bury(pkSeason+id, tombstone{Stamps: s.stamp(tx)})
	return p.change()
}

// HasGames reports whether any session of a season has a game.
func (s *Service) HasGames(tx *store.Tx, season string) (bool, error) {
	p := s.plan(tx)
	for it := range p.Rows(p.Tx.QueryAll(p.QueryUnder(pkSeason+season, pkSession))) {
		if p.isPlayed(strings.TrimPrefix(it["sk"].Str(), pkSession)) {
			return true, p.Err()
		}
	}
	return false, p.Err()
}

// isPlayed reports whether a session has a game. An entry whose game was deleted, and which is still to be removed, does not count; one whose
// game has not come from another node does.
func (p *plan) isPlayed(session string) bool {
	for it := range p.Rows(p.Tx.QueryAll(p.QueryUnder(pkSession+session, pkGame))) {
		game := gameOfEntry(it["sk"].Str())
		if p.Get(gameKey(game)) != nil || p.Get(deletedKey(pkGame+game)) == nil {
			return true
		}
	}
	return false
}

// CreateSession creates a session and its mirror.
func (s *Service) CreateSession(tx *store.Tx, se Session) (Change, error) {
	p := s.plan(tx)
	season := must(p, s.Season, se.SeasonID)
	p.tooMany(pkSeason+se.SeasonID, pkSession, MaxSessions, "sessions")
	se.Stamps = s.stamp(tx)
	create(p, "session", se, sessionKey(se.SeasonID, se.SessionID), sessionMirror(se.SessionID))
	p.begin(seasonMirror(se.SeasonID), season.Stamps, se.CreatedAt)
	return p.change("session", se.SessionID)
}

// Session reads a session by its mirror.
func (s *Service) Session(tx *store.Tx, id string) (*Session, error) {
	p := s.plan(tx)
	return requireRecord[Session](p, sessionMirror(id), "Session %s", id), p.Err()
}

// Sessions lists the sessions of a season by date and id.
func (s *Service) Sessions(tx *store.Tx, season string) ([]Session, error) {
	p := s.plan(tx)
	all := list[Session](p, pkSeason+season, pkSession)
	slices.SortFunc(all, inOrder)
	return all, p.Err()
}

func (s Session) place() place { return place{s.SessionDate, s.SessionID} }

// SessionsPage lists a page of the sessions of a season by date and id.
func (s *Service) SessionsPage(tx *store.Tx, season string, page ListPage) (part []Session, next string, err error) {
	all, err := s.Sessions(tx, season)
	part, next = cut(page, all)
	return part, next, err
}

// SeasonTeams returns the three teams of a season. Teams that no admin has named have their default names.
func (s *Service) SeasonTeams(tx *store.Tx, season string) ([]SeasonTeam, error) {
	p := s.plan(tx)
	rows := list[SeasonTeam](p, pkSeason+season, skTeam)
	all := make([]SeasonTeam, 0, thirds)
	for _, id := range TeamIDs() {
		t := usualTeam(season, id)
		if i := slices.IndexFunc(rows, func(r SeasonTeam) bool { return r.TeamID == id }); i >= 0 {
			t = rows[i]
		}
		all = append(all, t)
	}
	return all, p.Err()
}

// usualTeam returns a team with its default name and colour.
func usualTeam(season, id string) SeasonTeam {
	color := defaultTeams[id][1]
	return SeasonTeam{SeasonID: season, TeamID: id, Name: defaultTeams[id][0], Color: &color}
}

// TeamName is the name and colour that an admin gives a team; nil leaves a game's team its colour.
type TeamName struct {
	Name  string
	Color *string
}

// PutSeasonTeam names a team of a season.
func (s *Service) PutSeasonTeam(tx *store.Tx, season, team string, n TeamName) (Change, error) {
	p := s.plan(tx)
	se := must(p, s.Season, season)
	was := optional[SeasonTeam](p, seasonTeamKey(season, team))
	t := SeasonTeam{SeasonID: season, TeamID: team, Name: n.Name, Color: n.Color, Stamps: s.stamp(tx)}
	replace(p, seasonTeamKey(season, team), was, t)
	p.checkParent(seasonMirror(season), se.Stamps)
	return p.change("team", team)
}

// stillAdmin checks that a user has not lost the admin role in the meantime, at any node.
func (p *plan) stillAdmin(league, user string) {
	p.Write(p.Check(aclKey(league, user), table.IfTrue("attribute_exists(pk) AND contains(#data, :role) AND NOT contains(#data, :offered)",
		attr.Item{":role": attr.S(`"role":"` + RoleAdmin + `"`), ":offered": attr.S(`"accepted":false`)})))
}

// Allow refuses a user who has neither the required role in a league nor a stronger one.
func (s *Service) Allow(tx *store.Tx, league, user, role string) error {
	p := s.plan(tx)
	a := optional[Access](p, aclKey(league, user))
	switch {
	case p.Err() != nil:
		return p.Err()
	case a != nil && a.counts() && (a.Role == RoleAdmin || a.Role == role || role == RoleViewer):
		return nil
	case role == RoleAdmin:
		return fault.New(fault.Forbidden, "admin_required", "Admin role is required for league %s.", league)
	case role == RoleScorekeeper:
		return fault.New(fault.Forbidden, "scorekeeper_required", "Admin or scorekeeper role is required for league %s.", league)
	}
	return fault.New(fault.Forbidden, "league_access_required", "Access to league %s is required.", league)
}

// Scope names a record whose league is resolved through the mirrors or the game's row.
type Scope struct{ Kind, ID string } // Kind: league, season, session or game

// LeagueOf returns the league that a scope belongs to.
func (s *Service) LeagueOf(tx *store.Tx, of Scope) (league string, err error) {
	if of.Kind == "league" {
		_, err = s.League(tx, of.ID)
		return of.ID, err
	}
	_, league, err = s.parentIDs(tx, of)
	if err == nil && league == "" {
		err = notFound("acl_scope_not_found", "ACL scope could not be resolved for %s %s.", of.Kind, of.ID)
	}
	return league, err
}

// parentIDs returns the season and league of a scope, each "" if this node does not know it.
func (s *Service) parentIDs(tx *store.Tx, of Scope) (season, league string, err error) {
	p := s.plan(tx)
	switch of.Kind {
	case "season":
		season = of.ID
	case "session":
		if se := optional[Session](p, sessionMirror(of.ID)); se != nil {
			season = se.SeasonID
		}
	case "game":
		if g := optional[Game](p, gameKey(of.ID)); g != nil {
			return g.SeasonID, g.LeagueID, p.Err()
		}
	}
	if se := optional[Season](p, seasonMirror(season)); se != nil {
		league = se.LeagueID
	}
	return season, league, p.Err()
}
