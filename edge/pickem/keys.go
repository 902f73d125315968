package pickem

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

const (
	pkEvents = "EVENT"
	skUser   = "USER"
	gsiEvent = "EVENT"

	prefixUser      = "USER#"
	prefixEvent     = "EVENT#"
	prefixMatch     = "MATCH#"
	prefixScore     = "SCORE#"
	prefixStandings = "STANDINGS#"
	// A user's note of an event: the set of picks that were not counted, each as match and time. It is a row of its own, so that a refused
	// change of picks leaves it alone. Nodes only add or remove members, so none erases one it does not know of. An empty note stays.
	prefixLate = "NOTCOUNTED#"
)

// Rows returns the handle of the application's only table.
func Rows(name string) table.Handle { return table.Handle{Table: name, PK: "PK", SK: "SK"} }

// Table returns the specification of the application's only table, with its index.
func Table(name, index string) store.TableSpec {
	return store.TableSpec{
		Name: name, Policy: store.PolicyIntent,
		Why: "a pick is conditional on its event being open: the cloud decides whether it came in time",
		Key: table.Keys("PK", "SK"), Indexes: []store.IndexSpec{{Name: index, Key: table.Keys("GSI_PK", "GSI_SK"), Projection: store.ProjectAll}},
	}
}

func key(pk, sk string) attr.Item { return attr.Item{"PK": attr.S(pk), "SK": attr.S(sk)} }

func userKey(user string) attr.Item              { return key(prefixUser+user, skUser) }
func eventKey(event string) attr.Item            { return key(pkEvents, prefixEvent+event) }
func matchKey(event, match string) attr.Item     { return key(prefixEvent+event, prefixMatch+match) }
func predictionKey(user, event string) attr.Item { return key(prefixUser+user, prefixEvent+event) }
func lateKey(user, event string) attr.Item       { return key(prefixUser+user, prefixLate+event) }
func standingsKey(user, year string) attr.Item   { return key(prefixUser+user, prefixStandings+year) }

// Numbers in keys have leading zeros because keys sort as text: without them 9 would come after 10. Points are capped to the digits there
// are: matches added at two nodes at once can be worth more than a card's limit.
func cardPlace(n int) string { return fmt.Sprintf("%s%02d", prefixMatch, n) }
func eventScore(points int, user string) string {
	return fmt.Sprintf("%s%03d#%s", prefixScore, min(points, maxEventPoints), user)
}
func standingScore(points int, user string) string {
	return fmt.Sprintf("%s%05d#%s", prefixScore, min(points, maxYearPoints), user)
}

// Day is the layout of dates in IDs and in the API. In rows they have slashes (rowDay).
const Day = time.DateOnly

const rowDay = "2006/01/02"

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// EventID returns the ID of an event: its day, and a slug of its name of at most 60 characters, such as 2024-03-03-aew-revolution.
func EventID(day, name string) string {
	slug := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
	slug = strings.TrimRight(slug[:min(len(slug), 60)], "-")
	return day + "-" + cmp.Or(slug, "event")
}

// yearOf returns the year in whose standings an event counts.
func yearOf(event string) string { return event[:min(4, len(event))] }

// IsUser reports whether text can be a user's ID. Keys separate it by #, and paths by a slash. Cognito's user names contain no spaces; a space
// typed by mistake would make an ID that nobody has.
func IsUser(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool { return r == '#' || r == '/' || r <= ' ' })
}

// userOf returns the user whose partition a key is in. It is empty for any other partition.
func userOf(k attr.Item) string {
	user, ok := strings.CutPrefix(k["PK"].Str(), prefixUser)
	if !ok {
		return ""
	}
	return user
}

// Concerns returns the event that a row is about and its year: for standings only the year, and for a user neither.
func Concerns(k attr.Item) (event, year string) {
	if year, ok := strings.CutPrefix(k["SK"].Str(), prefixStandings); ok {
		return "", year
	}
	for _, name := range []string{"PK", "SK"} {
		if event, ok := strings.CutPrefix(k[name].Str(), prefixEvent); ok {
			return event, yearOf(event)
		}
	}
	return "", ""
}
