//go:build long

package web

import (
	"strings"
	"testing"

	chromium "github.com/touchline/touchline/internal/testrig/browser"
)

// A refused entry opens as the form that it came from, filled in, with the node's words at the field. What is sent then replaces it.
func TestRefusedEntryOpensAsItsForm(t *testing.T) {
	p := newPhone(t)
	if p == nil {
		return
	}
	p.r.want(201, "", "boss", "POST", "/v1/seasons/s/sessions", `{"sessionId":"day","sessionDate":"2026-08-01"}`)
	p.signIn("boss", "/seasons/s/admin")
	const games = "/sessions/day/games"
	p.run(`document.querySelector('form[action$=%q]').closest("details").open = true`, games)
	p.away()
	p.submit(games, map[string]string{"gameId": "g", "gameStartTs": "2026-08-01T15:30"})
	p.told(games, "queued", "Not sent yet.")
	p.back()
	p.told(games, "refused", "Not accepted. The ID is taken")
	p.open("/seasons/s") // the entry is changed from another page
	p.WaitFor(t, `document.querySelector('.waits[data-state="refused"]') !== null`)
	p.run(`document.querySelector("#waiting details").open = true`)
	p.run(`document.querySelector("[data-change]").click()`)
	const form = `document.querySelector('form[action$="/sessions/day/games"]')`
	p.WaitFor(t, form+`.querySelector('[name="gameId"][aria-invalid]').closest(".field").textContent.includes("The ID is taken")`)
	p.WaitFor(t, form+`.checkVisibility() && document.activeElement.name === "gameId"`)
	chromium.Shoot(t, p.Tab, "threefc-correct")
	if got := chromium.Eval[string](t, p.Tab, form+`.querySelector('[name="gameStartTs"]').value`); got != "2026-08-01T15:30" {
		t.Errorf("the form has %s", got)
	}
	p.submit(games, map[string]string{"gameId": "h"})
	p.told(games, "done", "The game is created.")
	p.waits("refused", 0)
	if all := p.r.want(200, "", "boss", "GET", "/v1/sessions/day/games", ""); !strings.Contains(all, `"gameId":"h"`) || !strings.Contains(all, `T15:30:00.000Z"`) && !strings.Contains(all, `:30:00`) {
		t.Error(all)
	}
	p.WaitFor(t, `document.querySelector("[aria-invalid], .field__problem") === null`)
}

// A refused goal opens in the goal form, with its choices and the node's words.
func TestRefusedGoalOpensInItsForm(t *testing.T) {
	p := newPhone(t)
	if p == nil {
		return
	}
	p.r.want(201, "", "keeper", "POST", "/v1/games/g/players", `{"playerId":"z1","nickname":"Zoe"}`)
	p.r.want(200, "", "keeper", "PUT", "/v1/games/g/roster/z1", `{"teamId":"red"}`)
	p.r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	p.signIn("keeper", "/games/g/score")
	p.WaitFor(t, `document.querySelector('[data-scorer="z1"]') !== null`)
	p.away()
	p.tap(`[data-scoring="red"]`)
	p.tap(`[data-conceding="blue"]`)
	p.tap(`[data-scorer="z1"]`)
	p.tap(`[data-goal] [type="submit"]`)
	p.waits("queued", 1)
	p.r.want(204, "", "keeper", "DELETE", "/v1/games/g/roster/z1", "")
	p.back()
	p.waits("refused", 1)
	p.run(`document.querySelector("#waiting details").open = true`)
	p.run(`document.querySelector("[data-change]").click()`)
	p.WaitFor(t, `document.querySelector("[data-problem]").textContent.includes("The scorer is not in a team of this game.")`)
	p.WaitFor(t, `document.querySelector('[data-scoring="red"]').ariaPressed === "true" && document.querySelector('[data-conceding="blue"]').ariaPressed === "true"`)
	chromium.Shoot(t, p.Tab, "threefc-correct-goal")
	p.tap(`[data-scorer="r1"]`)
	p.tap(`[data-goal] [type="submit"]`)
	p.waits("refused", 0)
	p.WaitFor(t, `document.querySelector('[data-count="against-blue"]').textContent === "1" && document.querySelector("[data-last]").textContent.includes("Player r (Red) against Blue, third 1")`)
}
