package sportmonks

import (
	"errors"
	"io"
	"log/slog"
	"maps"
	"strings"
	"sync"

	"github.com/touchline/touchline/edge/cricket"
)

// Kinds of oddities: unexpected or unknown values in the feed. All of them are tolerated.
const (
	OddHTML          = "html"           // a page instead of JSON
	OddEmpty         = "empty"          // nothing instead of JSON
	OddNotJSON       = "not_json"       // something else instead of JSON
	OddRedirect      = "redirect"       // a redirect, which is not followed
	OddTruncated     = "truncated"      // truncated JSON or body
	OddBadJSON       = "bad_json"       // invalid JSON, or of unexpected types
	OddTooLarge      = "too_large"      // over the body cap
	OddThrottled     = "throttled"      // 429
	OddServerError   = "server_error"   // 5xx
	OddSkippedMatch  = "skipped_match"  // a match in a list that cannot be decoded
	OddSkippedRecord = "skipped_record" // a league, season, team or player that cannot be decoded
	OddEndlessPages  = "endless_pages"  // a list with more pages than are read
	OddUnknownStatus = "unknown_status" // of a match; each text counts once
	OddUnknownType   = "unknown_type"   // of a match; each text counts once
	OddUnknownField  = "unknown_field"  // of a match, row or ball; each name counts once
	OddUnknownScore  = "unknown_score"  // a ball's score_id without object or catalogue entry; each counts once
	OddUnknownTime   = "unknown_time"   // a time in another format; each format counts once
	OddUnknownMore   = "unknown_more"   // values beyond the limit for distinct ones
)

// oddities counts. Distinct unknown values are kept up to a limit, and logged when first seen.
type oddities struct {
	log    *slog.Logger
	redact func(string) string
	fields map[string]map[string]bool

	mu     sync.Mutex
	counts map[string]int64
	seen   map[string]bool
}

const (
	maxSeen   = 512
	maxQuoted = 64
	maxLooked = 4096
)

func newOddities(log *slog.Logger, redact func(string) string) *oddities {
	return &oddities{
		log: log, redact: redact, fields: knownFields(), counts: map[string]int64{}, seen: map[string]bool{},
	}
}

// Oddities returns the number of unexpected or unknown values by kind. For "unknown_..." kinds distinct values
// are counted, otherwise occurrences.
func (c *Client) Oddities() map[string]int64 {
	c.oddities.mu.Lock()
	defer c.oddities.mu.Unlock()
	return maps.Clone(c.oddities.counts)
}

func (o *oddities) count(kind string) { o.add(kind, 1) }

func (o *oddities) add(kind string, n int) {
	if n == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts[kind] += int64(n)
}

// unknown counts and logs a value not seen before.
func (o *oddities) unknown(kind, value string) {
	if len(value) > maxLooked {
		value = value[:maxLooked]
	}
	// Cutting must not leave half a token: it is redacted first, and the cut above is far beyond the part that is kept.
	if value = o.redact(value); len(value) > maxQuoted {
		value = strings.ToValidUTF8(value[:maxQuoted], "")
	}
	key := kind + " " + value
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.seen[key]:
	case len(o.seen) >= maxSeen:
		o.counts[OddUnknownMore]++
	default:
		o.seen[key] = true
		o.counts[kind]++
		o.log.Warn("the feed sent an unknown value; it is ignored", "what", kind, "value", value)
	}
}

// failure counts an answer that could not be used.
func (o *oddities) failure(err *Error) {
	switch err.Fault.Code {
	case CodeTooLarge:
		o.count(OddTooLarge)
	case CodeBadJSON:
		if errors.Is(err, errTruncated) || errors.Is(err, io.ErrUnexpectedEOF) {
			o.count(OddTruncated)
			return
		}
		o.count(OddBadJSON)
	}
}

// status counts answers other than 200 and 304.
func (o *oddities) status(status int) {
	switch {
	case status == 429:
		o.count(OddThrottled)
	case status >= 500:
		o.count(OddServerError)
	case status >= 300 && status < 400 && status != 304:
		o.count(OddRedirect)
	}
}

