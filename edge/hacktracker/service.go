package hacktracker

import (
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
var policy = map[action][]Role{
	manageRoster: {Owner, Manager}, manageTeam: {Owner, Manager}, deleteTeam: {Owner}, ownTeam: {Owner},
	manageGames: {Owner, Manager, Scorekeeper}, manageAtBats: {Owner, Manager, Scorekeeper},
}

func forbidden(format string, args ...any) error {
	return fault.New(fault.Forbidden, "forbidden", format, args...)
}

func notFound(what string) error { return fault.New(fault.NotFound, "not_found", "%s not found", what) }

// allow returns a team to a member who may do something with it.
func (s *Service) allow(tx *store.Tx, team, user string, do action) (Team, error) {
	t, err := s.team(tx, team)
	if err != nil {
		return t, err
	}
	it, err := tx.Get(s.Table, memberKey(user, team))
	if err != nil {
		return t, err
	}
	m := membershipOf(it)
	switch allowed := policy[do]; {
	case it == nil:
		return t, forbidden("User is not a member of this team")
	case m.Status != active:
		return t, forbidden("Team membership is not active")
	case do != anyMember && !slices.Contains(allowed, m.Role):
		return t, forbidden("Insufficient permissions. Required: %s", strings.Join(names(allowed), ", "))
	}
	t.Role = m.Role
	return t, nil
}

func names(roles []Role) (out []string) {
	for _, r := range roles {
		out = append(out, string(r))
	}
	return out
}

// asRole is the check that a member still has a role when a write reaches the cloud.
func (s *Service) asRole(user, team string, role Role) store.WriteItem {
	return store.WriteItem{Check: &store.ConditionCheck{
		Table: s.Table, Key: memberKey(user, team), Condition: "#role = :role AND #status = :active",
		Params: expr.Params{
			Names: map[string]string{"#role": "role", "#status": "status"}, Values: attr.Item{":role": attr.S(string(role)), ":active": attr.S(active)},
		},
	}}
}

// there is the check that a team has not been deleted.
func (s *Service) there(team string) store.WriteItem {
	return store.WriteItem{Check: &store.ConditionCheck{
		Table: s.Table, Key: teamKey(team), Condition: "attribute_exists(PK) AND (attribute_not_exists(#status) OR #status <> :deleted)",
		Params: expr.Params{Names: map[string]string{"#status": "status"}, Values: attr.Item{":deleted": attr.S(deleted)}},
	}}
}

// create is the write of a row that is not there yet.
func (s *Service) create(row attr.Item) store.WriteItem {
	return store.WriteItem{Put: &store.PutItem{Table: s.Table, Item: row, Condition: "attribute_not_exists(PK)", NoOld: true}}
}

func (s *Service) transact(tx *store.Tx, writes ...store.WriteItem) error {
	return tx.TransactWrite(store.TransactWrite{Items: writes})
}

// stampRow gives a new row its times, and what a patch sets.
func stampRow(tx *store.Tx, row attr.Item, p patch.Patch) attr.Item {
	maps.Copy(row, p.Set)
	now := attr.S(tx.Now().UTC().Format(patch.Stamp))
	row["createdAt"], row["updatedAt"] = now, now
	return row
}

// touch has a patch set when it was made.
func touch(tx *store.Tx, p *patch.Patch) {
	p.Set["updatedAt"] = attr.S(tx.Now().UTC().Format(patch.Stamp))
}

// newID is the id of what a request makes: with an Idempotency-Key it is made of that, so that it is one whichever node is asked.
func newID(user, kind, once string) string {
	if once == "" {
		return uuid.NewString()
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("hacktracker#"+user+"#"+kind+"#"+once)).String()
}

// each reads all rows of a partition of the table or of an index whose sort key begins with a prefix.
func (s *Service) each(tx *store.Tx, index, pk, prefix string, do func(it attr.Item)) error {
	q := store.Query{
		Table: s.Table, Index: index, KeyCondition: "#pk = :pk AND begins_with(#sk, :sk)",
		Params: expr.Params{Names: map[string]string{"#pk": index + "PK", "#sk": index + "SK"}, Values: attr.Item{":pk": attr.S(pk), ":sk": attr.S(prefix)}},
	}
	for it, err := range tx.QueryAll(q) {
		if err != nil {
			return err
		}
		do(it)
	}
	return nil
}

// collect reads all rows that each would, as what they are.
func collect[T any](s *Service, tx *store.Tx, index, pk, prefix string, of func(it attr.Item) T) (out []T, err error) {
	out = []T{}
	err = s.each(tx, index, pk, prefix, func(it attr.Item) { out = append(out, of(it)) })
	return out, err
}

// Page is a part of a list.
type Page struct {
	Limit int
	Start attr.Item // the key that it follows; nil: the first
}

// listed reads a page of all rows of a kind.
func (s *Service) listed(tx *store.Tx, kind string, p Page, filter string, params expr.Params) (store.Page, error) {
	q := store.Query{
		Table: s.Table, Index: indexEntity, KeyCondition: "GSI2PK = :kind", Filter: filter, Limit: p.Limit, StartKey: p.Start, Params: params,
	}
	if q.Values == nil {
		q.Values = attr.Item{}
	}
	q.Values[":kind"] = attr.S("ENTITY#" + kind)
	found, err := tx.Query(q)
	if p.Start != nil && fault.Is(err, fault.Invalid) {
		err = Invalid("Invalid nextToken")
	}
	return found, err
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
	if game != "" {
		it, err := tx.Get(s.Table, gameKey(game))
		if g := gameOf(it); it != nil && g.TeamID != "" {
			all = append(all, attr.Item{"PK": attr.S(prefixTeam + g.TeamID)})
		}
		return all, err
	}
	teams, err := s.memberships(tx, user)
	for i := range teams {
		all = append(all, teamKey(teams[i].TeamID))
	}
	return all, err
}
