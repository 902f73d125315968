package scorekeeper

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
	"github.com/touchline/touchline/store/patch"
)

// Role is what a member may do in a team.
type Role string

// The roles.
const (
	RoleAdmin  Role = "admin"
	RoleMember Role = "member"
)

// MaxMembers of a team, so that it can go in one transaction.
const MaxMembers = 48

// Team is a team with its members.
type Team struct {
	ID        string   `json:"team_id"`
	Name      string   `dynamodbav:"team_name" json:"team_name"`
	CreatedAt int64    `dynamodbav:"created_at_millis" json:"created_at_millis"`
	Members   []Member `dynamodbav:"-" json:"members"`
}

// Member is a player in a team.
type Member struct {
	UserID   string `dynamodbav:"user_id" json:"user_id"`
	Name     string `dynamodbav:"-" json:"display_name"`
	Avatar   string `dynamodbav:"-" json:"avatarUrl,omitempty"`
	Role     Role   `dynamodbav:"role" json:"role"`
	JoinedAt int64  `dynamodbav:"joined_at_millis" json:"joined_at_millis"`
}

// Profile is how a player is shown to others.
type Profile struct {
	UserID string `json:"userId"`
	Name   string `dynamodbav:"displayName" json:"displayName,omitempty"`
	Avatar string `dynamodbav:"avatarUrl" json:"avatarUrl,omitempty"`
}

// Profile returns a player's profile; one that was never set is empty.
func (s *Service) Profile(tx *store.Tx, user string) (Profile, error) {
	p := Profile{UserID: user}
	_, err := s.load(tx, profileKey(user), &p)
	return p, err
}

// SetProfile changes what is not empty.
func (s *Service) SetProfile(tx *store.Tx, user, name, avatar string) (Profile, error) {
	p := patch.Patch{Set: attr.Item{"displayName": attr.S(name), "avatarUrl": attr.S(avatar)}}
	maps.DeleteFunc(p.Set, func(_ string, v attr.Value) bool { return v.Str() == "" })
	if !p.Empty() {
		if _, err := tx.Update(*p.Update(s.Table, profileKey(user), "", expr.Params{})); err != nil {
			return Profile{}, err
		}
	}
	return s.Profile(tx, user)
}

func noUser() error { return fault.New(fault.NotFound, "not_found", "User not found") }

func noTeam() error { return fault.New(fault.NotFound, "not_found", "Team not found") }

// Team returns a team to one of its members.
func (s *Service) Team(tx *store.Tx, team, user string) (Team, error) {
	t, err := s.team(tx, team)
	if err == nil && t.role(user) == "" {
		err = fault.New(fault.Forbidden, "forbidden", "Only members can see a team")
	}
	return t, err
}

func (t *Team) role(user string) Role {
	if i := slices.IndexFunc(t.Members, func(m Member) bool { return m.UserID == user }); i >= 0 {
		return t.Members[i].Role
	}
	return ""
}

func (s *Service) team(tx *store.Tx, id string) (t Team, err error) {
	if found, err := s.load(tx, teamKey(id), &t); err != nil || !found {
		return t, cmp.Or(err, noTeam())
	}
	t.ID, t.Members = id, []Member{}
	members, err := s.under(tx, prefixTeam+id, prefixMember)
	for _, user := range members {
		m, bad := s.member(tx, id, user)
		if bad == nil {
			t.Members = append(t.Members, m)
		} else if !fault.Is(bad, fault.NotFound) { // in another shape
			err = bad
		}
	}
	slices.SortFunc(t.Members, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.JoinedAt, b.JoinedAt), strings.Compare(a.UserID, b.UserID))
	})
	return t, err
}

// member reads a member, with the name of their profile, else one that tells them from others and says nothing of their account.
func (s *Service) member(tx *store.Tx, team, user string) (Member, error) {
	m := Member{UserID: user}
	if found, err := s.load(tx, memberKey(team, user), &m); err != nil || !found {
		return m, cmp.Or(err, noUser())
	}
	p, err := s.Profile(tx, user)
	m.UserID, m.Name, m.Avatar = user, cmp.Or(p.Name, "Player "+strings.ToUpper(GameID(user, "")[:4])), p.Avatar
	return m, err
}

