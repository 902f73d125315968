//go:build long

package web

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	chromium "github.com/touchline/touchline/internal/testrig/browser"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
)

// A phone that cannot reach the node has three plays and a run, and saves them as a file. Another phone hands it in: the score sheet has all of
// it, and still has it once when the first phone is back and sends them too.
func TestHandInFromPhoneToPhone(t *testing.T) {
	r := newRigWith(t, httpapi.Config{Auth: web.ByName{Silent: auth.Identity{Subject: "owner"}}})
	r.now = time.Now().UTC()
	team, players := r.team("owner", "manager", "scorekeeper", "player")
	game := r.game("owner", team, players...)
	url, gone := r.away()
	otherURL, _ := r.away()
	b := chromium.Open(t)
	if b == nil {
		return
	}
	folder := t.TempDir()
	b.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(url+"/hacktracker/-/games/"+game+"/score"))
	b.WaitFor(t, `navigator.serviceWorker.controller !== null`)
	b.Download(t, folder)
	gone.Store(true)
	for i, key := range []string{`[data-result="K"]`, `[data-result="BB"]`, `[data-result="HBP"]`, `[data-run="opponentScore"]`} {
		b.WaitFor(t, fmt.Sprintf(`performance.now() - (globalThis.pressed ?? 0) > 300 && document.querySelector(%q) !== null`, key))
		chromium.Eval[bool](t, b, fmt.Sprintf(`((k) => { k.click(); globalThis.pressed = performance.now(); return true })(document.querySelector(%q))`, key))
		b.WaitFor(t, fmt.Sprintf(`document.querySelectorAll('.waits[data-state="queued"]').length === %d`, i+1))
	}
	chromium.Eval[bool](t, b, `(document.querySelector("#waiting details").open = true, document.querySelector(".waiting__save").click(), true)`)
	var files []string
	wait.Until(t, "the file is saved", func() bool {
		files, _ = filepath.Glob(filepath.Join(folder, "*.txt"))
		return len(files) == 1
	})

	other := chromium.Open(t)
	other.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(otherURL+"/hacktracker/-/games/"+game+"/score"))
	other.Press(t, `a[href="/hacktracker/-/handover"]`)
	other.Do(t, chromedp.SetUploadFiles(chromedp.CSS(`input[name="file"]`), files))
	other.Press(t, `form[enctype] button[type="submit"]`)
	other.WaitFor(t, `document.querySelectorAll('.member[data-state="ready"]').length === 4`)
	chromium.Shoot(t, other, "hacktracker-handin")
	other.Press(t, `form:has(textarea) button[type="submit"]`)
	other.WaitFor(t, `document.querySelectorAll('.member[data-state="counted"]').length === 4`)
	counts := func() {
		t.Helper()
		r.want(200, `"opponentScore":1`, "owner", "GET", "/games/"+game, "")
		if all := r.list("owner", "/games/"+game+"/atbats"); len(all) != 3 {
			t.Errorf("%d at-bats", len(all))
		}
	}
	counts()
	gone.Store(false)
	chromium.Eval[bool](t, b, `dispatchEvent(new Event("online"))`)
	b.WaitFor(t, `document.querySelectorAll('[data-refresh="plays"] [data-edit]').length === 3 && document.querySelectorAll(".waits").length === 0 && document.body.textContent.includes("handed in by")`)
	counts()
}
