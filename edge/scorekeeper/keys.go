package scorekeeper

import (
	"strings"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// The sort keys of the rows that are alone in their partition, or the first of it.
const (
	skGame      = "GAME_STATE"
	skOldGame   = "GAME" // of rows that an earlier version of the original wrote: read, never written
	skAnswer    = "ANSWER"
	skTeam      = "METADATA"
	skProfile   = "PROFILE"
	skConverted = "CONVERTED"
)

// What the other keys begin with.
const (
	prefixUser   = "USER#"
	prefixPuzzle = "PUZZLE#"
	prefixTeam   = "TEAM#"
	prefixMember = "MEMBER#"
)

func key(pk, sk string) attr.Item { return attr.Item{"pk": attr.S(pk), "sk": attr.S(sk)} }

// gamePK is the partition of a player's game of a day.
func gamePK(user, date string) string { return gamesOf(user) + date }

// gamesOf is what the partitions of all games of a player begin with.
func gamesOf(user string) string { return prefixUser + user + "#" + prefixPuzzle }

// GameKey is the key of a player's game of a day.
func GameKey(user, date string) attr.Item { return key(gamePK(user, date), skGame) }

// AnswerKey is the key of a day's answer.
func AnswerKey(date string) attr.Item { return key(prefixPuzzle+date, skAnswer) }

func teamKey(team string) attr.Item          { return key(prefixTeam+team, skTeam) }
func memberKey(team, user string) attr.Item  { return key(prefixTeam+team, prefixMember+user) }
func belongsKey(user, team string) attr.Item { return key(prefixUser+user, prefixTeam+team) }
func profileKey(user string) attr.Item       { return key(prefixUser+user, skProfile) }
func convertedKey(session string) attr.Item  { return key(prefixUser+session, skConverted) }

// answerDate returns the day whose answer a key is; ok is false for other keys.
func answerDate(k attr.Item) (date string, ok bool) {
	date, ok = strings.CutPrefix(k["pk"].Str(), prefixPuzzle)
	return date, ok && k["sk"].Str() == skAnswer
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

// IsGame reports whether a key is that of a game.
func IsGame(k attr.Item) bool { return k["sk"].Str() == skGame }

// IsMember reports whether a key is that of a player in a team.
func IsMember(k attr.Item) bool { return strings.HasPrefix(k["sk"].Str(), prefixMember) }

// IsTeam reports whether a key is that of a team.
func IsTeam(k attr.Item) bool { return k["sk"].Str() == skTeam }
