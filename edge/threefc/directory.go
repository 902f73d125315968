package threefc

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// directory holds the names of all leagues and who has a role in which, so that lists and addresses of leagues do not read the whole table.
// It follows the journal: each read transaction that uses it brings it up to date first. It may be newer than that transaction.
type directory struct {
	mu      sync.Mutex
	seq     uint64 // the journal up to here is in it
	leagues map[string]*listedLeague
	members map[string]map[string]bool // ids of leagues by user: those with a row of a role, whatever it says
	sorted  []*listedLeague            // by name and id; nil: to be sorted again
}

// listedLeague is what the directory knows of a league. It never changes.
type listedLeague struct {
	id, name, createdAt, createdBy string
	slug                           *string
}

// mostBehind is how many records a directory may be behind: beyond that it is read anew, which costs less.
const mostBehind = 4096

// directoryOf returns the directory, up to date for a transaction and locked, until done is called. A write transaction may be undone, so
// it gets a directory of its own.
func (p *plan) directoryOf() (d *directory, done func()) {
	d = &p.leagues
	if p.Tx.Writes() {
		d = &directory{}
	}
	d.mu.Lock()
	if !d.follow(p) {
		d.read(p)
	}
	return d, d.mu.Unlock
}

// restrictedTo returns a directory of its own with the leagues that a user has created and the user's roles, as of the last read transaction. A write
// transaction brings it up to date, and may then be undone.
func (d *directory) restrictedTo(user string) *directory {
	d.mu.Lock()
	defer d.mu.Unlock()
	part := &directory{seq: d.seq}
	if d.leagues == nil {
		return part
	}
	part.leagues, part.members = map[string]*listedLeague{}, map[string]map[string]bool{}
	for id, l := range d.leagues {
		if l.createdBy == user {
			part.leagues[id] = l
		}
	}
	if of := d.members[user]; of != nil {
		part.members[user] = maps.Clone(of)
	}
	return part
}

// follow applies what was written since. It returns false if the directory must be read anew.
func (d *directory) follow(p *plan) (ok bool) {
	if d.leagues == nil {
		return false
	}
	d.seq, ok = p.applySince(d.seq, func(r *store.Record) { d.apply(p, r.Key, r.New) })
	return ok
}

// applySince calls apply for what was written to the table after a record of the journal, and returns the last record seen. It returns false if the
// journal does not go back so far, or too far.
func (p *plan) applySince(seq uint64, apply func(r *store.Record)) (last uint64, ok bool) {
	now := p.Tx.Seq()
	if now > seq+mostBehind {
		return seq, false
	}
	for seq < now {
		records, err := p.Tx.Journal(seq, int(now-seq))
		if p.Fail(err); err != nil {
			return seq, true
		}
		if len(records) == 0 || records[0].Seq != seq+1 {
			return seq, false // trimmed, or another incarnation
		}
		for i := range records {
			if r := &records[i]; r.Table == p.Table {
				apply(r)
			}
		}
		seq = records[len(records)-1].Seq
	}
	return seq, true
}

// read reads the directory anew.
func (d *directory) read(p *plan) {
	d.leagues, d.members, d.sorted = map[string]*listedLeague{}, map[string]map[string]bool{}, nil
	d.seq = p.Tx.Seq()
	for it := range p.Rows(p.Tx.ScanAll(store.Scan{Table: p.Table, Prefix: pkLeague})) {
		d.apply(p, it, it)
	}
	if p.Err() != nil {
		d.leagues = nil
	}
}

// apply sets what a row says; nil: the row is gone.
func (d *directory) apply(p *plan, k, it attr.Item) {
	id, isLeague := strings.CutPrefix(k["pk"].Str(), pkLeague)
	if !isLeague {
		return
	}
	if user, isRole := strings.CutPrefix(k["sk"].Str(), skACL); isRole {
		d.setMember(user, id, it != nil)
		return
	}
	if k["sk"].Str() == skMeta {
		delete(d.leagues, id)
		d.sorted = nil
		if l := listable[League](p, it); l != nil {
			d.leagues[id] = &listedLeague{id, l.Name, l.CreatedAt, l.CreatedByUserID, l.Slug}
		}
	}
}

// listable decodes a row for a directory; nil if it is gone, holds another entity or cannot be decoded.
func listable[T any, P stamped[T]](p *plan, it attr.Item) *T {
	if it == nil || it["entityType"].Str() != entityOf(it) {
		return nil
	}
	v, err := decode[T, P](it)
	if err != nil {
		p.Skip(it, err)
		return nil
	}
	return &v
}

func (d *directory) setMember(user, league string, is bool) {
	of := d.members[user]
	switch {
	case !is:
		if delete(of, league); len(of) == 0 {
			delete(d.members, user)
		}
	case of == nil:
		d.members[user] = map[string]bool{league: true}
	default:
		of[league] = true
	}
}

