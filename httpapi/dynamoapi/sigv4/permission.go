package sigv4

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// groups are named sets of actions.
var groups = map[string][]string{
	"read": {
		"GetItem", "BatchGetItem", "Query", "Scan", "ConditionCheckItem", "PartiQLSelect", "DescribeTable", "ListTables",
		"DescribeTimeToLive", "ListTagsOfResource", "DescribeLimits", "DescribeEndpoints", "ListStreams", "DescribeStream",
		"GetShardIterator", "GetRecords",
	},
	"write": {
		"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "ConditionCheckItem", "PartiQLInsert", "PartiQLUpdate",
		"PartiQLDelete",
	},
	"admin": {"CreateTable", "UpdateTable", "DeleteTable", "UpdateTimeToLive", "TagResource", "UntagResource"},
}

// isKnownPattern reports whether any action matches a pattern.
func isKnownPattern(pattern string) bool {
	for _, actions := range groups {
		if slices.ContainsFunc(actions, func(action string) bool { return fits(pattern, action) }) {
			return true
		}
	}
	return false
}

// fits reports whether a name matches a pattern, in which * stands for any text. Patterns are checked when they are loaded, so other
// syntax of path.Match cannot occur. A name with a slash, which no table has, matches only "*".
func fits(pattern, name string) bool {
	if pattern == name || pattern == "*" {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// goodPattern reports whether a pattern has only asterisks and characters of table and action names.
func goodPattern(pattern string) bool {
	return pattern != "" && strings.Trim(pattern, letters+"_.-*") == ""
}

func (g Grant) problems(at string, bad func(key, format string, args ...any)) {
	for _, list := range []struct {
		name   string
		values []string
	}{{"tables", g.Tables}, {"actions", g.Actions}} {
		if len(list.values) == 0 {
			bad(at+list.name, `must not be empty; "*" means all`)
		}
	}
	for i, t := range g.Tables {
		if !goodPattern(t) {
			bad(fmt.Sprintf("%stables[%d]", at, i), "must be a table's name, with * for any text")
		}
	}
	for i, a := range g.Actions {
		a = strings.TrimPrefix(a, iamPrefix)
		if _, group := groups[a]; !group && (!goodPattern(a) || !isKnownPattern(a)) {
			bad(fmt.Sprintf("%sactions[%d]", at, i), "must be read, write, admin, or an action's name, with * for any text")
		}
	}
}

const iamPrefix = "dynamodb:"

// grant is a compiled Grant.
type grant struct {
	tables   []string
	actions  map[string]bool
	patterns []string // action patterns
}

func (g Grant) compile() grant {
	out := grant{tables: g.Tables, actions: map[string]bool{}}
	for _, a := range g.Actions {
		a = strings.TrimPrefix(a, iamPrefix)
		names, group := groups[a]
		switch {
		case group:
			for _, name := range names {
				out.actions[name] = true
			}
		case strings.Contains(a, "*"):
			out.patterns = append(out.patterns, a)
		default:
			out.actions[a] = true
		}
	}
	return out
}

func (g *grant) allows(action, table string) bool {
	return (g.actions[action] || slices.ContainsFunc(g.patterns, func(p string) bool { return fits(p, action) })) &&
		slices.ContainsFunc(g.tables, func(p string) bool { return fits(p, table) })
}

// Principal is the sender of a request. A nil *Principal may do nothing.
type Principal struct {
	id     string
	grants []grant
}

// Anyone returns a Principal without a key and with all permissions, for a server that does not verify signatures.
func Anyone() *Principal {
	return &Principal{grants: []grant{{tables: []string{"*"}, patterns: []string{"*"}}}}
}

// ID returns the key's id; empty: none.
func (p *Principal) ID() string {
	if p == nil {
		return ""
	}
	return p.id
}

// Allow returns nil if an action, by its IAM name without "dynamodb:", is allowed on all of the tables (names, not ARNs), otherwise an
// *Error that names the first table on which it is not. Without tables, the action must be allowed on all tables.
func (p *Principal) Allow(action string, tables ...string) error {
	if len(tables) == 0 {
		tables = []string{"*"} // matched only by the pattern for all tables
	}
	for _, table := range tables {
		if !p.may(action, table) {
			return p.deniedError(action, table)
		}
	}
	return nil
}

func (p *Principal) may(action, table string) bool {
	return p != nil && slices.ContainsFunc(p.grants, func(g grant) bool { return g.allows(action, table) })
}

func (p *Principal) deniedError(action, table string) *Error {
	if p == nil {
		return errMissing()
	}
	return refuse("AccessDeniedException", "User: arn:aws:iam::000000000000:user/%[1]s is not authorized to perform: dynamodb:%[2]s on "+
		"resource: arn:aws:dynamodb:us-east-1:000000000000:table/%[3]s because no identity-based policy allows the dynamodb:%[2]s action",
		p.id, action, table)
}
