package devlogin

import (
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/strictyaml"
)

// User is a user who can sign in.
type User struct {
	Subject string   `yaml:"subject"` // the user's id
	Name    string   `yaml:"name"`
	Email   string   `yaml:"email"`
	Groups  []string `yaml:"groups"`
}

// InventUsers returns the users of a demo, one for each first name in names, with the id "demo-<name>". The first is in the admin group.
func InventUsers(adminGroup, names string) (all []User) {
	for name := range strings.FieldsSeq(names) {
		all = append(all, User{Subject: "demo-" + strings.ToLower(name), Name: name})
	}
	all[0].Groups = []string{adminGroup}
	return all
}

// DemoUsers returns the default users: two people, and a member of the admin group.
func DemoUsers(adminGroup string) []User {
	return []User{
		{Subject: "ada", Name: "Ada", Email: "ada@example.com"},
		{Subject: "ben", Name: "Ben", Email: "ben@example.com"},
		{Subject: "olga", Name: "Olga, an admin", Email: "olga@example.com", Groups: []string{adminGroup}},
	}
}

// ReadUsers parses a file of users: {users: [{subject, name, email, groups}]}.
func ReadUsers(raw []byte) ([]User, error) {
	var file struct {
		Users []User `yaml:"users"`
	}
	if _, problems := strictyaml.Decode(raw, &file); len(problems) > 0 {
		return nil, fault.New(fault.Invalid, "bad_users", "%s", strictyaml.Join(problems))
	}
	seen := map[string]bool{}
	for _, u := range file.Users {
		if u.Subject == "" || seen[u.Subject] {
			return nil, fault.New(fault.Invalid, "bad_users", "each user needs a subject of their own")
		}
		seen[u.Subject] = true
	}
	if len(file.Users) == 0 {
		return nil, fault.New(fault.Invalid, "bad_users", "there are no users")
	}
	return file.Users, nil
}
