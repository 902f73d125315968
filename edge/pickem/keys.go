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
	// Of a user, by event: a set of the picks that came after the lock, of each the match and when it was made. It is a row by itself, which no
	// refused change takes along. Nodes add members and take them away, so none takes along what it has not heard of; without any the row stays.
	prefixLate = "NOTCOUNTED#"
)

// Table declares the one table with its index.
func Table(name, index string) store.TableSpec {
	return store.TableSpec{
		Name: name, Policy: store.PolicyIntent,
		Why: "a pick is conditional on its event being open: whether it came in time is decided in the cloud",
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

// Numbers in keys have leading zeros, since keys are sorted as text: without them 9 would come behind 10. What matches that were added
// at two nodes are worth above a card's bound has no digits.
func cardPlace(n int) string { return fmt.Sprintf("%s%02d", prefixMatch, n) }
func eventScore(points int, user string) string {
	return fmt.Sprintf("%s%03d#%s", prefixScore, min(points, maxEventPoints), user)
}
func standingScore(points int, user string) string {
	return fmt.Sprintf("%s%05d#%s", prefixScore, min(points, maxYearPoints), user)
}

// Day is how dates are written in ids and in the API; rows have slashes.
const Day = time.DateOnly

const rowDay = "2006/01/02"

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// EventID is the id of an event: its day, and its name in up to 60 small letters.
func EventID(day, name string) string {
	slug := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
	slug = strings.TrimRight(slug[:min(len(slug), 60)], "-")
	return day + "-" + cmp.Or(slug, "event")
}

// yearOf is the year whose standings an event counts for.
func yearOf(event string) string { return event[:min(4, len(event))] }

// IsUser reports whether a text can be a user's id: in keys a # parts it from what stands before it, in paths a slash. Names of Cognito
// have no spaces; one that was typed behind an id would be somebody else.
func IsUser(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool { return r == '#' || r == '/' || r <= ' ' })
}

// userOf is the user whose partition a key lies in; empty: it is another one.
func userOf(k attr.Item) string {
	user, ok := strings.CutPrefix(k["PK"].Str(), prefixUser)
	if !ok {
		return ""
	}
	return user
}

// Concerns is the event that a row is about, and its year; of standings the year alone, of a user neither.
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
