package hacktracker

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Bounds of what a request may hold.
const (
	MaxLineup = 40
	MaxAtBats = 500 // of a game
)

// Input are the members of a request's body.
type Input = map[string]json.RawMessage

// field is a member that a client may set: how it is read, and what null does.
type field struct {
	read     func(raw json.RawMessage) (attr.Value, string) // the stored value, or what is wrong
	nullable bool                                           // null removes it
	blank    bool                                           // and so does ""
}

// patch is a change of a row.
type patch struct {
	set    attr.Item
	remove []string
}

// Invalid is a request that is not as it should be.
func Invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "invalid", format, args...)
}

// read reads the members of a body that fields know; others are passed over.
func read(fields map[string]field, in Input, needed ...string) (p patch, err error) {
	p.set = attr.Item{}
	for _, name := range needed {
		if raw, ok := in[name]; !ok || string(raw) == "null" {
			return p, Invalid("%s is required", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		f, ok := fields[name]
		raw := in[name]
		switch {
		case !ok:
		case f.nullable && (string(raw) == "null" || f.blank && string(raw) == `""`):
			p.remove = append(p.remove, name)
		default:
			v, wrong := f.read(raw)
			if wrong != "" {
				return p, Invalid("%s %s", name, wrong)
			}
			p.set[name] = v
		}
	}
	return p, nil
}

func (p *patch) empty() bool { return len(p.set)+len(p.remove) == 0 }

// update is the write of a patch: of its attributes alone, so that what others change meanwhile stays.
func (p *patch) update(table string, k attr.Item, condition string, params expr.Params) *store.UpdateItem {
	u := &store.UpdateItem{Table: table, Key: k, Condition: condition}
	u.Names, u.Values = map[string]string{}, attr.Item{}
	maps.Copy(u.Names, params.Names)
	maps.Copy(u.Values, params.Values)
	var sets, gone []string
	for i, name := range slices.Sorted(maps.Keys(p.set)) {
		n := strconv.Itoa(i)
		u.Names["#s"+n], u.Values[":s"+n] = name, p.set[name]
		sets = append(sets, "#s"+n+" = :s"+n)
	}
	for i, name := range p.remove {
		n := "#r" + strconv.Itoa(i)
		u.Names[n] = name
		gone = append(gone, n)
	}
	if len(sets) > 0 {
		u.Update = "SET " + strings.Join(sets, ", ")
	}
	if len(gone) > 0 {
		u.Update += " REMOVE " + strings.Join(gone, ", ")
	}
	return u
}

// text reads a string that a function accepts: it returns it as it is kept, or what is wrong.
func text(accept func(v string) (string, string)) func(json.RawMessage) (attr.Value, string) {
	return func(raw json.RawMessage) (attr.Value, string) {
		var v *string
		if json.Unmarshal(raw, &v) != nil || v == nil {
			return attr.Value{}, "must be a string"
		}
		kept, wrong := accept(*v)
		return attr.S(kept), wrong
	}
}

func upTo(most int) func(string) (string, string) {
	return func(v string) (string, string) {
		v = strings.TrimSpace(v)
		if utf8.RuneCountInString(v) > most || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", "must have at most " + strconv.Itoa(most) + " characters"
		}
		return v, ""
	}
}

func matching(re *regexp.Regexp, wrong string) func(string) (string, string) {
	return func(v string) (string, string) {
		v = strings.Join(strings.Fields(v), " ")
		if !re.MatchString(v) {
			return "", wrong
		}
		return v, ""
	}
}

func oneOf(shape func(string) string, all ...string) func(string) (string, string) {
	return func(v string) (string, string) {
		v = shape(v)
		if !slices.Contains(all, v) {
			return "", "must be one of " + strings.Join(all, ", ")
		}
		return v, ""
	}
}

func whole(low, high int64) func(json.RawMessage) (attr.Value, string) {
	return func(raw json.RawMessage) (attr.Value, string) {
		var n *int64
		if json.Unmarshal(raw, &n) != nil || n == nil || *n < low || *n > high {
			return attr.Value{}, "must be an integer from " + strconv.FormatInt(low, 10) + " to " + strconv.FormatInt(high, 10)
		}
		return attr.Int(*n), ""
	}
}

func instant(v string) (string, string) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, v); err == nil && at.Year() > 0 {
			return at.UTC().Format(stamp), ""
		}
	}
	return "", "must be an ISO 8601 time"
}

func positions(raw json.RawMessage) (attr.Value, string) {
	var in []string
	if json.Unmarshal(raw, &in) != nil {
		return attr.Value{}, "must be an array"
	}
	var out []attr.Value
	for _, one := range in {
		v, wrong := oneOf(strings.ToUpper, "1B", "2B", "3B", "SS", "OF", "C", "P", "DH", "UTIL")(strings.TrimSpace(one))
		if wrong != "" {
			return attr.Value{}, wrong
		}
		if !slices.ContainsFunc(out, attr.S(v).Equal) {
			out = append(out, attr.S(v))
		}
	}
	if len(out) > 2 {
		return attr.Value{}, "must have at most 2 positions"
	}
	return attr.L(out...), ""
}

