package reference

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/table"
)

// Readings is what this node has read of the feed since it was started, and the rules that derive rows from it. What the feed says is no row:
// each node reads it itself, and only the node that reads writes. A unit is derived once for each reading, not when its rows change:
// otherwise a node with an old reading would write it over a newer one of another node, again and again.
type Readings struct {
	LeagueRows, TeamRows, SeasonRows *derived.Rule

	mu      sync.Mutex
	leagues []LeagueRecord
	teams   []TeamRecord
	seasons map[string]*season
}

// season is what was read of a season of a league.
type season struct {
	code, name string                   // the league's code, and the season's name
	squads     map[string][]SquadPlayer // by team; a team without an entry has not been read
	at         map[string]time.Time     // when
}

// allRecords is the one unit of leagues, and of teams: the feed lists them all at once.
const allRecords = "all"

// NewReadings returns no readings, with their rules.
func NewReadings() *Readings {
	r := &Readings{seasons: map[string]*season{}}
	r.LeagueRows = &derived.Rule{
		Name: "leagues", Rows: table.Handle{Table: tables.Leagues, PK: "leagueId"}, News: &derived.News{},
		Units: r.units(func() []string { return unitOfAll(r.leagues) }), Sources: wholeTables(derived.Source{Table: tables.Leagues, What: "the leagues that the cloud has"}),
		Read: func(tx *store.Tx, _ string) (derived.Unit, error) { return unitOf(tx, readOf(r, &r.leagues)) },
	}
	r.TeamRows = &derived.Rule{
		Name: "teams", Rows: table.Handle{Table: tables.Teams, PK: "teamId"}, News: &derived.News{},
		Units: r.units(func() []string { return unitOfAll(r.teams) }), Sources: wholeTables(derived.Source{Table: tables.Teams, What: "the teams that the cloud has"}),
		Read: func(tx *store.Tx, _ string) (derived.Unit, error) { return unitOf(tx, readOf(r, &r.teams)) },
	}
	r.SeasonRows = &derived.Rule{
		Name: "seasons of teams", Rows: table.Handle{Table: tables.TeamSeasons, PK: "seasonId", SK: "teamId"}, News: &derived.News{},
		Units: r.units(func() []string { return slices.Sorted(maps.Keys(r.seasons)) }),
		Sources: wholeTables(
			derived.Source{Table: tables.TeamSeasons, What: "the seasons of teams that the cloud has"},
			derived.Source{Table: tables.Fixtures, What: "all matches"},
		),
		Read: r.readSeason,
	}
	return r
}

// Rules returns the rules.
func (r *Readings) Rules() []*derived.Rule {
	return []*derived.Rule{r.LeagueRows, r.TeamRows, r.SeasonRows}
}

// units returns a derived.Rule's Units: all that has been read at first, and none because of a record.
func (r *Readings) units(all func() []string) func(*store.Tx, []store.Record) ([]string, error) {
	return func(_ *store.Tx, records []store.Record) ([]string, error) {
		if records != nil {
			return nil, nil
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		return all(), nil
	}
}

func unitOfAll[R any](records []R) []string {
	if len(records) == 0 {
		return nil
	}
	return []string{allRecords}
}

func wholeTables(sources ...derived.Source) func(*store.Tx, string) ([]derived.Source, error) {
	return func(*store.Tx, string) ([]derived.Source, error) { return sources, nil }
}

// SetLeagues records what the feed says of all leagues, and returns the unit to derive.
func (r *Readings) SetLeagues(all ...LeagueRecord) (unit string) {
	setAll(r, &r.leagues, all)
	r.LeagueRows.News.Add(allRecords)
	return allRecords
}

// SetTeams records what the feed says of all teams, and returns the unit to derive.
func (r *Readings) SetTeams(all ...TeamRecord) (unit string) {
	setAll(r, &r.teams, all)
	r.TeamRows.News.Add(allRecords)
	return allRecords
}

func setAll[R any](r *Readings, to *[]R, all []R) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*to = slices.Clone(all)
}

// readOf returns what was read. Nobody changes it afterwards.
func readOf[R any](r *Readings, of *[]R) []R {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *of
}

// SetSquad records the squad of a team in a season of the league with a code; nil if the feed has none.
func (r *Readings) SetSquad(code, seasonID, seasonName, teamID string, squad []SquadPlayer, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seasons[seasonID]
	if s == nil {
		s = &season{squads: map[string][]SquadPlayer{}, at: map[string]time.Time{}}
		r.seasons[seasonID] = s
	}
	s.code, s.name, s.squads[teamID], s.at[teamID] = code, seasonName, squad, at
}

