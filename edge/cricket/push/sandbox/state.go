package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// kind is a Swift type, as its default JSON decoder accepts it.
type kind uint8

const (
	text kind = iota
	integer
	boolean
	date // a number: seconds since 2001-01-01
)

// schema is a Swift struct: each property's kind, a schema, or a list with one of these for all its elements. A
// property whose name ends in a question mark is optional.
type schema map[string]any

// list is a Swift array whose elements are of the given type.
type list [1]any

// contentState returns the app's ContentState. It is declared here a second time on purpose: what the node sends
// must fit the app, not itself.
func contentState() schema {
	return schema{
		"phase": text, "status": text,
		"teams": list{schema{
			"id": integer, "code": text, "runs": integer, "wickets": integer, "overs": text, "batting": boolean, "batted": boolean,
			"earlier?": text,
		}},
		"batters":   list{schema{"name": text, "runs": integer, "balls": integer, "onStrike": boolean}},
		"bowler?":   schema{"name": text, "overs": text, "maidens": integer, "runs": integer, "wickets": integer},
		"stand?":    schema{"runs": integer, "balls": integer},
		"lastBalls": list{text},
		"target?":   integer, "requiredRuns?": integer, "ballsLeft?": integer, "lead?": integer, "day?": integer,
		"runRate?": text, "requiredRate?": text, "equation?": text, "note?": text, "result?": text,
		"keyEvent?": schema{"type": text, "text": text, "at": date},
		"updatedAt": date,
	}
}

// attributes returns the app's MatchAttributes, the fixed part, sent with the start.
func attributes() schema {
	return schema{
		"matchId": text, "league": text,
		"teams": list{schema{"id": integer, "code": text, "name": text}},
	}
}

// attributesType is the name of the Swift type that a start must give.
const attributesType = "MatchAttributes"

// decode returns an error if a part of a payload is not a Swift value of that schema. Unknown properties are
// errors too: Swift ignores them, but here they mean that node and app have drifted apart.
func decode(raw json.RawMessage, s schema) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return s.check("", v)
}

func (s schema) check(at string, v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return wrong(at, "is not an object")
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		property, optional := strings.CutSuffix(name, "?")
		switch got := m[property]; {
		case got != nil:
			if err := fits(at+"."+property, s[name], got); err != nil {
				return err
			}
		case !optional:
			return wrong(at+"."+property, "is missing")
		}
	}
	for name := range m {
		if s[name] == nil && s[name+"?"] == nil {
			return wrong(at+"."+name, "is unknown")
		}
	}
	return nil
}

// fits checks a value against its schema.
func fits(at string, want, v any) error {
	ok := false
	switch want := want.(type) {
	case schema:
		return want.check(at, v)
	case list:
		items, isList := v.([]any)
		for i, item := range items {
			if err := fits(fmt.Sprintf("%s[%d]", at, i), want[0], item); err != nil {
				return err
			}
		}
		ok = isList
	case kind:
		ok = want.takes(v)
	}
	if !ok {
		return wrong(at, "has the wrong type")
	}
	return nil
}

func (k kind) takes(v any) bool {
	switch v := v.(type) {
	case string:
		return k == text
	case bool:
		return k == boolean
	case json.Number:
		_, err := v.Int64()
		return k == date || k == integer && err == nil
	}
	return false
}

func wrong(at, what string) error { return fmt.Errorf("%s %s", strings.TrimPrefix(at, "."), what) }
