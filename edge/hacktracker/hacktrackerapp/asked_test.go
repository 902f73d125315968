package hacktrackerapp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A node has what another one made as soon as it is asked for it, and can then be cut off. What nobody has is 404; what a node cannot
// know because it is cut off is 503, until it knows that it was deleted.
func TestMadeElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newApart(t)
		w.Want("b", "ana", "GET", "/hacktracker/games/"+w.games[0], "") // from now on this game is polled
		w.Pass(time.Minute)
		made := func(path, body, name string) string {
			id := w.makes("a", path, body, name, "")
			w.Pass(time.Second) // it is in the cloud
			return id
		}
		want := func(at, method, path, body string, status int) string {
			t.Helper()
			got, h, answer := w.Send(at, "ana", method, "/hacktracker"+path, body)
			if got != status || status == 503 && (h.Get("Retry-After") == "" || !strings.Contains(answer, `{"error":"Whether this exists cannot be known now`)) {
				t.Errorf("%s %s at %s: %d %s, want %d", method, path, at, got, answer, status)
			}
			return answer
		}
		atBat := fmt.Sprintf(`{"playerId":%q,"result":"1B","inning":1,"outs":0,"battingOrder":1}`, w.players[0])
		want("b", "GET", "/games/late", "", 404)
		team := made("/teams", `{"name":"Late","teamType":"MANAGED"}`, "teamId")
		player := made("/teams/"+team+"/players", `{"firstName":"Eve"}`, "playerId")
		game := made("/games", fmt.Sprintf(`{"teamId":%q,"status":"IN_PROGRESS","lineup":[{"playerId":%q,"battingOrder":1}]}`, team, player), "gameId")
		want("b", "GET", "/games/"+game, "", 200)
		inPolled := made("/games/"+w.games[0]+"/atbats", atBat, "atBatId")
		want("b", "GET", "/games/"+w.games[0]+"/atbats/"+inPolled, "", 200)
		guest := made("/teams/"+w.team+"/players", `{"firstName":"Flo"}`, "playerId")
		want("b", "GET", "/teams/"+w.team+"/players/"+guest, "", 200)

		w.Cut("b")
		want("b", "POST", "/games/"+game+"/atbats", fmt.Sprintf(`{"playerId":%q,"result":"1B","inning":1,"outs":0,"battingOrder":1}`, player), 201)
		want("b", "GET", "/games/late", "", 503)
		want("b", "POST", "/games/late/atbats", atBat, 503)
		unseen := made("/games/"+w.games[0]+"/atbats", atBat, "atBatId")
		want("b", "DELETE", "/games/"+w.games[0]+"/atbats/"+unseen, "", 503)
		want("b", "DELETE", "/games/"+w.games[0]+"/atbats/"+inPolled, "", 204)
		want("b", "DELETE", "/games/"+w.games[0]+"/atbats/"+inPolled, "", 404)
		w.Heal("b")
		w.Pass(time.Minute)
		want("b", "DELETE", "/games/"+w.games[0]+"/atbats/"+unseen, "", 204)
	})
}