// SeasonRead announces that squads of a season have been read.
func (r *Readings) SeasonRead(seasonID string) { r.SeasonRows.News.Add(seasonID) }

// season returns a copy of what was read of a season.
func (r *Readings) season(id string) season {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seasons[id]
	if s == nil {
		return season{}
	}
	return season{code: s.code, name: s.name, squads: maps.Clone(s.squads), at: maps.Clone(s.at)}
}

// unitOf returns the rows of records of the feed, each record once.
func unitOf[R record](tx *store.Tx, records []R) (u derived.Unit, err error) {
	seen := map[string]bool{}
	for i := range records {
		at := records[i].row()
		if !at.isWhole() || seen[at.id] {
			continue
		}
		seen[at.id] = true
		was, fed, err := both(tx, at, &records[i])
		if err != nil {
			return u, err
		}
		u.Rows = append(u.Rows, at.derive(was, fed))
	}
	return u, nil
}

// both returns a row as it is, and what the feed says of it.
func both(tx *store.Tx, at row, says any) (was, fed attr.Item, err error) {
	if fed, err = attr.Marshal(says); err != nil {
		return nil, nil, err
	}
	was, err = tx.Get(at.table, at.item())
	return was, fed, err
}

// derive returns a row, given the row as it is and what the feed says of it. What the feed does not say stays, and so does what an admin has
// set. The time of the reading goes with other changes, and is none by itself.
func (r row) derive(was, fed attr.Item) derived.Row {
	out := derived.Row{Key: r.item(), Was: was, After: attr.Item{}}
	if was != nil {
		out.Before = r.values(was)
		out.After = maps.Clone(out.Before)
		out.Blank = len(out.Before) == 0
	}
	for _, name := range r.feedAttrs(was) {
		if v, ok := fed[name]; ok {
			out.After[name] = v
		}
	}
	out.Set = maps.Clone(out.After)
	also := []string{"updatedAt"}
	if was == nil {
		also = append(also, r.first...)
	}
	for _, name := range also {
		if v, ok := fed[name]; ok {
			out.Set[name] = v
		}
	}
	return out
}

// feedAttrs returns the attributes of a row that the feed decides.
func (r row) feedAttrs(was attr.Item) []string {
	admins := adminFields(was)
	return slices.DeleteFunc(slices.Clone(r.fed), func(name string) bool { return slices.Contains(admins, name) })
}

// values returns those of them that the row has.
func (r row) values(was attr.Item) attr.Item {
	out := attr.Item{}
	for _, name := range r.feedAttrs(was) {
		if v, ok := was[name]; ok {
			out[name] = v
		}
	}
	return out
}

// signWithout returns the signature of a row once an admin decides about fields; zero if it has none that holds.
func (r row) signWithout(was, fields attr.Item) attr.Value {
	values := r.values(was)
	if !was[derived.By].Equal(derived.Signature(r.item(), values)) {
		return attr.Value{}
	}
	maps.DeleteFunc(values, func(name string, _ attr.Value) bool { return !fields[name].IsZero() })
	return derived.Signature(r.item(), values)
}

// readSeason computes the rows of a season's teams whose squads have been read.
func (r *Readings) readSeason(tx *store.Tx, id string) (u derived.Unit, err error) {
	s := r.season(id)
	if s.code == "" {
		return u, nil
	}
	fixtures, unreadable, err := matches.Fixtures{}.OfLeague(tx, s.code)
	if err != nil {
		return u, err
	}
	for _, key := range unreadable {
		u.Unread = append(u.Unread, "Match "+key+" cannot be read: the results of the season's teams are not counted.")
	}
	standings := Standings(fixtures, id)
	for _, team := range slices.Sorted(maps.Keys(standings)) {
		squad, read := s.squads[team]
		if !read {
			continue
		}
		record := standings[team]
		record.SeasonName, record.Squad, record.UpdatedAt = s.name, squad, s.at[team]
		if err := addTeamSeason(tx, &u, record); err != nil {
			return u, err
		}
	}
	return u, nil
}

// addTeamSeason adds the row of a team. Its results stay if it counts more matches than are known here, or if one cannot be read; then a new
// row waits.
func addTeamSeason(tx *store.Tx, u *derived.Unit, record *TeamSeasonRecord) error {
	at := record.row()
	was, fed, err := both(tx, at, record)
	if err != nil {
		return err
	}
	if was == nil && len(u.Unread) > 0 {
		return nil
	}
	if played, _ := was["played"].Int(); int(played) > record.Played || len(u.Unread) > 0 {
		for _, name := range results {
			delete(fed, name)
		}
	}
	u.Rows = append(u.Rows, at.derive(was, fed))
	return nil
}
