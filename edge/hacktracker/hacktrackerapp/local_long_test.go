//go:build long

package hacktrackerapp

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// The cost of actions in write units, as counted by DynamoDB Local. An at-bat is a transaction of its row, the check of its game and its
// proof, at two units each; its index entry costs two more, because it is written in a transaction. Taking one back costs its row, and the
// marker with its proof. A game costs its row, its proof and two index entries. The node writes its own row once a minute, at one unit.
func TestWriteUnits(t *testing.T) {
	local, client := nodes.Local(t, nodes.Options{App: New})
	f := &fleet{local}
	var team, player, game, atBat string
	begun, minutes := time.Now(), 0
	for _, a := range []struct {
		name string
		most float64
		do   func()
	}{
		{"a team with its owner", 17, func() { team = f.made("a", "/teams", `{"name":"Bad News","teamType":"MANAGED"}`, "teamId") }},
		{"a player with a number", 4, func() {
			player = f.made("a", "/teams/"+team+"/players", `{"firstName":"Abe","playerNumber":12}`, "playerId")
		}},
		{"a game", 8, func() { game = f.made("a", "/games", fmt.Sprintf(`{"teamId":%q}`, team), "gameId") }},
		{"its start", 10, func() {
			f.Want("a", "ana", "PATCH", mount+"/games/"+game, fmt.Sprintf(`{"status":"IN_PROGRESS","lineup":[{"playerId":%q,"battingOrder":1}]}`, player))
		}},
		{"an at-bat", 8, func() {
			atBat = f.made("a", "/games/"+game+"/atbats", fmt.Sprintf(`{"playerId":%q,"result":"1B","inning":1,"outs":0,"battingOrder":1}`, player), "atBatId")
		}},
		{"an at-bat with everything", 8, func() {
			f.made("a", "/games/"+game+"/atbats", fmt.Sprintf(`{"playerId":%q,"result":"HR","inning":1,"outs":0,"battingOrder":1,
				"hitLocation":{"x":0.25,"y":0.5},"hitType":"line_drive","rbis":2}`, player), "atBatId")
		}},
		{"its correction", 2, func() { f.Want("a", "ana", "PUT", mount+"/games/"+game+"/atbats/"+atBat, `{"result":"2B"}`) }},
		{"a score", 3, func() { f.Want("a", "ana", "PATCH", mount+"/games/"+game, `{"teamScore":2}`) }},
		{"a run", 3, func() {
			f.Want("a", "ana", "POST", mount+"/games/"+game+"/runs", `{"teamScore":1}`, "Idempotency-Key", "01JT6XQ0Z8M1C3V5N7B9D1F3H5")
		}},
		{"taking it back", 7, func() { f.Want("a", "ana", "DELETE", mount+"/games/"+game+"/atbats/"+atBat, "") }},
	} {
		before := client.Usage().WriteUnits
		a.do()
		f.Drained()
		used := client.Usage().WriteUnits - before
		t.Logf("%s: %v write units", a.name, used)
		if used == a.most+1 && minutes <= int(time.Since(begun)/time.Minute) {
			minutes++
			continue
		}
		if used == 0 || used > a.most {
			t.Errorf("%s: %v write units, at most %v", a.name, used, a.most)
		}
	}
}
