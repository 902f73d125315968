package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// kind is a type of Swift as its default JSON decoder takes it.
type kind uint8

const (
	text kind = iota
	integer
	boolean
	date // a number: seconds since 2001-01-01
	object
	list
)

// property is one property of a Swift struct. A list's elements are objects of props, or of type elem.
type property struct {
	kind     kind
	optional bool
	elem     kind
	props    schema
}

type schema map[string]property

// contentState is the app's ContentState, written down here a second time on purpose: what the node sends has to
// fit the app, not itself.
//
//	struct ContentState: Codable {
//	    let phase, status: String
//	    let teams: [Team]; let batters: [Batter]; let bowler: Bowler?; let stand: Stand?
//	    let lastBalls: [String]
//	    let target, requiredRuns, ballsLeft, lead, day: Int?
//	    let runRate, requiredRate, equation, note, result: String?
//	    let keyEvent: KeyEvent?
//	    let updatedAt: Date
//	}
func contentState() schema {
	team := schema{
		"id": {kind: integer}, "code": {kind: text}, "runs": {kind: integer}, "wickets": {kind: integer},
		"overs": {kind: text}, "batting": {kind: boolean}, "batted": {kind: boolean},
		"earlier": {kind: text, optional: true},
	}
	batter := schema{
		"name": {kind: text}, "runs": {kind: integer}, "balls": {kind: integer}, "onStrike": {kind: boolean},
	}
	bowler := schema{
		"name": {kind: text}, "overs": {kind: text}, "maidens": {kind: integer}, "runs": {kind: integer},
		"wickets": {kind: integer},
	}
	return schema{
		"phase": {kind: text}, "status": {kind: text},
		"teams":        {kind: list, elem: object, props: team},
		"batters":      {kind: list, elem: object, props: batter},
		"bowler":       {kind: object, optional: true, props: bowler},
		"stand":        {kind: object, optional: true, props: schema{"runs": {kind: integer}, "balls": {kind: integer}}},
		"lastBalls":    {kind: list, elem: text},
		"target":       {kind: integer, optional: true},
		"requiredRuns": {kind: integer, optional: true},
		"ballsLeft":    {kind: integer, optional: true},
		"lead":         {kind: integer, optional: true},
		"day":          {kind: integer, optional: true},
		"runRate":      {kind: text, optional: true},
		"requiredRate": {kind: text, optional: true},
		"equation":     {kind: text, optional: true},
		"note":         {kind: text, optional: true},
		"result":       {kind: text, optional: true},
		"keyEvent": {kind: object, optional: true, props: schema{
			"type": {kind: text}, "text": {kind: text}, "at": {kind: date},
		}},
		"updatedAt": {kind: date},
	}
}

// attributes are the static part, which comes with the start.
//
//	struct MatchAttributes: ActivityAttributes { let matchId, league: String; let teams: [Side] }
func attributes() schema {
	return schema{
		"matchId": {kind: text}, "league": {kind: text},
		"teams": {kind: list, elem: object, props: schema{
			"id": {kind: integer}, "code": {kind: text}, "name": {kind: text},
		}},
	}
}

// attributesType is the name of the Swift type that a start has to say.
const attributesType = "MatchAttributes"

// decode returns the reason why raw is no Swift value of that shape. Unknown properties are an error too: Swift
// skips them, but here they mean that node and app have drifted apart.
func decode(raw json.RawMessage, s schema) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("more than one value")
	}
	return s.check("", v)
}

func (s schema) check(at string, v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is not an object", strings.TrimPrefix(at, "."))
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		p := s[name]
		got, there := m[name]
		switch {
		case there && got != nil:
			if err := p.check(at+"."+name, got); err != nil {
				return err
			}
		case !p.optional:
			return fmt.Errorf("%s is missing", strings.TrimPrefix(at+"."+name, "."))
		}
	}
	for name := range m {
		if _, ok := s[name]; !ok {
			return fmt.Errorf("%s is unknown", strings.TrimPrefix(at+"."+name, "."))
		}
	}
	return nil
}

func (p property) check(at string, v any) error {
	ok := true
	switch p.kind {
	case text:
		_, ok = v.(string)
	case boolean:
		_, ok = v.(bool)
	case integer:
		n, isNumber := v.(json.Number)
		_, err := n.Int64()
		ok = isNumber && err == nil
	case date:
		_, ok = v.(json.Number)
	case object:
		return p.props.check(at, v)
	case list:
		return p.checkList(at, v)
	}
	if !ok {
		return fmt.Errorf("%s has the wrong type", strings.TrimPrefix(at, "."))
	}
	return nil
}

func (p property) checkList(at string, v any) error {
	items, ok := v.([]any)
	if !ok {
		return fmt.Errorf("%s is not a list", strings.TrimPrefix(at, "."))
	}
	elem := property{kind: p.elem, props: p.props}
	for i, item := range items {
		if err := elem.check(fmt.Sprintf("%s[%d]", at, i), item); err != nil {
			return err
		}
	}
	return nil
}
