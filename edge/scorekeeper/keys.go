// Package scorekeeper is the daily word puzzle: one word of five letters a day, six guesses, teams that compare how they did.
//
// What people did is a row each: the guesses of a player on a day, the answer of a day, a team and its members. Everything else
// is computed when it is read: grades, scores, boards, streaks. So an answer that is corrected re-grades what was guessed.
package scorekeeper

import (
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Table declares the one table.
func Table(name string) store.TableSpec {
	return store.TableSpec{
		Name: name, Policy: store.PolicyIntent,
		Why: "a guess is conditional on those before it: which of two nodes' guesses counts is decided in the cloud, and the rest is merged",
		Key: store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}, Sort: store.KeyAttr{Name: "sk", Type: store.KeyString}},
	}
}

// The sort keys of rows that are alone in their partition or the first of it, and what the other keys begin with.
const (
	skGame      = "GAME_STATE"
	skOldGame   = "GAME" // of rows that an earlier version of the original wrote: read, never written
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

// gamesOf is what the partitions of all games of a player begin with.
func gamesOf(user string) string { return prefixUser + user + "#" + prefixPuzzle }

// GameKey is the key of a player's game of a day.
func GameKey(user, date string) attr.Item { return key(gamesOf(user)+date, skGame) }

// AnswerKey is the key of a day's answer.
func AnswerKey(date string) attr.Item { return key(prefixPuzzle+date, skAnswer) }

func teamKey(team string) attr.Item          { return key(prefixTeam+team, skTeam) }
func memberKey(team, user string) attr.Item  { return key(prefixTeam+team, prefixMember+user) }
func belongsKey(user, team string) attr.Item { return key(prefixUser+user, prefixTeam+team) }
func profileKey(user string) attr.Item       { return key(prefixUser+user, skProfile) }
func convertedKey(session string) attr.Item  { return key(prefixUser+session, skConverted) }

// ownRows is the partition with what a player is: profile, teams, what became of a session.
func ownRows(user string) attr.Item { return attr.Item{"pk": attr.S(prefixUser + user)} }

// playedBy is whose game of which day a key is of; false: it is that of something else.
func playedBy(k attr.Item) (user, date string, ok bool) {
	user, date, ok = strings.Cut(strings.TrimPrefix(k["pk"].Str(), prefixUser), "#"+prefixPuzzle)
	sk := k["sk"].Str()
	return user, date, ok && (sk == skGame || sk == skOldGame) && isDay(date)
}

// Day is how dates are written: in keys, in rows and in the API.
const Day = time.DateOnly

// stamp is how instants are written in rows.
const stamp = "2006-01-02T15:04:05Z"

// isDay reports whether a text is a date, to the letter.
func isDay(text string) bool {
	d, err := time.Parse(Day, text)
	return err == nil && d.Format(Day) == text
}

// furthest is the time zone in which a day begins first.
const furthest = 14 * time.Hour

// begun reports whether a day has begun anywhere.
func begun(date string, now time.Time) bool { return date <= now.UTC().Add(furthest).Format(Day) }

// IsUser reports whether a text can be a player's id: in keys a # parts it from what follows.
func IsUser(text string) bool { return text != "" && !strings.Contains(text, "#") }
