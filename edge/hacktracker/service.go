package hacktracker

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/patch"
)

// Service is the scorebook over a table.
type Service struct{ Table string }

// action is something that only some roles may do.
type action string

const (
	anyMember    action = ""
	manageRoster action = "manage_roster"
	manageTeam   action = "manage_team"
	deleteTeam   action = "delete_team"
	manageGames  action = "manage_games"
	manageAtBats action = "manage_atbats"
	ownTeam      action = "own_team"
)

// policy is the original's POLICY_MAP.
var policy = map[action]string{
	manageRoster: "owner, manager", manageTeam: "owner, manager", deleteTeam: "owner", ownTeam: "owner",
	manageGames: "owner, manager, scorekeeper", manageAtBats: "owner, manager, scorekeeper",
}

func forbidden(format string, args ...any) error {
	return fault.New(fault.Forbidden, "forbidden", format, args...)
}

func notFound(what string) error { return fault.New(fault.NotFound, "not_found", "%s not found", what) }

// work is what is done in a transaction. Its first error stays: what it is asked after that reads and writes nothing, and end says why.
type work struct {
	*Service
	tx  *store.Tx
	err error
}

func (s *Service) on(tx *store.Tx) *work { return &work{Service: s, tx: tx} }

func (w *work) end() error { return w.err }

func (w *work) fail(err error) { w.err = cmp.Or(w.err, err) }

// refuse is fail where something is so.
func (w *work) refuse(is bool, why error) {
	if is {
		w.fail(why)
	}
}

// get reads a row; nil: there is none.
func (w *work) get(k attr.Item) (it attr.Item) {
	if w.err == nil {
		it, w.err = w.tx.Get(w.Table, k)
	}
	return it
}

// known reads a row that is to be there.
func (w *work) known(k attr.Item, what string) attr.Item {
	it := w.get(k)
	w.refuse(it == nil, notFound(what))
	return it
}

// read reads the members of a body that fields know, of which some are needed.
func (w *work) read(fields map[string]patch.Field, in Input, needed ...string) patch.Patch {
	p, err := patch.Read(fields, in, needed...)
	w.fail(err)
	return p
}

// change is read for a body that has to change something. Those named are of no interest.
func (w *work) change(fields map[string]patch.Field, in Input, without ...string) patch.Patch {
	maps.DeleteFunc(fields, func(name string, _ patch.Field) bool { return slices.Contains(without, name) })
	p, err := patch.ReadSome(fields, in)
	w.fail(err)
	return p
}

// commit makes writes in one transaction.
func (w *work) commit(writes ...store.WriteItem) {
	if w.err == nil {
		w.err = w.tx.TransactWrite(store.TransactWrite{Items: writes})
	}
}

// update is the write of a patch, of now, under a condition.
func (w *work) update(k attr.Item, p patch.Patch, condition string, params expr.Params) store.WriteItem {
	p.Set["updatedAt"] = stampOf(w.tx)
	return store.WriteItem{Update: p.Update(w.Table, k, condition, params)}
}

// save makes a patch of a row that is there, by itself: that costs half of what a transaction does.
func (w *work) save(k attr.Item, p patch.Patch) {
	if w.err == nil {
		_, w.err = w.tx.Update(*w.update(k, p, exists, expr.Params{}).Update)
	}
}

// remove deletes a row that is there, by itself.
func (w *work) remove(k attr.Item) {
	if w.err == nil {
		_, w.err = w.tx.Delete(store.DeleteItem{Table: w.Table, Key: k, Condition: exists})
	}
}

// exists is the condition that a row is there.
const exists = "attribute_exists(PK)"

// allow returns a team to a member who may do something with it.
func (w *work) allow(team, user string, do action) Team {
	t, it := w.team(team), w.get(memberKey(user, team))
	m := membershipOf(it)
	w.refuse(it == nil, forbidden("User is not a member of this team"))
	w.refuse(m.Status != active, forbidden("Team membership is not active"))
	w.refuse(do != anyMember && !slices.Contains(strings.Split(policy[do], ", "), string(m.Role)), forbidden("Insufficient permissions. Required: %s", policy[do]))
	t.Role = m.Role
	return t
}

// check is the condition of a transaction on a row that it does not write.
func (s *Service) check(k attr.Item, condition string, params expr.Params) store.WriteItem {
	return store.WriteItem{Check: &store.ConditionCheck{Table: s.Table, Key: k, Condition: condition, Params: params}}
}

// with are the values of an expression, and the names that it has behind a #.
func with(values attr.Item, names ...string) expr.Params {
	p := expr.Params{Values: values, Names: map[string]string{}}
	for _, name := range names {
		p.Names["#"+name] = name
	}
	return p
}

