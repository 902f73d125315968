package app

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/strictyaml"
)

// Problem is one error in a configuration. Its Key is a path, such as "http.rate.burst".
type Problem = strictyaml.Problem

// Settings is a configuration section: a pointer to a struct whose fields are tagged yaml, and secret:"true" where a value must never
// be shown.
type Settings interface {
	// Path is the mount of the application's routes: "/counter", or "/" on a node that serves nothing else.
	Path() string
	// Problems returns all errors, so that they can be fixed in one go, except those of the mount. Keys are relative to the section.
	Problems() []Problem
}

// Place is what the settings of every application with one table begin with.
type Place struct {
	Mount string `yaml:"mount"` // path prefix of the routes
	Table string `yaml:"table"` // name in the store and in the cloud, without cloud.prefix
}

// Path implements Settings.
func (p *Place) Path() string { return p.Mount }

// Problems implements Settings.
func (p *Place) Problems() []Problem { return NameProblems(map[string]string{"table": p.Table}) }

// SecureURL requires https, or http to a loopback address.
func SecureURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return fault.New(fault.Invalid, "bad_url", "must be an https URL")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fault.New(fault.Invalid, "bad_url", "must not contain a user, password or query: secrets have keys of their own")
	}
	host := u.Hostname()
	addr, err := netip.ParseAddr(host)
	local := host == "localhost" || err == nil && addr.IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && local) {
		return fault.New(fault.Invalid, "bad_url", "must be an https URL, or http on a loopback address")
	}
	return nil
}

// MountProblem describes what is wrong with the path of an application's routes. Empty: nothing.
func MountProblem(name, mount string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(mount, "/"), "/")
	first = "/" + first
	switch {
	case !strings.HasPrefix(mount, "/"), strings.ContainsAny(mount, ":*?#% "), path.Clean(mount) != mount,
		strings.ContainsFunc(mount, func(r rune) bool { return r < ' ' || r == '\\' || r > '~' }):
		return fmt.Sprintf("must be a path such as /%s, or /, not %q", name, mount)
	case slices.Contains(nodePaths(), first):
		return first + " is the node's own"
	}
	return ""
}

var storedName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,200}$`)

// NameProblems checks the names of tables and indexes, by the keys that set them.
func NameProblems(stored map[string]string) (out []Problem) {
	for _, key := range slices.Sorted(maps.Keys(stored)) {
		if !storedName.MatchString(stored[key]) {
			out = append(out, Problem{Key: key, Text: "must be a name of 3 to 200 letters, digits, and _.-"})
		}
	}
	return out
}

// nodePaths are the first path segments that the node itself serves, whatever is mounted.
func nodePaths() []string {
	return []string{"/_", "/docs", "/hub", "/livez", "/matches", "/metrics", "/readyz", "/replay", "/signin", "/signout", "/statusz"}
}