// all returns all leagues in order.
func (d *directory) all() []*listedLeague {
	if d.sorted == nil {
		d.sorted = make([]*listedLeague, 0, len(d.leagues))
		for _, l := range d.leagues {
			d.sorted = append(d.sorted, l)
		}
		slices.SortFunc(d.sorted, inOrder)
	}
	return d.sorted
}

// leaguesOf returns the leagues of a user in order.
func (d *directory) leaguesOf(user string) (all []*listedLeague) {
	for id := range d.members[user] {
		if l := d.leagues[id]; l != nil {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, inOrder)
	return all
}

// place returns a league's place in lists.
func (l *listedLeague) place() place { return place{l.name, l.id} }

// PublicLeagues lists all leagues by name, with what everybody may know: the id, the name and the slug.
func (s *Service) PublicLeagues(tx *store.Tx, page ListPage) (out []League, next string, err error) {
	p := s.plan(tx)
	d, done := p.directoryOf()
	defer done()
	part, next := cut(page, d.all())
	for _, l := range part {
		out = append(out, League{LeagueID: l.id, Name: l.name, Slug: l.slug})
	}
	return out, next, p.Err()
}

// LeaguesOf lists the leagues of a user by name. It leaves out those whose rows, or whose row of the user's role, cannot be decoded.
func (s *Service) LeaguesOf(tx *store.Tx, user string, page ListPage) (out []OwnLeague, next string, err error) {
	p := s.plan(tx)
	d, done := p.directoryOf()
	part, next := cut(page, d.leaguesOf(user))
	done()
	out = []OwnLeague{}
	for _, listed := range part {
		l, a := readable[League](p, leagueKey(listed.id)), readable[Access](p, aclKey(listed.id, user))
		if l == nil || a == nil {
			continue
		}
		one := OwnLeague{League: *l}
		one.Access.Role = a.Role
		if !a.counts() {
			one.Access.Accepted = a.Accepted
		}
		out = append(out, one)
	}
	return out, next, p.Err()
}

// lookFor looks for the rows by which a league with an id or slug would be found, so that the cloud can be asked for them.
func (p *plan) lookFor(text string) {
	p.LookFor(leagueKey(text))
	row, err := p.Tx.Get(p.Table, slugKey(text))
	if err != nil && !fault.Is(err, fault.Invalid) { // no row can have an invalid key
		p.Fail(err)
	}
	for _, id := range row["leagueIds"].Strs() {
		p.LookFor(leagueKey(id))
	}
}

// LeagueNamed finds a league by its id or slug.
func (s *Service) LeagueNamed(tx *store.Tx, text string) (*League, error) {
	p := s.plan(tx)
	d, done := p.directoryOf()
	var ids []string
	if d.leagues[text] != nil {
		ids = append(ids, text)
	}
	for id, l := range d.leagues {
		if l.slug != nil && *l.slug == text && id != text {
			ids = append(ids, id)
		}
	}
	done()
	if len(ids) == 0 {
		p.lookFor(text)
	}
	var all []League
	for _, id := range ids {
		if l := readable[League](p, leagueKey(id)); l != nil {
			all = append(all, *l)
		}
	}
	if p.Err() != nil {
		return nil, p.Err()
	}
	return findNamed(all, text, "League", func(l *League) (string, *string) { return l.LeagueID, l.Slug })
}

// Limits of what a user may create, many times what anybody has, so that lists have a bounded size. Another node may let a few more pass.
const (
	MaxLeagues  = 200 // created by one user
	MaxSeasons  = 200 // of a league
	MaxSessions = 400 // of a season
	MaxGames    = 150 // of a session
	MaxPlayers  = 300 // of a game
)

// tooMany refuses to create one more record than the most in a partition.
func (p *plan) tooMany(pk, prefix string, most int, what string) {
	p.Refuse(p.Count(p.QueryUnder(pk, prefix), most) >= most, conflict("too_many_"+what, "There are %d %s, the most allowed: delete some first.", most, what))
}

// FollowLeagues brings up to date what lists and addresses of leagues use. Before a write transaction that depends on it, it saves the writer the
// time of reading all leagues.
func (s *Service) FollowLeagues(tx *store.Tx) error {
	p := s.plan(tx)
	_, done := p.directoryOf()
	done()
	return p.Err()
}

// mayCreateLeague refuses a user who has created as many leagues as one may, counting those that this transaction and others in its batch make.
func (p *plan) mayCreateLeague(user string) {
	d := p.leagues.restrictedTo(user)
	if !d.follow(p) {
		d.read(p)
	}
	n := 0
	for id := range d.members[user] {
		if l := d.leagues[id]; l != nil && l.createdBy == user {
			n++
		}
	}
	p.Refuse(n >= MaxLeagues, conflict("too_many_leagues", "You have created %d leagues, the most that one person may have: delete one first.", n))
}