// match counts unknown values of a match.
func (o *oddities) match(s *cricket.Snapshot) {
	if !s.Status.IsListed() && s.Status != "" {
		o.unknown(OddUnknownStatus, string(s.Status))
	}
	if s.Type != "" && !knownType(s.Type) {
		o.unknown(OddUnknownType, s.Type)
	}
}

// instant counts a time that cannot be read, by its format: digits are all the same.
func (o *oddities) instant(t instant) {
	if t.unread == "" {
		return
	}
	o.unknown(OddUnknownTime, strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, t.unread))
}

// knownType reports whether a type of match is known, with or without "Women's" in front.
func knownType(kind string) bool {
	k := strings.ToLower(strings.TrimSpace(kind))
	for _, prefix := range []string{"womens ", "women ", "woman "} {
		k = strings.TrimPrefix(k, prefix)
	}
	switch k {
	case "t20", "t20i", "odi", "test", "test/5day", "5day", "4day", "3day", "list a", "t10", "100-ball":
		return true
	}
	return false
}

// object counts unknown fields of the object at this place. Anything but an object has none.
func (o *oddities) object(resource string, b []byte, at int) {
	_, _ = eachField(b, at, func(name []byte, at int) (int, error) {
		o.field(resource, name)
		return valueEnd(b, at)
	})
}

// field counts a field name, given in quotes, if it is unknown.
func (o *oddities) field(resource string, quoted []byte) {
	if name := quoted[1 : len(quoted)-1]; !o.fields[resource][string(name)] {
		o.unknown(OddUnknownField, resource+"."+string(name))
	}
}

var errFirst = errors.New("the first is enough")

// first checks the first row of an include: all rows of a reply have the same fields.
func (o *oddities) first(resource string, b []byte, at int) {
	list := includeStart(b, at)
	if list < 0 {
		return
	}
	_, _ = eachElement(b, list, func(at int) (int, error) {
		o.object(resource, b, at)
		return 0, errFirst
	})
}

// knownFields returns the field names in real replies and the feed's documentation, by resource. Rows are named
// like the includes of a match.
func knownFields() map[string]map[string]bool {
	names := map[string]string{
		"fixture": `resource id league_id season_id stage_id round localteam_id visitorteam_id starting_at type live status
			last_period note venue_id toss_won_team_id winner_team_id draw_noresult first_umpire_id second_umpire_id
			tv_umpire_id referee_id man_of_match_id man_of_series_id total_overs_played elected super_over follow_on
			localteam_dl_data visitorteam_dl_data rpc_overs rpc_target weather_report localteam visitorteam league season
			stage venue runs balls batting bowling scoreboards lineup firstumpire secondumpire tvumpire referee manofmatch
			manofseries tosswon winnerteam updated_at`,
		"runs": `resource id fixture_id team_id inning score wickets overs pp1 pp2 pp3 team updated_at`,
		"scoreboards": `resource id fixture_id team_id type scoreboard wide noball_runs noball_balls bye leg_bye penalty
			total overs wickets team updated_at`,
		"batting": `resource id sort fixture_id team_id active scoreboard player_id wicket_id ball score_id score four_x
			six_x catch_stump_player_id runout_by_id batsmanout_id bowling_player_id fow_score fow_balls rate batsman
			bowler catchstump batsmanout runoutby result team updated_at`,
		"bowling": `resource id sort fixture_id team_id active scoreboard player_id overs medians runs wickets wide noball
			rate bowler team updated_at`,
		"lineup": `resource id country_id firstname lastname fullname image_path dateofbirth gender battingstyle
			bowlingstyle position lineup updated_at`,
		"balls": `resource id fixture_id team_id ball scoreboard batsman_one_on_creeze_id batsman_two_on_creeze_id
			batsman_id bowler_id batsmanout_id catchstump_id runout_by_id score_id batsman bowler score team batsmanone
			batsmantwo catchstump batsmanout runoutby updated_at`,
	}
	out := make(map[string]map[string]bool, len(names))
	for resource, text := range names {
		set := map[string]bool{}
		for name := range strings.FieldsSeq(text) {
			set[name] = true
		}
		out[resource] = set
	}
	return out
}
