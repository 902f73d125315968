package threefc

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/touchline/touchline/store"
)

// gameDirectory holds the leagues and join codes of all games, so that what is asked by a code or for a player does not read them all. It
// follows the journal like the directory of leagues, and may be newer than the transaction that uses it.
type gameDirectory struct {
	mu    sync.Mutex
	seq   uint64                     // the journal up to here is in it
	games map[string]listedGame      // by id; nil: to be read
	codes map[string]string          // ids of games by join code
	of    map[string]map[string]bool // ids of games by league
}

// listedGame is what the directory knows of a game.
type listedGame struct{ code, league string }

// gameDirectory returns the directory of games, up to date for a transaction and locked, until done is called. A write transaction may be undone, so it gets
// a directory of its own.
func (p *plan) gameDirectory() (d *gameDirectory, done func()) {
	d = &p.games
	if p.Tx.Writes() {
		d = &gameDirectory{}
	}
	d.mu.Lock()
	if !d.follow(p) {
		d.read(p)
	}
	return d, d.mu.Unlock
}

// follow applies what was written since. It returns false if the directory must be read anew.
func (d *gameDirectory) follow(p *plan) (ok bool) {
	if d.games == nil {
		return false
	}
	d.seq, ok = p.applySince(d.seq, func(r *store.Record) {
		id, isGame := strings.CutPrefix(r.Key["pk"].Str(), pkGame)
		if !isGame || r.Key["sk"].Str() != skMeta {
			return
		}
		d.remove(id)
		if g := listable[Game](p, r.New); g != nil {
			d.add(id, g)
		}
	})
	return ok
}

// read reads the directory anew.
func (d *gameDirectory) read(p *plan) {
	d.games, d.codes, d.of = map[string]listedGame{}, map[string]string{}, map[string]map[string]bool{}
	d.seq = p.Tx.Seq()
	for g := range scan[Game](p, pkGame, skMeta) {
		d.add(g.GameID, g)
	}
	if p.Err() != nil {
		d.games = nil
	}
}

func (d *gameDirectory) add(id string, g *Game) {
	d.games[id] = listedGame{g.JoinCode, g.LeagueID}
	if g.JoinCode != "" {
		d.codes[g.JoinCode] = id
	}
	if d.of[g.LeagueID] == nil {
		d.of[g.LeagueID] = map[string]bool{}
	}
	d.of[g.LeagueID][id] = true
}

func (d *gameDirectory) remove(id string) {
	was, there := d.games[id]
	if !there {
		return
	}
	delete(d.games, id)
	if d.codes[was.code] == id {
		delete(d.codes, was.code)
	}
	if delete(d.of[was.league], id); len(d.of[was.league]) == 0 {
		delete(d.of, was.league)
	}
}

// gameOfCode returns the game whose row has a join code, or "".
func (p *plan) gameOfCode(code string) string {
	d, done := p.gameDirectory()
	defer done()
	return d.codes[code]
}

// gamesOfLeague returns the ids of a league's games.
func (p *plan) gamesOfLeague(league string) []string {
	d, done := p.gameDirectory()
	defer done()
	return slices.Collect(maps.Keys(d.of[league]))
}

// leaguesOf returns the ids of the leagues in which a user has the row of a role.
func (p *plan) leaguesOf(user string) []string {
	d, done := p.directoryOf()
	defer done()
	return slices.Collect(maps.Keys(d.members[user]))
}
