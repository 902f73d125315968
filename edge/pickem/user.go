package pickem

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// User is a person invited to the league.
type User struct {
	ID         string   `json:"userId"`
	Name       string   `json:"name"`
	Active     bool     `json:"active"`
	NotCounted []string `json:"notCounted,omitempty"` // events with a pick that was not counted: see Merge

	was attr.Item // the row as it was read
}

// userRow decodes a row. A user without the attribute active is active.
func userRow(it attr.Item) (User, error) {
	name, active := it["name"], it["active"]
	u := User{ID: userOf(it), Name: name.Str(), Active: active.IsZero() || active.Bool(), was: it}
	switch {
	case !name.IsZero() && name.Kind() != attr.KindS:
		return u, fmt.Errorf("attribute name is not a text")
	case !active.IsZero() && active.Kind() != attr.KindBool:
		return u, fmt.Errorf("attribute active is not yes or no")
	}
	return u, nil
}

func noUser() error { return fault.New(fault.NotFound, "not_found", "There is no such user.") }

// user reads a user. Its ID is empty if there is none.
func (p *plan) user(id string) (u User) {
	row := p.Get(userKey(id))
	if row == nil {
		return u
	}
	u, err := userRow(row)
	if err != nil {
		p.Unreadable("user", row, err)
	}
	return u
}

// name returns the name shown for a user: the ID if there is no other.
func (p *plan) name(id string) string {
	row := p.Get(userKey(id))
	if row == nil {
		return id
	}
	u, err := userRow(row)
	if err != nil {
		p.Skip(row, err)
	}
	return cmp.Or(u.Name, id)
}

// CheckInvited returns a Forbidden error unless id is an active user.
func (s *Service) CheckInvited(tx *store.Tx, id string) error {
	p := s.plan(tx)
	u := p.user(id)
	p.Refuse(u.ID == "" || !u.Active, fault.New(fault.Forbidden, "not_invited", "Ask the league's admin for an invitation."))
	return p.Err()
}

// Users lists the users by ID.
func (s *Service) Users(tx *store.Tx) ([]User, error) {
	p := s.plan(tx)
	return table.Decode(&p.Plan, tx.ScanAll(s.ScanWith(skUser, prefixUser)), userRow), p.Err()
}

// Invite creates a user.
func (s *Service) Invite(tx *store.Tx, id, name string) (User, error) {
	p := s.plan(tx)
	p.Refuse(!IsUser(id), invalid("userId", "must be 1 to 64 characters, without #, slash or space"))
	p.Fail(checkName(name))
	it := userKey(id)
	it["type"], it["name"] = attr.S("user"), attr.S(name)
	p.create(it, "user_exists", "A user with this ID already exists.")
	return User{ID: id, Name: name, Active: true}, p.Err()
}

// ChangeUser changes a user's name, and whether they may use the league; nil leaves a field as it is.
func (s *Service) ChangeUser(tx *store.Tx, id string, name *string, active *bool) (User, error) {
	p := s.plan(tx)
	u := p.user(id)
	p.Refuse(u.ID == "", noUser())
	u.Name, u.Active = *cmp.Or(name, &u.Name), *cmp.Or(active, &u.Active)
	p.Fail(checkName(u.Name))
	p.updateUnchanged(u.was, []string{"name", "active"}, "SET #name = :name, #active = :active", attr.Item{
		":name": attr.S(u.Name), ":active": attr.Bool(u.Active),
	})
	return u, p.Err()
}

// DeleteUser deletes a user who has no predictions.
func (s *Service) DeleteUser(tx *store.Tx, id string) error {
	unreadable := tx.Unreadable()
	of, err := s.Profile(tx, id, id)
	p := s.plan(tx)
	p.Fail(err)
	p.Refuse(len(of.Events) > 0 || tx.Unreadable() > unreadable, fault.New(fault.Conflict, "has_predictions", "The user has predictions: set active to false."))
	p.Commit(p.Remove(of.was, "name", "active"))
	return p.Err()
}

// Profile is a user with their predictions, newest event first, and their standings by year.
type Profile struct {
	User
	Standings map[string]Standing `json:"standings"`
	Events    []Played            `json:"events"`
}

// Played is an event with a user's picks.
type Played struct {
	EventID string         `json:"eventId"`
	Name    string         `json:"name"`
	Points  int            `json:"points"`
	Correct int            `json:"mcorrect"`
	Picks   map[string]int `json:"predictions"`
}

// Profile reads a user in one query. A reader does not see another user's predictions for events that are still open.
func (s *Service) Profile(tx *store.Tx, id, reader string) (Profile, error) {
	p, of := s.plan(tx), Profile{Standings: map[string]Standing{}, Events: []Played{}}
	for it := range p.Rows(tx.QueryAll(s.partition(prefixUser + id))) {
		switch sk := it["SK"].Str(); {
		case sk == skUser:
			of.User = p.user(id)
		case strings.HasPrefix(sk, prefixLate) && id == reader && len(it["picks"].Strs()) > 0: // only users themselves see it
			of.NotCounted = append(of.NotCounted, strings.TrimPrefix(sk, prefixLate))
		case strings.HasPrefix(sk, prefixStandings):
			p.standing(it, &of)
		case strings.HasPrefix(sk, prefixEvent):
			p.addToProfile(it, id == reader, &of)
		}
	}
	p.Refuse(of.ID == "", noUser())
	return of, p.Err()
}

// standing adds a row of standings to a profile, whose user has been read: their row is the last of the partition, and comes first.
func (p *plan) standing(row attr.Item, to *Profile) {
	year := strings.TrimPrefix(row["SK"].Str(), prefixStandings)
	st, err := standingOf(row, year)
	if err != nil {
		p.Skip(row, err)
		return
	}
	st.Name = to.Name
	to.Standings[year] = st
}

// addToProfile adds the event of a prediction row to a profile, unless it belongs to another user and the event is still open.
func (p *plan) addToProfile(row attr.Item, own bool, to *Profile) {
	id := strings.TrimPrefix(row["SK"].Str(), prefixEvent)
	prediction, err := predictionOf(row, id)
	if err != nil {
		p.Skip(row, err)
		return
	}
	if own || p.open(id) {
		name := cmp.Or(p.Get(eventKey(id))["name"].Str(), id)
		to.Events = append(to.Events, Played{id, name, prediction.Points, prediction.Correct, prediction.Picks})
	}
}
