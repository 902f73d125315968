//go:build long

package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	chromium "github.com/touchline/touchline/internal/testrig/browser"
	"github.com/touchline/touchline/internal/testrig/wait"
)

// goal enters a goal of red against blue.
func (p *phone) goal() {
	p.t.Helper()
	for _, at := range []string{`[data-scoring="red"]`, `[data-conceding="blue"]`, `[data-scorer="r1"]`, `[data-goal] [type="submit"]`} {
		p.tap(at)
	}
}

// savedIn waits for the one file in a folder, and returns its path.
func savedIn(t *testing.T, folder string) (path string) {
	t.Helper()
	wait.Until(t, "the file is saved", func() bool {
		all, err := filepath.Glob(filepath.Join(folder, "*.txt"))
		if err != nil || len(all) != 1 {
			return false
		}
		info, err := os.Stat(all[0])
		path = all[0]
		return err == nil && info.Size() > 0
	})
	return path
}

// A phone that cannot reach the node has three goals, and saves them as a file. Another phone hands it in: its scorer sees them in the node's words,
// confirms them, and the board shows three. When the first phone is back it sends them too: there are still three, and nothing waits.
func TestHandInFromPhoneToPhone(t *testing.T) {
	p := newPhone(t)
	if p == nil {
		return
	}
	const score = "/games/g/score"
	p.r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	folder := t.TempDir()
	p.signIn("keeper", score)
	p.open(score)
	p.Download(t, folder)
	p.away()
	for n := 1; n <= 3; n++ {
		p.goal()
		p.waits("queued", n)
	}
	p.run(`document.querySelector("#waiting details").open = true`)
	chromium.Shoot(t, p.Tab, "threefc-save")
	p.tap(".waiting__save")
	p.WaitFor(t, `document.querySelector(".waiting__say").textContent.includes("3 saved as a file.")`)
	file := savedIn(t, folder)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range append([]string{"example.org", "touchline_device", "cookie"}, p.r.cookies["keeper"]) {
		if strings.Contains(strings.ToLower(string(text)), strings.ToLower(secret)) {
			t.Errorf("the file has %s: %s", secret, text)
		}
	}

	other := &phone{t: t, r: p.r, node: &node{r: p.r, addr: "127.0.0.1:0"}, Tab: chromium.Open(t)}
	other.node.start()
	defer other.away()
	other.base = "http://" + other.node.addr + "/3fc/-"
	other.Do(t, chromedp.EmulateViewport(390, 844))
	other.signIn("boss", score)
	other.Press(t, `a[href="/3fc/-/handover"]`)
	other.Do(t, chromedp.SetUploadFiles(chromedp.CSS(`input[name="file"]`), []string{file}))
	other.Press(t, `form[enctype] button[type="submit"]`)
	other.WaitFor(t, `document.querySelectorAll('.member[data-state="ready"]').length === 3 && document.body.textContent.includes("Record 3 entries, as made at these times?")`)
	if n := chromium.Eval[int](t, other.Tab, `[...document.querySelectorAll(".member b")].filter((b) => b.textContent.startsWith("Goal: Player r (Red) against Blue")).length`); n != 3 {
		t.Errorf("%d goals are shown", n)
	}
	chromium.Shoot(t, other.Tab, "threefc-handin")
	p.r.wantGoals(0)
	other.Press(t, `form:has(textarea) button[type="submit"]`)
	other.WaitFor(t, `document.querySelectorAll('.member[data-state="counted"]').length === 3`)
	chromium.Shoot(t, other.Tab, "threefc-handed-in")
	other.Do(t, chromedp.Navigate(other.base+"/games/g/results"))
	board := `[...document.querySelectorAll(".head__figure")].map((f) => f.textContent).join(" ")`
	other.WaitFor(t, board+` === "0 3 0" && document.body.textContent.includes("Made by keeper, handed in by boss.")`)
	if said := other.Complaints(other.base); len(said) > 0 {
		t.Errorf("%q", said)
	}

	p.back()
	p.WaitFor(t, fmt.Sprintf(`document.querySelectorAll(".waits").length === 0 && document.querySelector("[data-unsent]") === null && %s === "0 3 0"`, board))
	p.r.wantGoals(3)
}
