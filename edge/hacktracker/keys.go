package hacktracker

import (
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

const (
	skMetadata = "METADATA"
	skLive     = "LIVE#GAME" // marks a team's game in progress
	skDeleted  = "DELETED"   // marks a deleted game: its at-bats are removed too, even if another node brings them later

	prefixUser   = "USER#"
	prefixTeam   = "TEAM#"
	prefixGame   = "GAME#"
	prefixPlayer = "PLAYER#"
	prefixAtBat  = "ATBAT#"
	prefixUndone = "UNDONE#" // marks an at-bat taken back: it is removed, even if another node brings it later
	prefixJersey = "JERSEY#"
	prefixOnce   = "IDEMPOTENCY#"
)

// The indexes: by Cognito subject, by kind of entity, games of a team, players of a user, at-bats of a player.
const (
	indexSub     = "GSI1"
	indexEntity  = "GSI2"
	indexGames   = "GSI3"
	indexPlayers = "GSI4"
	indexAtBats  = "GSI5"
)

// Rows returns the handle of the one table.
func Rows(name string) table.Handle { return table.Handle{Table: name, PK: "PK", SK: "SK"} }

// Table declares the one table with its five indexes.
func Table(name string) store.TableSpec {
	spec := store.TableSpec{
		Name: name, Policy: store.PolicyIntent,
		Why: "a shirt number, the one game in progress and an at-bat of a running game are conditional: the cloud decides between nodes",
		Key: table.Keys("PK", "SK"),
	}
	for _, index := range []string{indexSub, indexEntity, indexGames, indexPlayers, indexAtBats} {
		spec.Indexes = append(spec.Indexes, store.IndexSpec{Name: index, Key: table.Keys(index+"PK", index+"SK"), Projection: store.ProjectAll})
	}
	return spec
}

func key(pk, sk string) attr.Item { return attr.Item{"PK": attr.S(pk), "SK": attr.S(sk)} }

func userKey(user string) attr.Item           { return key(prefixUser+user, skMetadata) }
func memberKey(user, team string) attr.Item   { return key(prefixUser+user, prefixTeam+team) }
func teamKey(team string) attr.Item           { return key(prefixTeam+team, skMetadata) }
func playerKey(team, player string) attr.Item { return key(prefixTeam+team, prefixPlayer+player) }
func jerseyKey(team, number string) attr.Item { return key(prefixTeam+team, prefixJersey+number) }
func liveKey(team string) attr.Item           { return key(prefixTeam+team, skLive) }
func gameKey(game string) attr.Item           { return key(prefixGame+game, skMetadata) }
func deletedKey(game string) attr.Item        { return key(prefixGame+game, skDeleted) }
func atBatKey(game, atBat string) attr.Item   { return key(prefixGame+game, prefixAtBat+atBat) }
func undoneKey(game, atBat string) attr.Item  { return key(prefixGame+game, prefixUndone+atBat) }

// addIndexKey adds the key of an index to a row.
func addIndexKey(row attr.Item, index, pk, sk string) {
	row[index+"PK"], row[index+"SK"] = attr.S(pk), attr.S(sk)
}

// IsID reports whether a text can be an id. It may not contain #, which separates the parts of a key.
func IsID(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool { return r == '#' || r <= ' ' || r > '~' })
}

// GameKey returns the partition of a game.
func GameKey(game string) attr.Item { return attr.Item{"PK": attr.S(prefixGame + game)} }

// GameOf returns the game whose partition a key is in, or "".
func GameOf(k attr.Item) string {
	if game, ok := strings.CutPrefix(k["PK"].Str(), prefixGame); ok {
		return game
	}
	return ""
}
