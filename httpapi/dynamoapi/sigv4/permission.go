package sigv4

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// groups are sets of actions that have a name.
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

// known reports whether any action has a name that fits a pattern.
func known(pattern string) bool {
	for _, actions := range groups {
		if slices.ContainsFunc(actions, func(action string) bool { return fits(pattern, action) }) {
			return true
		}
	}
	return false
}

// fits reports whether a name fits a pattern, in which asterisks stand for any text. Neither holds what else path.Match
// knows: patterns are checked when they are read, and a name with a slash fits only what has the same.
func fits(pattern, name string) bool {
	if pattern == name || pattern == "*" {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// goodPattern reports whether a pattern has only what names of tables and actions have, and asterisks.
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
		if _, group := groups[a]; !group && (!goodPattern(a) || !known(a)) {
			bad(fmt.Sprintf("%sactions[%d]", at, i), "must be read, write, admin, or an action's name, with * for any text")
		}
	}
}

const iamPrefix = "dynamodb:"

// grant is a Grant made ready.
type grant struct {
	tables   []string
	actions  map[string]bool
	patterns []string // of actions
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

// Principal is who sent a request. A nil *Principal may do nothing.
type Principal struct {
	id     string
	grants []grant
}

// Anyone returns a Principal without a key that may do everything, for a server that verifies nothing.
func Anyone() *Principal {
	return &Principal{grants: []grant{{tables: []string{"*"}, patterns: []string{"*"}}}}
}

// ID is the id of the key; empty: none.
func (p *Principal) ID() string {
	if p == nil {
		return ""
	}
	return p.id
}

// Allow reports whether an action, by IAM's name without "dynamodb:", is allowed on all of the tables, which are named by
// their names, not their ARNs. No table: the action is about none, and must be allowed on all. The error is nil or a
// *Error that names the first table on which it is not.
func (p *Principal) Allow(action string, tables ...string) error {
	if len(tables) == 0 {
		tables = []string{"*"} // which no other pattern than that of all tables fits
	}
	for _, table := range tables {
		if !p.may(action, table) {
			return p.denied(action, table)
		}
	}
	return nil
}

func (p *Principal) may(action, table string) bool {
	return p != nil && slices.ContainsFunc(p.grants, func(g grant) bool { return g.allows(action, table) })
}

func (p *Principal) denied(action, table string) *Error {
	if p == nil {
		return errMissing()
	}
	return refuse("AccessDeniedException", "User: arn:aws:iam::000000000000:user/%[1]s is not authorized to perform: dynamodb:%[2]s on "+
		"resource: arn:aws:dynamodb:us-east-1:000000000000:table/%[3]s because no identity-based policy allows the dynamodb:%[2]s action",
		p.id, action, table)
}
