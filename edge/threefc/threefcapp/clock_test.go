package threefcapp

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/mail"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/testrig/nodes"
)

// A sign-in mail is sent however wrong the node's clock is, also if it is set while the mail waits.
func TestSignInMailWithAWrongClock(t *testing.T) {
	for _, wrong := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(wrong.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mails := t.TempDir()
				w := nodes.NewApart(t, nodes.Options{App: New, Wrong: map[string]time.Duration{"b": wrong}, Parts: func(p *node.Parts) {
					p.Mail = mail.Defaults()
					p.Mail.Mode, p.Mail.Dir, p.Mail.From = "files", mails, "3fc@example.org"
					p.HTTP.PublicURL = "http://3fc.example"
				}}, "3fc-prod-app")
				sent := func() int {
					all, err := filepath.Glob(filepath.Join(mails, "*.eml"))
					if err != nil {
						t.Fatal(err)
					}
					return len(all)
				}
				w.Want("b", "", "POST", "/3fc/v1/auth/magic/start", `{"email":"boss@example.org"}`)
				w.Pass(10 * time.Second)
				if n := sent(); n != 1 {
					t.Fatalf("%d mails were written, want 1", n)
				}
				w.SetClock("b", 0)
				w.Want("b", "", "POST", "/3fc/v1/auth/magic/start", `{"email":"boss@example.org"}`)
				w.Pass(10 * time.Second)
				if n := sent(); n != 2 {
					t.Errorf("%d mails were written after the clock was set right, want 2", n)
				}
			})
		})
	}
}

// A node whose clock is set, by hours and either way, goes on reading what others write and sending what it took, as soon as ever.
func TestClockIsSet(t *testing.T) {
	f := &fleet{mails: t.TempDir()}
	o := nodes.Options{App: New, Parts: func(p *node.Parts) { f.options().Parts(p) }}
	nodes.ClockIsSet(t, o, table, func(w *nodes.Apart) func(at string) string {
		f.Fleet = w.Fleet
		f.signIn()
		if err := os.RemoveAll(f.mails); err != nil { // the next case takes the first mail that there is
			t.Fatal(err)
		}
		f.game(true)
		return func(at string) string {
			return "GAME#g GOAL_EVENT#" + member(f.want(at, "POST", "/v1/games/g/goals", goal("red", "blue")), "eventId")
		}
	})
}
