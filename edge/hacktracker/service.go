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

// Service implements the scorebook on one table.
type Service struct{ table.Handle }

// action lists the roles that may do something, as in the original's POLICY_MAP.
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

// Book is the scorebook opened for a user in one transaction. After an error its methods read and write nothing.
type Book struct {
	*Service
	table.Plan
	user string
	once string // scope of Idempotency-Keys: the user, or the device that an entry was made on

	madeBy string // who made what the user hands in; empty: the user
}

// Open opens the scorebook for a user. user may be empty if no operation needs permission.
func (s *Service) Open(tx *store.Tx, user string) *Book { return s.OpenOnce(tx, user, user) }

// OpenOnce is Open for a request with an Idempotency-Key, whose scope is once.
func (s *Service) OpenOnce(tx *store.Tx, user, once string) *Book {
	return &Book{Service: s, Plan: s.Plan(tx), user: user, once: once}
}

// HandIn notes that the user hands in what somebody else has made: a user, or a device.
func (b *Book) HandIn(madeBy string) { b.madeBy = madeBy }

// requireRow reads a row that must exist.
func (b *Book) requireRow(k attr.Item, what string) attr.Item {
	it := b.readRow(k)
	b.Refuse(it == nil, notFound(what))
	return it
}

// read reads the members of a body that are in fields; those in needed are required.
func (b *Book) read(fields map[string]patch.Field, in Input, needed ...string) patch.Patch {
	p, err := patch.Read(fields, in, needed...)
	b.Fail(err)
	return p
}

// change is like read, for a body that must change something. It ignores the members in without.
func (b *Book) change(fields map[string]patch.Field, in Input, without ...string) patch.Patch {
	maps.DeleteFunc(fields, func(name string, _ patch.Field) bool { return slices.Contains(without, name) })
	p, err := patch.ReadSome(fields, in)
	b.Fail(err)
	return p
}

// Make commits the writes returned by NewTeam, NewPlayer or NewGame, and returns the id.
func (b *Book) Make(id string, writes []store.WriteItem) string {
	b.Commit(writes...)
	return id
}

// update returns the write that applies a patch, stamped with the current time, under a condition.
func (b *Book) update(k attr.Item, p patch.Patch, condition string, values attr.Item) store.WriteItem {
	p.Set["updatedAt"] = b.now()
	return store.WriteItem{Update: p.Update(b.Table, k, table.IfTrue(condition, values))}
}

// The conditions that a row exists, and that a player is a ghost or not.
const (
	exists  = "attribute_exists(PK)"
	isGhost = exists + " AND isGhost = :ghost"
)

// allow returns a team to a member who may do something with it.
func (b *Book) allow(team string, do action) Team {
	t, it := b.team(team), b.readRow(memberKey(b.user, team))
	m := membershipOf(it)
	b.Refuse(it == nil, forbidden("User is not a member of this team"))
	b.Refuse(!m.isActive(), forbidden("Team membership is not active"))
	b.Refuse(do != anyMember && !slices.Contains(strings.Split(string(do), ", "), string(m.Role)), forbidden("Insufficient permissions. Required: %s", do))
	t.Role, t.Offered = m.Role, !m.isAccepted()
	return t
}

// asRole returns the check that the user still has a role when the write reaches the cloud.
func (b *Book) asRole(team string, role Role) store.WriteItem {
	return b.Check(memberKey(b.user, team), table.IfTrue("#role = :role AND #status = :active", attr.Item{":role": attr.S(string(role)), ":active": attr.S(active)}))
}

// checkTeamExists returns the check that a team has not been deleted.
func (s *Service) checkTeamExists(team string) store.WriteItem {
	return s.Check(teamKey(team), table.IfTrue(exists+" AND (attribute_not_exists(#status) OR #status <> :deleted)", attr.Item{":deleted": attr.S(deleted)}))
}

// Now returns the time of the transaction.
func (b *Book) Now() time.Time { return b.Tx.Now() }

// StampAfter returns Now plus after in the format of the rows.
func (b *Book) StampAfter(after time.Duration) string {
	return b.Now().Add(after).UTC().Format(patch.Stamp)
}

func (b *Book) now() attr.Value { return attr.S(b.StampAfter(0)) }

// Stamp sets the times of a new row and the attributes in set.
func (b *Book) Stamp(row, set attr.Item) attr.Item {
	maps.Copy(row, set)
	row["createdAt"], row["updatedAt"] = b.now(), b.now()
	return row
}

// newID returns the id of a record to create. With an Idempotency-Key it is derived from the key, so that it is the same at every node.
func (b *Book) newID(kind, once string) string {
	if once == "" {
		return uuid.NewString()
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("hacktracker#"+b.once+"#"+kind+"#"+once)).String()
}

// collect decodes the rows in a partition of the table or an index whose sort keys have a prefix. It skips misshapen ones.
func collect[T any](b *Book, index, pk, prefix string, of func(it attr.Item) T) []T {
	return table.Decode(&b.Plan, b.Tx.QueryAll(b.ByIndex(index, index+"PK", index+"SK").QueryUnder(pk, prefix)), decoder(of))
}

// Page selects a part of a list.
type Page struct {
	Limit int
	Start attr.Item // key of the last row before the page; nil for the first page
}

// listKind reads a page of the rows of a kind, without misshapen ones, and returns the key of its last row; nil if there are no more.
func listKind[T any](b *Book, kind string, p Page, of func(it attr.Item) T) (out []T, next attr.Item) {
	if b.Err() != nil {
		return nil, nil
	}
	q := store.Query{Table: b.Table, Index: indexEntity, KeyCondition: "GSI2PK = :kind", Limit: p.Limit, StartKey: p.Start}
	q.Values = attr.Item{":kind": attr.S("ENTITY#" + kind)}
	found, err := b.Tx.Query(q)
	if p.Start != nil && fault.Is(err, fault.Invalid) {
		err = Invalid("Invalid nextToken")
	}
	b.Fail(err)
	out = []T{}
	for _, it := range found.Items {
		if v, err := decoder(of)(it); err != nil {
			b.Skip(it, err)
		} else {
			out = append(out, v)
		}
	}
	return out, found.LastKey
}

// OnceRow returns where the row is that makes a request with an Idempotency-Key take effect once across all nodes. The scope is the user, or the
// device that the entry was made on.
func (s *Service) OnceRow(scope, path, once string, in Input) (at idempotency.Former, err error) {
	at.Key = key(prefixOnce+scope+"#"+once, skMetadata)
	at.Hash, err = idempotency.Hash(scope+" "+path, in)
	return at, err
}

// Needs returns the partitions of a request that another node may have written to: those of the game and its team, or of the team, else
// of all the user's teams; and those of the user and of other. Empty ids are left out.
func (b *Book) Needs(game, team, other string) (all []attr.Item) {
	switch {
	case game != "":
		team = cmp.Or(team, gameOf(b.Get(gameKey(game))).TeamID)
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
