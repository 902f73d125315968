package hacktrackerapp

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/httpapi/handover"
)

// An at-bat that another node had from before the end, and that comes after it, is told to the scorer who finished the game, loudly on the
// device that did, until that device has said to have seen it. A game that goes on again has no end.
func TestLateEntriesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, game, players := newTeam(t)
		ann, ben := handover.NewDevice(), handover.NewDevice()
		ask := func(device, method, path, body string) string {
			t.Helper()
			return f.Want("a", "ana", method, mount+path, body, "Accept", "text/html", "Cookie", "touchline_device="+device, "Sec-Fetch-Site", "same-origin")
		}
		page := func(device string) string { return ask(device, "GET", "/-/games/"+game+"/score", "") }
		page(ben)
		f.score("a", game, players[0], "1B", 1)
		f.Cut("b")
		f.score("b", game, players[1], "2B", 2)
		f.score("b", game, players[2], "HR", 3)
		f.Pass(time.Minute)
		ask(ann, "PATCH", "/games/"+game, `{"status":"FINAL"}`)
		f.Pass(time.Minute)
		if before := page(ann); !strings.Contains(before, "Finished at") || strings.Contains(before, "came after") {
			t.Errorf("at the end: %s", before)
		}
		f.Heal("b")
		f.Until("both at-bats are there", func() bool {
			return strings.Contains(f.Want("a", "ana", "GET", mount+"/games/"+game+"/boxscore", ""), `"totals":{"PA":3`)
		})
		const mine, others = `role="alert"><span>2 entries came after you finished, the last at`, `2 entries came after the game was finished`
		if told := page(ann); !strings.Contains(told, mine) {
			t.Errorf("the device that finished is not told: %s", told)
		}
		if told := page(ben); !strings.Contains(told, others) || strings.Contains(told, `role="alert"><span>2`) {
			t.Errorf("another device is told otherwise: %s", told)
		}
		ask(ben, "POST", "/-/games/"+game+"/scorers", `{"do":"seen"}`)
		if !strings.Contains(page(ann), mine) {
			t.Error("another device has put the news away")
		}
		ask(ann, "POST", "/-/games/"+game+"/scorers", `{"do":"seen"}`)
		if strings.Contains(page(ann), "came after") {
			t.Error("seen, it is still shown")
		}
		ask(ann, "PATCH", "/games/"+game, `{"status":"IN_PROGRESS"}`)
		f.Pass(time.Second)
		if strings.Contains(page(ann), "Finished at") {
			t.Error("a game that goes on again has an end")
		}
		for _, body := range []string{`{"do":"jump"}`, `{"do":"give","to":"00"}`} {
			if status, _ := f.Ask("a", "ana", "POST", mount+"/-/games/"+game+"/scorers", body); status < http.StatusBadRequest {
				t.Error(fmt.Sprint(body, ": ", status))
			}
		}
		if status, _ := f.Ask("a", "eve", "POST", mount+"/-/games/"+game+"/scorers", `{"do":"take"}`); status != http.StatusForbidden {
			t.Errorf("a stranger takes over: %d", status)
		}
	})
}
