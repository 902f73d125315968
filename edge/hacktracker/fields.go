package hacktracker

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/patch"
)

// Limits on the contents of a request.
const (
	MaxLineup = 40
	maxOrder  = 99
	MaxAtBats = 500 // in a game
	MaxRuns   = 20  // per tap

	// Many times what anybody has, so that pages and lists of a team have a bounded size. Another node may let a few more pass.
	MaxTeams   = 200  // of an owner
	MaxPlayers = 200  // on a team
	MaxGames   = 2000 // of a team

	runKey     = 8   // characters of a tap's key that a game stores: 40 random bits of a ULID
	maxRunKeys = 500 // of them
	emptied    = 48  // at-bats of a deleted game that one transaction removes
)

// Input holds the members of a request's body.
type Input = patch.Input

// Invalid returns the error for an invalid request.
func Invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "invalid", format, args...)
}

// tooMany refuses to create one more than the most.
func (b *Book) tooMany(has, most int, what string) {
	b.Refuse(has >= most, fault.New(fault.Conflict, "too_many", "There are %d %s, the most allowed: delete some first.", has, what))
}

// notOnTeam refuses a player whose row was looked for and is missing.
func notOnTeam(player string) error {
	return fault.New(fault.Invalid, "invalid", "Player %s is not on the team", player).ForLack()
}

func positions(raw json.RawMessage) (attr.Value, string) {
	var in []string
	if json.Unmarshal(raw, &in) != nil {
		return attr.Value{}, "must be an array"
	}
	var out []attr.Value
	for _, one := range in {
		v, wrong := patch.OneOf(strings.ToUpper, "1B", "2B", "3B", "SS", "OF", "C", "P", "DH", "UTIL")(strings.TrimSpace(one))
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
	out := []attr.Value{}
	for i, s := range in {
		switch twice := func(o Slot) bool { return o.BattingOrder == s.BattingOrder || o.PlayerID == s.PlayerID }; {
		case !IsID(s.PlayerID), s.BattingOrder < 1, s.BattingOrder > maxOrder:
			return attr.Value{}, "must have a playerId and a battingOrder from 1 to 99 in each entry"
		case slices.ContainsFunc(in[:i], twice):
			return attr.Value{}, "must not repeat a battingOrder or a player"
		}
		out = append(out, attr.M(attr.Item{"playerId": attr.S(s.PlayerID), "battingOrder": attr.Int(int64(s.BattingOrder))}))
	}
	return attr.L(out...), ""
}

func location(raw json.RawMessage) (attr.Value, string) {
	var in struct{ X, Y *float64 }
	if json.Unmarshal(raw, &in) != nil || in.X == nil || in.Y == nil {
		return attr.Value{}, "must have numbers x and y"
	}
	at, err := attr.MarshalValue(Point{*in.X, *in.Y})
	if err != nil || min(*in.X, *in.Y) < 0 || max(*in.X, *in.Y) > 1 {
		return attr.Value{}, "must have x and y from 0.0 to 1.0"
	}
	return at, ""
}

// hitType also accepts the spelling of the original's documentation.
func hitType(v string) string {
	return strings.Replace(strings.ToLower(v), "ground_ball", "ground_out", 1)
}

// paragraphs accepts a text of up to 500 characters with line breaks.
func paragraphs(v string) (string, string) {
	_, wrong := patch.UpTo(500)(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(v))
	return strings.TrimSpace(v), wrong
}

func id(v string) (string, string) {
	if !IsID(v) {
		return "", "must be an id"
	}
	return v, ""
}

var (
	teamName   = regexp.MustCompile(`^[\p{L}\p{N} ]*$`)
	playerName = regexp.MustCompile(`^[\p{L}\p{M}'.-]*$`)
	anyName    = regexp.MustCompile(`^[^\x00-\x1f\x7f]*$`)
	phone      = regexp.MustCompile(`^[+0-9 ()./-]*$`)
)

func oneWord(v string) (string, string) {
	return patch.Matching(playerName, 1, 30, "must be one word of 1 to 30 letters, ', - and .")(v)
}

// userFields are the profile fields that a user may change.
func userFields() map[string]patch.Field {
	name := patch.Text(patch.Matching(anyName, 1, 100, "must not be empty"))
	return map[string]patch.Field{
		"firstName": {Read: name}, "lastName": {Read: name}, "phoneNumber": {Read: patch.Text(patch.Matching(phone, 3, 30, "must be a phone number")), Nullable: true, Blank: true},
	}
}

func teamFields() map[string]patch.Field {
	return map[string]patch.Field{
		"name":        {Read: patch.Text(patch.Matching(teamName, 3, 50, "must have 3 to 50 letters, digits and spaces"))},
		"description": {Read: patch.Text(paragraphs), Nullable: true, Blank: true},
		"teamType":    {Read: patch.Text(patch.OneOf(strings.ToUpper, Managed, Personal))},
	}
}

func memberFields() map[string]patch.Field {
	return map[string]patch.Field{
		"role":   {Read: patch.Text(patch.OneOf(strings.ToLower, string(Manager), string(Member), string(Scorekeeper)))},
		"status": {Read: patch.Text(patch.OneOf(strings.ToLower, active, inactive))},
	}
}

func playerFields() map[string]patch.Field {
	name := patch.Text(oneWord)
	return map[string]patch.Field{
		"firstName": {Read: name}, "lastName": {Read: name, Nullable: true}, "playerNumber": {Read: patch.Whole(0, 99), Nullable: true},
		"positions": {Read: positions, Nullable: true}, "status": {Read: patch.Text(patch.OneOf(strings.ToLower, active, inactive, "sub"))},
	}
}

func gameFields() map[string]patch.Field {
	return map[string]patch.Field{
		"teamId": {Read: patch.Text(id)}, "status": {Read: patch.Text(patch.OneOf(strings.Clone, Scheduled, InProgress, Final, Postponed))},
		"teamScore": {Read: patch.Whole(0, 999)}, "opponentScore": {Read: patch.Whole(0, 999)}, "lineup": {Read: lineup},
		"scheduledStart": {Read: patch.Text(patch.Instant), Nullable: true, Blank: true}, "opponentName": {Read: patch.Text(patch.UpTo(100)), Nullable: true, Blank: true},
		"location": {Read: patch.Text(patch.UpTo(100)), Nullable: true, Blank: true}, "seasonId": {Read: patch.Text(patch.UpTo(64)), Nullable: true, Blank: true},
	}
}

func atBatFields() map[string]patch.Field {
	results := []string{Strikeout, Walk, HitByP, Single, Double, Triple, HomeRun, "OUT", Sacrifice, Choice, OnError, "FO", "GO", "PO", "LO", SacFly, SacBunt, "DP", "TP"}
	return map[string]patch.Field{
		"playerId": {Read: patch.Text(id)}, "result": {Read: patch.Text(patch.OneOf(strings.ToUpper, results...))},
		"inning": {Read: patch.Whole(1, 99)}, "outs": {Read: patch.Whole(0, 2)}, "battingOrder": {Read: patch.Whole(1, maxOrder)},
		"hitLocation": {Read: location, Nullable: true}, "rbis": {Read: patch.Whole(0, 99), Nullable: true},
		"hitType": {Read: patch.Text(patch.OneOf(hitType, flyBall, "ground_out", "line_drive", "pop_up", "bunt")), Nullable: true},
	}
}
