package hacktrackerapp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An at-bat that is corrected at one node and taken back at another is taken back, whichever reaches the cloud first. Nobody is asked to
// decide, and the game's pages of both nodes show it, as it was corrected last.
func TestAtBatThatIsCorrectedAndTakenBack(t *testing.T) {
	for name, tt := range map[string]struct{ steps, said string }{
		"the correction comes late":               {"a cut,a HR,b undo,a heal", "home run"},
		"the undo comes late":                     {"b cut,b undo,a HR,b heal", "home run"},
		"two corrections come late":               {"a cut,a K,a HR,b undo,a heal", "home run"},
		"a correction and its undo come late":     {"a cut,a HR,a undo,b K,a heal", "strikeout"},
		"both were cut off, the correction first": {"a cut,b cut,a HR,b undo,a heal,b heal", ""},
		"both were cut off, the undo first":       {"a cut,b cut,a HR,b undo,b heal,a heal", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newApart(t)
				game := "/games/" + w.games[0]
				w.Want("b", "ana", "GET", "/hacktracker"+game, "")
				w.Pass(time.Minute)
				id := w.makes("a", game+"/atbats", fmt.Sprintf(`{"playerId":%q,"result":"1B","inning":1,"outs":0,"battingOrder":1}`, w.players[0]), "atBatId", "")
				w.Pass(time.Second)
				path := "/hacktracker" + game + "/atbats/" + id
				w.Want("b", "ana", "GET", path, "")
				w.Pass(time.Minute)
				for step := range strings.SplitSeq(tt.steps, ",") {
					at, what, _ := strings.Cut(step, " ")
					switch what {
					case "cut":
						w.Cut(at)
					case "heal":
						w.Heal(at)
						w.Pass(time.Minute)
					case "undo":
						w.Want(at, "ana", "DELETE", path, "")
					default:
						w.Want(at, "ana", "PUT", path, fmt.Sprintf(`{"result":%q}`, what))
					}
					w.Pass(10 * time.Millisecond)
				}
				w.Pass(5 * time.Minute)
				w.Quiet()
				for _, at := range []string{"a", "b"} {
					if status, answer := w.Ask(at, "ana", "GET", path, ""); status != 404 {
						t.Errorf("%s still has the at-bat: %d %s", at, status, answer)
					}
					page := w.Want(at, "ana", "GET", "/hacktracker/-"+game, "", "Accept", "text/html")
					_, note, _ := strings.Cut(page, "Taken back: ")
					if note, _, _ = strings.Cut(note, "<"); !strings.Contains(note, tt.said+", inning 1.") {
						t.Errorf("the page at %s says %q, want a %s", at, note, tt.said)
					}
				}
				w.Settle()
			})
		})
	}
}