// asRole is the check that a member still has a role when a write reaches the cloud.
func (s *Service) asRole(user, team string, role Role) store.WriteItem {
	return s.check(memberKey(user, team), "#role = :role AND #status = :active", with(attr.Item{":role": attr.S(string(role)), ":active": attr.S(active)}, "role", "status"))
}

// there is the check that a team has not been deleted.
func (s *Service) there(team string) store.WriteItem {
	return s.check(teamKey(team), exists+" AND "+notDeleted, with(attr.Item{":deleted": attr.S(deleted)}, "status"))
}

const notDeleted = "(attribute_not_exists(#status) OR #status <> :deleted)"

// create is the write of a row that is not there yet.
func (s *Service) create(row attr.Item) store.WriteItem {
	return store.WriteItem{Put: &store.PutItem{Table: s.Table, Item: row, Condition: "attribute_not_exists(PK)", NoOld: true}}
}

func stampOf(tx *store.Tx) attr.Value { return attr.S(tx.Now().UTC().Format(patch.Stamp)) }

// stampRow gives a new row its times, and what a patch sets.
func stampRow(tx *store.Tx, row attr.Item, p patch.Patch) attr.Item {
	maps.Copy(row, p.Set)
	row["createdAt"], row["updatedAt"] = stampOf(tx), stampOf(tx)
	return row
}

// newID is the id of what a request makes: with an Idempotency-Key it is made of that, so that it is one whichever node is asked.
func newID(user, kind, once string) string {
	if once == "" {
		return uuid.NewString()
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("hacktracker#"+user+"#"+kind+"#"+once)).String()
}

// each reads all rows of a partition of the table or of an index whose sort key begins with a prefix.
func (w *work) each(index, pk, prefix string, do func(it attr.Item)) {
	params := with(attr.Item{":pk": attr.S(pk), ":sk": attr.S(prefix)})
	params.Names = map[string]string{"#pk": index + "PK", "#sk": index + "SK"}
	if w.err != nil {
		return
	}
	for it, err := range w.tx.QueryAll(store.Query{Table: w.Table, Index: index, KeyCondition: "#pk = :pk AND begins_with(#sk, :sk)", Params: params}) {
		if w.fail(err); err != nil {
			return
		}
		do(it)
	}
}

// collect reads all rows that each would, as what they are.
func collect[T any](w *work, index, pk, prefix string, of func(it attr.Item) T) []T {
	out := []T{}
	w.each(index, pk, prefix, func(it attr.Item) { out = append(out, of(it)) })
	return out
}

// Page is a part of a list.
type Page struct {
	Limit int
	Start attr.Item // the key that it follows; nil: the first
}

// listed reads a page of all rows of a kind, and the key that it ends with; nil: it is the last.
func listed[T any](s *Service, tx *store.Tx, kind string, p Page, of func(it attr.Item) T, filter string, params expr.Params) (out []T, next attr.Item, err error) {
	params.Values[":kind"] = attr.S("ENTITY#" + kind)
	found, err := tx.Query(store.Query{
		Table: s.Table, Index: indexEntity, KeyCondition: "GSI2PK = :kind", Filter: filter, Limit: p.Limit, StartKey: p.Start, Params: params,
	})
	if p.Start != nil && fault.Is(err, fault.Invalid) {
		err = Invalid("Invalid nextToken")
	}
	out = []T{}
	for _, it := range found.Items {
		out = append(out, of(it))
	}
	return out, found.LastKey, err
}

// Once is the row by which a user's request with an Idempotency-Key takes effect once, whichever node is asked.
func (s *Service) Once(user, path, once, node string, in Input) (*idempotency.Row, error) {
	hash, err := idempotency.Hash(user+" "+path, in)
	return &idempotency.Row{Table: s.Table, Key: key(prefixOnce+user+"#"+once, skMetadata), Hash: hash, Node: node}, err
}

// Needs are the partitions of a user's request that another node may have written to; of a team or game only where one is named.
func Needs(user, team, game string) []attr.Item {
	all := []attr.Item{{"PK": attr.S(prefixUser + user)}}
	if team != "" {
		all = append(all, attr.Item{"PK": attr.S(prefixTeam + team)})
	}
	if game != "" {
		all = append(all, attr.Item{"PK": attr.S(prefixGame + game)})
	}
	return all
}

// NeedsThen are those that only show when the first are here: the team of a game, else all teams of the user.
func (s *Service) NeedsThen(tx *store.Tx, user, game string) (all []attr.Item, err error) {
	w := s.on(tx)
	if game != "" {
		if g := gameOf(w.get(gameKey(game))); g.TeamID != "" {
			all = append(all, attr.Item{"PK": attr.S(prefixTeam + g.TeamID)})
		}
		return all, w.end()
	}
	for _, m := range w.memberships(user) {
		all = append(all, teamKey(m.TeamID))
	}
	return all, w.end()
}
