package pickem

import (
	"cmp"
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

func userRow(it attr.Item) User {
	active, ok := it["active"]
	return User{ID: userOf(it), Name: it["name"].Str(), Active: !ok || active.Bool(), was: it}
}

func noUser() error { return fault.New(fault.NotFound, "not_found", "There is no such user.") }

func (s *Service) user(tx *store.Tx, id string) (User, error) {
	it, err := tx.Get(s.Table, userKey(id))
	if err == nil && it == nil {
		err = noUser()
	}
	return userRow(it), err
}

// name returns the name shown for a user: the ID if there is no other.
func (s *Service) name(tx *store.Tx, id string) (string, error) {
	u, err := s.user(tx, id)
	if fault.Is(err, fault.NotFound) || err == nil && u.Name == "" {
		return id, nil
	}
	return u.Name, err
}

// Invited returns a Forbidden error unless id is an active user.
func (s *Service) Invited(tx *store.Tx, id string) error {
	u, err := s.user(tx, id)
	if fault.Is(err, fault.NotFound) || err == nil && !u.Active {
		return fault.New(fault.Forbidden, "not_invited", "Ask the league's admin for an invitation.")
	}
	return err
}

// Users lists the users by ID.
func (s *Service) Users(tx *store.Tx) ([]User, error) {
	return table.Collect(tx.ScanAll(s.With(skUser, prefixUser)), func(it attr.Item) (User, bool, error) {
		return userRow(it), true, nil
	})
}

// Invite creates a user.
func (s *Service) Invite(tx *store.Tx, id, name string) (User, error) {
	if !IsUser(id) {
		return User{}, invalid("userId", "must be 1 to 64 characters, without #, slash or space")
	}
	if err := checkName(name); err != nil {
		return User{}, err
	}
	it := userKey(id)
	it["type"], it["name"] = attr.S("user"), attr.S(name)
	return User{ID: id, Name: name, Active: true}, s.create(tx, it, "user_exists", "A user with this ID already exists.")
}

// ChangeUser changes a user's name, and whether they may use the league; nil leaves a field as it is.
func (s *Service) ChangeUser(tx *store.Tx, id string, name *string, active *bool) (User, error) {
	u, err := s.user(tx, id)
	if err != nil {
		return u, err
	}
	u.Name, u.Active = *cmp.Or(name, &u.Name), *cmp.Or(active, &u.Active)
	if err := checkName(u.Name); err != nil {
		return u, err
	}
	return u, s.since(tx, u.was, []string{"name", "active"}, "SET #name = :name, #active = :active", attr.Item{
		":name": attr.S(u.Name), ":active": attr.Bool(u.Active),
	})
}

// DeleteUser deletes a user who has no predictions.
func (s *Service) DeleteUser(tx *store.Tx, id string) error {
	p, err := s.Profile(tx, id, id)
	switch {
	case err != nil:
		return err
	case len(p.Events) > 0:
		return fault.New(fault.Conflict, "has_predictions", "The user has predictions: set active to false.")
	}
	return table.Commit(tx, s.Remove(p.was, "name", "active"))
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
func (s *Service) Profile(tx *store.Tx, id, reader string) (p Profile, err error) {
	p = Profile{Standings: map[string]Standing{}, Events: []Played{}}
	for it, err := range tx.QueryAll(s.partition(prefixUser + id)) {
		switch sk := it["SK"].Str(); {
		case sk == skUser:
			p.User = userRow(it)
		case strings.HasPrefix(sk, prefixLate) && id == reader && len(it["picks"].Strs()) > 0: // only users themselves see it
			p.NotCounted = append(p.NotCounted, strings.TrimPrefix(sk, prefixLate))
		case strings.HasPrefix(sk, prefixStandings):
			if st, ok := standingOf(it); ok {
				st.Name = p.Name // already read: the user's row is the last of the partition, and comes first here
				p.Standings[strings.TrimPrefix(sk, prefixStandings)] = st
			}
		case strings.HasPrefix(sk, prefixEvent):
			err = s.played(tx, it, id == reader, &p)
		}
		if err != nil {
			return p, err
		}
	}
	if p.ID == "" {
		err = noUser()
	}
	return p, err
}

// played adds the event of a prediction row to a profile, unless it belongs to another user and the event is still open.
func (s *Service) played(tx *store.Tx, row attr.Item, own bool, to *Profile) error {
	id := strings.TrimPrefix(row["SK"].Str(), prefixEvent)
	prediction, ok := predictionOf(row, id)
	open, err := s.open(tx, id)
	if err != nil || !ok || !own && !open {
		return err
	}
	e, err := tx.Get(s.Table, eventKey(id))
	to.Events = append(to.Events, Played{id, cmp.Or(e["name"].Str(), id), prediction.Points, prediction.Correct, prediction.Picks})
	return err
}
