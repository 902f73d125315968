// Package scorekeeper implements the rules of a daily word puzzle: one five-letter word a day, six guesses, and teams that compare results.
//
// The table stores facts only: a player's guesses for a day, the day's answer, teams and their members. Grades, scores, boards and streaks
// are computed on every read. Correcting an answer therefore re-grades the guesses already made.
package scorekeeper

import (
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// Rows returns the handle of the application's only table.
func Rows(name string) table.Handle { return table.Handle{Table: name, PK: "pk", SK: "sk"} }

// Table returns the specification of the application's only table.
func Table(name string) store.TableSpec {
	return store.TableSpec{
		Name: name, Policy: store.PolicyIntent,
		Why: "a guess is conditional on the earlier guesses: the cloud decides which of two nodes' guesses counts, and the others are merged",
		Key: table.Keys("pk", "sk"),
	}
}

// Fixed sort keys, and prefixes of the other keys.
const (
	skGame      = "GAME_STATE"
	skOldGame   = "GAME" // written by an early version of the original application; read, never written
	skAnswer    = "ANSWER"
	skTeam      = "METADATA"
	skProfile   = "PROFILE"
	skConverted = "CONVERTED"

	prefixUser   = "USER#"
	prefixPuzzle = "PUZZLE#"
	prefixTeam   = "TEAM#"
	prefixMember = "MEMBER#"
)

func key(pk, sk string) attr.Item { return attr.Item{"pk": attr.S(pk), "sk": attr.S(sk)} }

// gamesOf returns the prefix of the partition keys of a player's games.
func gamesOf(user string) string { return prefixUser + user + "#" + prefixPuzzle }

// GameKey returns the key of a player's game for a day.
func GameKey(user, date string) attr.Item { return key(gamesOf(user)+date, skGame) }

// AnswerKey returns the key of a day's answer.
func AnswerKey(date string) attr.Item { return key(prefixPuzzle+date, skAnswer) }

func teamKey(team string) attr.Item          { return key(prefixTeam+team, skTeam) }
func memberKey(team, user string) attr.Item  { return key(prefixTeam+team, prefixMember+user) }
func belongsKey(user, team string) attr.Item { return key(prefixUser+user, prefixTeam+team) }
func profileKey(user string) attr.Item       { return key(prefixUser+user, skProfile) }
func convertedKey(session string) attr.Item  { return key(prefixUser+session, skConverted) }

// ownRows returns the partition with a player's profile and memberships and, for a converted session, its marker.
func ownRows(user string) attr.Item { return attr.Item{"pk": attr.S(prefixUser + user)} }

// playedBy returns the player and the day of a game's key. ok is false for the key of any other row.
func playedBy(k attr.Item) (user, date string, ok bool) {
	user, date, ok = strings.Cut(strings.TrimPrefix(k["pk"].Str(), prefixUser), "#"+prefixPuzzle)
	sk := k["sk"].Str()
	return user, date, ok && (sk == skGame || sk == skOldGame) && isDay(date)
}

// DayOf returns the day whose puzzle a row is about, be it the answer or a player's game, or "".
func DayOf(k attr.Item) string {
	if _, date, ok := playedBy(k); ok {
		return date
	}
	if date, ok := strings.CutPrefix(k["pk"].Str(), prefixPuzzle); ok && isDay(date) {
		return date
	}
	return ""
}

// Day is the layout of dates in keys, in rows and in the API.
const Day = time.DateOnly

// stamp is the layout of times in rows. They are in UTC.
const stamp = "2006-01-02T15:04:05Z"

// isDay reports whether text is a date in exactly the layout Day.
func isDay(text string) bool {
	d, err := time.Parse(Day, text)
	return err == nil && d.Format(Day) == text
}

// furthest is the offset of UTC+14, the time zone in which a day begins first.
const furthest = 14 * time.Hour

// hasBegun reports whether a day has begun in any time zone.
func hasBegun(date string, now time.Time) bool { return date <= now.UTC().Add(furthest).Format(Day) }

// IsUser reports whether text can be a player's ID. It must not contain #, which ends the ID in keys.
func IsUser(text string) bool { return text != "" && !strings.Contains(text, "#") }