// TeamsOf lists the teams of a player.
func (s *Service) TeamsOf(tx *store.Tx, user string) ([]string, error) {
	return s.under(tx, prefixUser+user, prefixTeam)
}

// under lists what follows a prefix in the sort keys of a partition.
func (s *Service) under(tx *store.Tx, pk, prefix string) (ids []string, err error) {
	q := store.Query{Table: s.Table, KeyCondition: "pk = :pk AND begins_with(sk, :sk)", Params: expr.Params{Values: attr.Item{
		":pk": attr.S(pk), ":sk": attr.S(prefix),
	}}}
	for row, err := range tx.QueryAll(q) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, strings.TrimPrefix(row["sk"].Str(), prefix))
	}
	return ids, nil
}

// TeamNeeds are the rows behind what a player asks of their teams, and of one by name, that another node may have written, as far as is known
// here who is in them: the teams, the members with their profiles, and their games of some days.
func (s *Service) TeamNeeds(tx *store.Tx, user, team string, days ...string) ([]attr.Item, error) {
	teams, err := s.TeamsOf(tx, user)
	if team != "" {
		teams = []string{team}
	}
	all := []attr.Item{ownRows(user)}
	for _, id := range teams {
		all = append(all, attr.Item{"pk": attr.S(prefixTeam + id)})
	}
	if team == "" || err != nil {
		return all, err
	}
	t, err := s.team(tx, team)
	for i := range t.Members {
		member := t.Members[i].UserID
		all = append(all, profileKey(member), belongsKey(member, team))
		for _, day := range days {
			all = append(all, GameKey(member, day))
		}
	}
	if fault.Is(err, fault.NotFound) {
		err = nil
	}
	return all, err
}

// CreateTeam makes a team, whose admin its creator is.
func (s *Service) CreateTeam(tx *store.Tx, user, name string) (Team, error) {
	if n := len([]rune(name)); n < 1 || n > 50 {
		return Team{}, badRequest("team_name must be 1 to 50 characters")
	}
	id, now := uuid.NewString(), tx.Now().UnixMilli()
	row := teamKey(id)
	row["team_name"], row["created_at_millis"], row["admins"] = attr.S(name), attr.Int(now), attr.Int(1)
	items := append(s.join(id, user, RoleAdmin, now), store.WriteItem{Put: &store.PutItem{Table: s.Table, Item: row, Condition: notThere}})
	if err := tx.TransactWrite(store.TransactWrite{Items: items}); err != nil {
		return Team{}, err
	}
	return s.team(tx, id)
}

// join returns the two rows of a membership.
func (s *Service) join(team, user string, role Role, at int64) (items []store.WriteItem) {
	for _, row := range []attr.Item{memberKey(team, user), belongsKey(user, team)} {
		row["role"], row["joined_at_millis"], row["user_id"] = attr.S(string(role)), attr.Int(at), attr.S(user)
		items = append(items, store.WriteItem{Put: &store.PutItem{Table: s.Table, Item: row, Condition: notThere}})
	}
	return items
}

// asAdmin returns the check that a team's admin still is one when the write reaches the cloud.
func (s *Service) asAdmin(team, user string) store.WriteItem {
	return store.WriteItem{Check: &store.ConditionCheck{
		Table: s.Table, Key: memberKey(team, user), Condition: "#role = :admin", Params: roles(":admin", RoleAdmin),
	}}
}

// roles are the parameters of an expression that names a role.
func roles(name string, r Role) expr.Params {
	return expr.Params{Names: map[string]string{"#role": "role"}, Values: attr.Item{name: attr.S(string(r))}}
}

// countAdmins returns the write that counts admins: the last one stays. By 0 it says that the team is still there.
func (s *Service) countAdmins(team string, by int64) store.WriteItem {
	if by == 0 {
		return store.WriteItem{Check: &store.ConditionCheck{Table: s.Table, Key: teamKey(team), Condition: "attribute_exists(pk)"}}
	}
	u := &store.UpdateItem{
		Table: s.Table, Key: teamKey(team), Update: "ADD admins :by", Condition: "attribute_exists(pk)",
		Params: expr.Params{Values: attr.Item{":by": attr.Int(by)}},
	}
	if by < 0 {
		u.Condition = "admins > :one"
		u.Values[":one"] = attr.Int(1)
	}
	return store.WriteItem{Update: u}
}