func lineup(raw json.RawMessage) (attr.Value, string) {
	var in []Slot
	if json.Unmarshal(raw, &in) != nil || in == nil || len(in) > MaxLineup {
		return attr.Value{}, "must be a list of at most 40 objects with playerId and battingOrder"
	}
	orders, players, out := map[int]bool{}, map[string]bool{}, []attr.Value{}
	for _, s := range in {
		switch {
		case !IsID(s.PlayerID), s.BattingOrder < 1:
			return attr.Value{}, "needs a playerId and a battingOrder of at least 1 in each entry"
		case orders[s.BattingOrder]:
			return attr.Value{}, "has a battingOrder twice"
		case players[s.PlayerID]:
			return attr.Value{}, "has a player twice"
		}
		orders[s.BattingOrder], players[s.PlayerID] = true, true
		out = append(out, attr.M(attr.Item{"playerId": attr.S(s.PlayerID), "battingOrder": attr.Int(int64(s.BattingOrder))}))
	}
	return attr.L(out...), ""
}

func location(raw json.RawMessage) (attr.Value, string) {
	var in struct{ X, Y *json.Number }
	if json.Unmarshal(raw, &in) != nil || in.X == nil || in.Y == nil {
		return attr.Value{}, "must have numbers x and y"
	}
	at := attr.Item{}
	for name, n := range map[string]*json.Number{"x": in.X, "y": in.Y} {
		v, err := attr.N(n.String())
		if f := decimal(v); err != nil || f < 0 || f > 1 {
			return attr.Value{}, "must have x and y from 0.0 to 1.0"
		}
		at[name] = v
	}
	return attr.M(at), ""
}

// hitType knows the documents' spelling of the original's code.
func hitType(v string) string {
	if v = strings.ToLower(v); v == "ground_ball" {
		return "ground_out"
	}
	return v
}

func id(v string) (string, string) {
	if !IsID(v) {
		return "", "must be an id"
	}
	return v, ""
}

var (
	teamName   = regexp.MustCompile(`^[\p{L}\p{N} ]{3,50}$`)
	playerName = regexp.MustCompile(`^[\p{L}\p{M}'.-]{1,30}$`)
	anyName    = regexp.MustCompile(`^[^\x00-\x1f\x7f]{1,100}$`)
	phone      = regexp.MustCompile(`^[+0-9 ()./-]{3,30}$`)
)

// userFields are what a person may change of their profile.
func userFields() map[string]field {
	name := text(matching(anyName, "must not be empty"))
	return map[string]field{
		"firstName": {read: name}, "lastName": {read: name}, "phoneNumber": {read: text(matching(phone, "must be a phone number")), nullable: true, blank: true},
	}
}

func teamFields() map[string]field {
	return map[string]field{
		"name":        {read: text(matching(teamName, "must have 3 to 50 letters, digits and spaces"))},
		"description": {read: text(upTo(500)), nullable: true, blank: true},
		"teamType":    {read: text(oneOf(strings.ToUpper, Managed, Personal))},
	}
}

func memberFields() map[string]field {
	return map[string]field{
		"role":   {read: text(oneOf(strings.ToLower, string(Manager), string(Member), string(Scorekeeper)))},
		"status": {read: text(oneOf(strings.ToLower, active, inactive))},
	}
}

func playerFields() map[string]field {
	name := text(matching(playerName, "must be one word of 1 to 30 letters, ', - and ."))
	return map[string]field{
		"firstName": {read: name}, "lastName": {read: name, nullable: true}, "playerNumber": {read: whole(0, 99), nullable: true},
		"positions": {read: positions, nullable: true}, "status": {read: text(oneOf(strings.ToLower, active, inactive, "sub"))},
	}
}

func gameFields() map[string]field {
	return map[string]field{
		"teamId": {read: text(id)}, "status": {read: text(oneOf(strings.Clone, Scheduled, InProgress, Final, Postponed))},
		"teamScore": {read: whole(0, 999)}, "opponentScore": {read: whole(0, 999)}, "lineup": {read: lineup},
		"scheduledStart": {read: text(instant), nullable: true, blank: true}, "opponentName": {read: text(upTo(100)), nullable: true, blank: true},
		"location": {read: text(upTo(100)), nullable: true, blank: true}, "seasonId": {read: text(upTo(64)), nullable: true, blank: true},
	}
}

func atBatFields() map[string]field {
	results := []string{Strikeout, Walk, HitByP, Single, Double, Triple, HomeRun, "OUT", Sacrifice, Choice, OnError, "FO", "GO", "PO", "LO", SacFly, SacBunt, "DP", "TP"}
	return map[string]field{
		"playerId": {read: text(id)}, "result": {read: text(oneOf(strings.ToUpper, results...))},
		"inning": {read: whole(1, 99)}, "outs": {read: whole(0, 2)}, "battingOrder": {read: whole(1, 99)},
		"hitLocation": {read: location, nullable: true}, "rbis": {read: whole(0, 99), nullable: true},
		"hitType": {read: text(oneOf(hitType, flyBall, "ground_out", "line_drive", "pop_up", "bunt")), nullable: true},
	}
}
