package sigv4

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func principal(t testing.TB, grants ...Grant) *Principal {
	t.Helper()
	keys, err := NewKeyring(Config{Keys: []Key{{ID: testID, Secret: testSecret, Allow: grants}}})
	if err != nil {
		t.Fatal(err)
	}
	return &Principal{id: testID, grants: keys.byID[testID].grants}
}

func grants(tables, actions string) Grant {
	return Grant{strings.Fields(tables), strings.Fields(actions)}
}

func TestAllow(t *testing.T) {
	tests := []struct {
		grant    Grant
		action   string
		tables   string
		refused  string // table named in the error; "-": none
		fromNone bool   // request about no table
	}{
		{grants("Scores", "PutItem"), "PutItem", "Scores", "-", false},
		{grants("Scores", "dynamodb:PutItem"), "PutItem", "Scores", "-", false},
		{grants("Scores", "PutItem"), "GetItem", "Scores", "Scores", false},
		{grants("Scores", "PutItem"), "PutItem", "scores", "scores", false},
		{grants("Scores", "PutItem"), "PutItem", "Scores2", "Scores2", false},
		{grants("Scores", "PutItem"), "PutItem", "Scores Teams", "Teams", false},
		{grants("Sc*s", "*Item"), "PutItem", "Scores Scs", "-", false},
		{grants("Sc*s", "*Item"), "PutItem", "Score", "Score", false},
		{grants("S.c-_*", "*"), "DeleteTable", "S.c-_1", "-", false},
		{grants("S*", "*"), "PutItem", "arn:aws:dynamodb:us-east-1:000000000000:table/S", "arn:aws:dynamodb:us-east-1:000000000000:table/S", false},
		{grants("*", "read"), "Query", "Any", "-", false},
		{grants("*", "read"), "PutItem", "Any", "Any", false},
		{grants("*", "write"), "ConditionCheckItem", "Any", "-", false},
		{grants("*", "write"), "GetItem", "Any", "Any", false},
		{grants("*", "admin"), "CreateTable", "Any", "-", false},
		{grants("*", "read write"), "CreateTable", "Any", "Any", false},
		{grants("*", "read"), "ListTables", "", "-", true},
		{grants("S*", "read"), "ListTables", "", "*", true},
		{grants("* S*", "PutItem"), "ListTables", "", "*", true},
	}
	for _, test := range tests {
		err := principal(t, test.grant).Allow(test.action, strings.Fields(test.tables)...)
		if test.refused == "-" {
			if err != nil {
				t.Errorf("%+v: %v", test, err)
			}
			continue
		}
		want := "AccessDeniedException: User: arn:aws:iam::000000000000:user/AKIDSCOREBOARD is not authorized to perform: dynamodb:" +
			test.action + " on resource: arn:aws:dynamodb:us-east-1:000000000000:table/" + test.refused +
			" because no identity-based policy allows the dynamodb:" + test.action + " action"
		if err == nil || refusal(t, err) != want {
			t.Errorf("%+v: %v", test, err)
		}
	}
	// Grants add up, but do not combine.
	p := principal(t, grants("A", "GetItem"), grants("B", "PutItem"))
	if p.Allow("GetItem", "A") != nil || p.Allow("PutItem", "B") != nil || p.Allow("GetItem", "A", "B") == nil || p.Allow("PutItem", "A") == nil {
		t.Error("grants mix")
	}
	if err := (*Principal)(nil).Allow("GetItem", "A"); err == nil || !strings.HasPrefix(refusal(t, err), "Missing") {
		t.Errorf("nobody may: %v", err)
	}
}

// A pattern is like a regular expression in which * is any text.
func TestPatterns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[abA_.*-]{1,8}`).Draw(t, "pattern")
		name := rapid.StringMatching(`[abA_.-]{0,10}`).Draw(t, "name")
		plain := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
		if want := regexp.MustCompile("^" + plain + "$").MatchString(name); fits(pattern, name) != want {
			t.Fatalf("%q fits %q: not %v", pattern, name, want)
		}
	})
}

// Every action of a group can be granted by name, and no group has duplicates.
func TestGroups(t *testing.T) {
	for name, actions := range groups {
		for i, action := range actions {
			if slices.Index(actions, action) != i || !isKnownPattern(action) {
				t.Errorf("%s of %s", action, name)
			}
			if principal(t, grants("A", name)).Allow(action, "A") != nil || principal(t, grants("A", action)).Allow(action, "A") != nil {
				t.Errorf("%s of %s is not allowed", action, name)
			}
		}
	}
}
