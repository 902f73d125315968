package hacktracker

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/patch"
	"github.com/touchline/touchline/store/table"
)

// Service is the scorebook over a table.
type Service struct{ Table string }

// action is something that only some roles may do: those that the original's POLICY_MAP has.
type action string

const (
	anyMember    action = ""
	ownTeam      action = "owner"                       // delete_team
	manageRoster action = "owner, manager"              // and manage_team
	manageGames  action = "owner, manager, scorekeeper" // and manage_atbats
)

func forbidden(format string, args ...any) error {
	return fault.New(fault.Forbidden, "forbidden", format, args...)
}

func notFound(what string) error { return fault.New(fault.NotFound, "not_found", "%s not found", what) }

// Book is the scorebook as a user has it open, in one transaction. Its first error stays: what is asked of it after that reads and writes
// nothing, and Err says why.
type Book struct {
	*Service
	tx   *store.Tx
	user string
	err  error
}

// Open opens the scorebook for a user; for nobody, where nothing is asked that has to be allowed.
func (s *Service) Open(tx *store.Tx, user string) *Book { return &Book{Service: s, tx: tx, user: user} }

// Err is the first error.
func (b *Book) Err() error { return b.err }

// Fail has an error stay, if it is one and the first.
func (b *Book) Fail(err error) { b.err = cmp.Or(b.err, err) }

// refuse is Fail where something is so.
func (b *Book) refuse(is bool, why error) {
	if is {
		b.Fail(why)
	}
}

// get reads a row; nil: there is none.
func (b *Book) get(k attr.Item) (it attr.Item) {
	if b.err == nil {
		it, b.err = b.tx.Get(b.Table, k)
	}
	return it
}

// known reads a row that is to be there.
func (b *Book) known(k attr.Item, what string) attr.Item {
	it := b.get(k)
	b.refuse(it == nil, notFound(what))
	return it
}

// read reads the members of a body that fields know, of which some are needed.
func (b *Book) read(fields map[string]patch.Field, in Input, needed ...string) patch.Patch {
	p, err := patch.Read(fields, in, needed...)
	b.Fail(err)
	return p
}

// change is read for a body that has to change something. Those named are of no interest.
func (b *Book) change(fields map[string]patch.Field, in Input, without ...string) patch.Patch {
	maps.DeleteFunc(fields, func(name string, _ patch.Field) bool { return slices.Contains(without, name) })
	p, err := patch.ReadSome(fields, in)
	b.Fail(err)
	return p
}

// commit makes writes in one transaction; one alone is sent as what it is, at half the price.
func (b *Book) commit(writes ...store.WriteItem) {
	if b.err == nil {
		b.err = b.tx.TransactWrite(store.TransactWrite{Items: writes})
	}
}

// Make makes what NewTeam, NewPlayer or NewGame has returned, and returns its id.
func (b *Book) Make(id string, writes []store.WriteItem) string {
	b.commit(writes...)
	return id
}

// update is the write of a patch, of now, under a condition.
func (b *Book) update(k attr.Item, p patch.Patch, condition string, values attr.Item) store.WriteItem {
	p.Set["updatedAt"] = b.now()
	return store.WriteItem{Update: p.Update(b.Table, k, table.When(condition, values))}
}

// remove is the deletion of a row under a condition.
func (s *Service) remove(k attr.Item, condition string, values attr.Item) store.WriteItem {
	return table.Delete(s.Table, k, table.When(condition, values))
}

// drop is the deletion of a row, whatever it is by now.
func (s *Service) drop(row attr.Item) store.WriteItem {
	return table.Delete(s.Table, key(row["PK"].Str(), row["SK"].Str()), table.If{})
}

// The conditions that a row is there, and that a player is a ghost or is none.
const (
	exists  = "attribute_exists(PK)"
	isGhost = exists + " AND isGhost = :ghost"
)

// allow returns a team to a member who may do something with it.
func (b *Book) allow(team string, do action) Team {
	t, it := b.team(team), b.get(memberKey(b.user, team))
	m := membershipOf(it)
	b.refuse(it == nil, forbidden("User is not a member of this team"))
	b.refuse(m.Status != active, forbidden("Team membership is not active"))
	b.refuse(do != anyMember && !slices.Contains(strings.Split(string(do), ", "), string(m.Role)), forbidden("Insufficient permissions. Required: %s", do))
	t.Role = m.Role
	return t
}

// check is the condition of a transaction on a row that it does not write.
func (s *Service) check(k attr.Item, condition string, values attr.Item) store.WriteItem {
	return table.Check(s.Table, k, table.When(condition, values))
}

