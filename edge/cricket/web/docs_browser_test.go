package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/testrig/browser"
)

// The page of the API shows every operation, can try one, and requests nothing from other hosts.
func TestDocsInABrowser(t *testing.T) {
	b := browser.Open(t)
	if b == nil {
		return
	}
	cfg, _, _ := config(t)
	home, _ := start(t, cfg)
	b.Do(t, chromedp.EmulateViewport(1280, 900))
	b.Do(t, chromedp.Navigate(home+"/_/docs"))
	b.WaitFor(t, `document.querySelectorAll(".opblock").length >= 58`)
	for _, button := range []string{"opblock-summary-control", "try-out__btn", "execute"} {
		b.WaitFor(t, fmt.Sprintf(`(e => e && (e.click(), true))(document.querySelector("#operations-matches-listLiveMatches .%s"))`, button)) // by script, because the layout still moves
	}
	b.WaitFor(t, `document.querySelector("#operations-matches-listLiveMatches .live-responses-table")?.textContent.includes("ENG")`)
	browser.Shoot(t, b, "docs")
	if bad := b.Complaints(home); len(bad) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(bad, "\n"))
	}
}