// SetTeammate adds a player to a team, or gives a member another role. It is for the team's admins.
func (s *Service) SetTeammate(tx *store.Tx, by, team, user string, role Role) (Member, error) {
	t, err := s.administered(tx, by, team)
	if err != nil {
		return Member{}, err
	}
	was := t.role(user)
	items := []store.WriteItem{s.countAdmins(team, admins(role)-admins(was))}
	switch was {
	case role:
		return s.member(tx, team, user)
	case "":
		if len(t.Members) >= MaxMembers {
			return Member{}, fault.New(fault.Conflict, "conflict", "A team has at most %d members", MaxMembers)
		}
		items = append(items, s.join(team, user, role, tx.Now().UnixMilli())...)
	default:
		for _, k := range []attr.Item{memberKey(team, user), belongsKey(user, team)} {
			u := &store.UpdateItem{Table: s.Table, Key: k, Update: "SET #role = :role", Condition: "#role = :was", Params: roles(":was", was)}
			u.Values[":role"] = attr.S(string(role))
			items = append(items, store.WriteItem{Update: u})
		}
	}
	if by != user {
		items = append(items, s.asAdmin(team, by))
	}
	if err := s.transact(tx, items); err != nil {
		return Member{}, err
	}
	return s.member(tx, team, user)
}

func admins(r Role) int64 {
	if r == RoleAdmin {
		return 1
	}
	return 0
}

// administered returns a team to one of its admins.
func (s *Service) administered(tx *store.Tx, by, team string) (Team, error) {
	t, err := s.team(tx, team)
	if err == nil && t.role(by) != RoleAdmin {
		err = fault.New(fault.Forbidden, "forbidden", "Only team admins can change a team")
	}
	return t, err
}

// transact writes; that the last admin would go is the caller's error.
func (s *Service) transact(tx *store.Tx, items []store.WriteItem) error {
	err := tx.TransactWrite(store.TransactWrite{Items: items})
	if fault.Is(err, fault.Conflict) {
		return fault.New(fault.Conflict, "conflict", "A team keeps at least one admin")
	}
	return err
}

// RemoveTeammate takes a player out of a team: its admins may, and each member for themselves.
func (s *Service) RemoveTeammate(tx *store.Tx, by, team, user string) (Member, error) {
	t, err := s.team(tx, team)
	if err != nil {
		return Member{}, err
	}
	if t.role(by) != RoleAdmin && by != user {
		return Member{}, fault.New(fault.Forbidden, "forbidden", "Only team admins can change a team")
	}
	m, err := s.member(tx, team, user)
	if err != nil {
		return m, err
	}
	items := append(s.leave(team, user, m.Role), s.countAdmins(team, -admins(m.Role)))
	if by != user {
		items = append(items, s.asAdmin(team, by))
	}
	return m, s.transact(tx, items)
}

// leave returns the writes that end a membership. Where another node has ended it, or has changed the role, they are refused, and with
// them what counts the admins: nobody is counted twice. Without a role they end whatever is there.
func (s *Service) leave(team, user string, was Role) (items []store.WriteItem) {
	for _, k := range []attr.Item{memberKey(team, user), belongsKey(user, team)} {
		d := &store.DeleteItem{Table: s.Table, Key: k}
		if was != "" {
			d.Condition, d.Params = "#role = :was", roles(":was", was)
		}
		items = append(items, store.WriteItem{Delete: d})
	}
	return items
}

// DeleteTeam removes a team and its members, in one transaction.
func (s *Service) DeleteTeam(tx *store.Tx, by, team string) (Team, error) {
	t, err := s.administered(tx, by, team)
	if err != nil {
		return t, err
	}
	items := []store.WriteItem{{Delete: &store.DeleteItem{Table: s.Table, Key: teamKey(team), Condition: "attribute_exists(pk)"}}}
	for i := range t.Members {
		items = append(items, s.leave(team, t.Members[i].UserID, "")...)
	}
	return t, s.transact(tx, items)
}