// asRole is the check that who writes still has a role when a write reaches the cloud.
func (b *Book) asRole(team string, role Role) store.WriteItem {
	return b.check(memberKey(b.user, team), "#role = :role AND #status = :active", attr.Item{":role": attr.S(string(role)), ":active": attr.S(active)})
}

// there is the check that a team has not been deleted.
func (s *Service) there(team string) store.WriteItem {
	return s.check(teamKey(team), exists+" AND (attribute_not_exists(#status) OR #status <> :deleted)", attr.Item{":deleted": attr.S(deleted)})
}

// create is the write of a row that is not there yet.
func (s *Service) create(row attr.Item) store.WriteItem {
	return table.Put(s.Table, row, table.Same(nil, "PK"))
}

// Now is the moment of the transaction.
func (b *Book) Now() time.Time { return b.tx.Now() }

// At is a moment after it, as rows have moments.
func (b *Book) At(after time.Duration) string { return b.Now().Add(after).UTC().Format(patch.Stamp) }

func (b *Book) now() attr.Value { return attr.S(b.At(0)) }

// Stamp gives a new row its times, and what else is set in it.
func (b *Book) Stamp(row, set attr.Item) attr.Item {
	maps.Copy(row, set)
	row["createdAt"], row["updatedAt"] = b.now(), b.now()
	return row
}

// newID is the id of what a request makes: with an Idempotency-Key it is made of that, so that it is one whichever node is asked.
func (b *Book) newID(kind, once string) string {
	if once == "" {
		return uuid.NewString()
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("hacktracker#"+b.user+"#"+kind+"#"+once)).String()
}

// each reads all rows of a partition of the table or of an index whose sort key begins with a prefix.
func (b *Book) each(index, pk, prefix string, do func(it attr.Item)) {
	q := store.Query{Table: b.Table, Index: index, KeyCondition: index + "PK = :pk AND begins_with(" + index + "SK, :sk)"}
	q.Values = attr.Item{":pk": attr.S(pk), ":sk": attr.S(prefix)}
	if b.err != nil {
		return
	}
	for it, err := range b.tx.QueryAll(q) {
		if b.Fail(err); err != nil {
			return
		}
		do(it)
	}
}

// collect reads all rows that each would, as what they are.
func collect[T any](b *Book, index, pk, prefix string, of func(it attr.Item) T) []T {
	out := []T{}
	b.each(index, pk, prefix, func(it attr.Item) { out = append(out, of(it)) })
	return out
}

// Page is a part of a list.
type Page struct {
	Limit int
	Start attr.Item // the key that it follows; nil: the first
}

// listed reads a page of all rows of a kind, and the key that it ends with; nil: it is the last.
func listed[T any](b *Book, kind string, p Page, of func(it attr.Item) T) (out []T, next attr.Item) {
	if b.err != nil {
		return nil, nil
	}
	q := store.Query{Table: b.Table, Index: indexEntity, KeyCondition: "GSI2PK = :kind", Limit: p.Limit, StartKey: p.Start}
	q.Values = attr.Item{":kind": attr.S("ENTITY#" + kind)}
	found, err := b.tx.Query(q)
	if p.Start != nil && fault.Is(err, fault.Invalid) {
		err = Invalid("Invalid nextToken")
	}
	b.Fail(err)
	out = []T{}
	for _, it := range found.Items {
		out = append(out, of(it))
	}
	return out, found.LastKey
}

// Once is the row by which a user's request with an Idempotency-Key takes effect once, whichever node is asked.
func (s *Service) Once(user, path, once, node string, in Input) (*idempotency.Row, error) {
	hash, err := idempotency.Hash(user+" "+path, in)
	return &idempotency.Row{Table: s.Table, Key: key(prefixOnce+user+"#"+once, skMetadata), Hash: hash, Node: node}, err
}

// Needs are the partitions of a request that another node may have written to: of a game with its team, of a team, else of all teams of the
// user, of the user and of another. Empty ones are none.
func (b *Book) Needs(game, team, other string) (all []attr.Item) {
	switch {
	case game != "":
		team = cmp.Or(team, gameOf(b.get(gameKey(game))).TeamID)
	case team == "":
		for _, m := range b.memberships(b.user) {
			all = append(all, teamKey(m.TeamID))
		}
	}
	for _, pk := range []string{prefixGame + game, prefixTeam + team, prefixUser + b.user, prefixUser + other} {
		if !strings.HasSuffix(pk, "#") {
			all = append(all, attr.Item{"PK": attr.S(pk)})
		}
	}
	return all
}
