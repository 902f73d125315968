//go:build long

package push

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/store"
)

// Sizes of TestSaturday.
const (
	saturdayMatches = 12
	saturdayPhones  = 1000
)

// saturday is a wet Saturday: matches that begin at once, and phones of which some do what phones do.
type saturday struct {
	*withPhones
	follows map[string][]string // by user
	without map[string]bool     // users whose phones show no card although Apple accepts their starts
}

// TestSaturday plays twelve matches at once for 1,000 phones: 5 % accept a start and never show it, 5 % register an old token, 2 % are
// killed, and 10 % have Live Activities off. Each hears each last word once, on a card or in an ordinary alert, and nothing else twice;
// the count of missing cards is right to the phone.
func TestSaturday(t *testing.T) {
	r := &saturday{withPhones: newWithPhones(t, 0), follows: map[string][]string{}, without: map[string]bool{}}
	r.populate(rand.New(rand.NewPCG(42, 7))) // the same Saturday every time
	r.run(r.client)
	r.settle()
	for i := range saturdayMatches {
		r.score(saturdayMatch(i), 0, "")
		r.live(saturdayMatch(i))
	}
	r.pass(time.Minute)
	script := []cricket.Event{
		{Key: "w:1:1", Type: cricket.EventWicket, Text: "first wicket"},
		{Key: "w:1:2", Type: cricket.EventWicket, Text: "second wicket"},
		{Key: "corr:w:1:2", Type: cricket.EventCorrection, Text: "Correction: no second wicket", Owed: true},
		{Key: "inn:1", Type: cricket.EventInningsEnd, Text: "end of innings"},
		{Key: "w:2:1", Type: cricket.EventWicket, Text: "third wicket"},
		{Key: "result", Type: cricket.EventResult, Text: "won", Owed: true},
	}
	for n, e := range script {
		for i := range saturdayMatches {
			e.Text = fmt.Sprintf("%s of match %d", script[n].Text, i)
			r.score(saturdayMatch(i), n+1, "")
			r.announce(saturdayMatch(i), e)
		}
		r.pass(10 * time.Minute)
	}
	r.compareMissing()
	r.compareWords(script)
}

func saturdayMatch(i int) string { return fmt.Sprint(100 + i) }

// populate adds the phones. Most follow one to three matches, two percent all of them.
func (r *saturday) populate(rng *rand.Rand) {
	r.t.Helper()
	for i := range saturdayMatches {
		r.fixture(saturdayMatch(i))
	}
	for i := range saturdayPhones {
		user := fmt.Sprintf("u%d", i)
		p := sandbox.Phone{Name: user, UserID: user, DeviceID: "d-" + user}
		off := false
		n := 1 + rng.IntN(3)
		switch percent := i % 100; {
		case percent < 5:
			p.NeverShows = true
		case percent < 10:
			p.OldToken = true
		case percent < 12:
			p.Killed = true
		case percent < 22:
			off = true
		case percent < 24:
			n = saturdayMatches
		}
		r.without[user] = p.NeverShows || p.Killed
		r.join(p, off, rng.Perm(saturdayMatches)[:n])
	}
}

// join adds a phone whose user follows matches; off: its Live Activities are off.
func (r *saturday) join(p sandbox.Phone, off bool, matches []int) {
	r.t.Helper()
	p, err := r.box.AddPhone(p, r.app)
	if err != nil {
		r.t.Fatal(err)
	}
	d := phone.Device{UserID: p.UserID, DeviceID: p.DeviceID, DeviceToken: p.DeviceToken, PushToStartToken: p.PushToStartToken, Platform: "ios"}
	if off {
		d.PushToStartToken = ""
	}
	r.do(func(tx *store.Tx) error {
		if _, err := (phone.Devices{}).Register(tx, d); err != nil {
			return err
		}
		for _, m := range matches {
			if _, _, err := (phone.Follows{}).Add(tx, saturdayMatch(m), p.UserID, 0); err != nil {
				return err
			}
		}
		return nil
	})
	for _, m := range matches {
		r.follows[p.UserID] = append(r.follows[p.UserID], saturdayMatch(m))
	}
}

// compareMissing compares the counts of missing cards, in the coordinator and in the rows that the Status page counts, with the phones.
func (r *saturday) compareMissing() {
	r.t.Helper()
	want := map[string]int{}
	total := 0
	for user, matches := range r.follows {
		for _, m := range matches {
			if r.without[user] {
				want[m]++
				total++
			}
		}
	}
	r.t.Logf("%d cards are missing", total)
	for i := range saturdayMatches {
		id := saturdayMatch(i)
		v, err := r.coord.View(r.t.Context(), id)
		if err != nil || v.Missing != want[id] {
			r.t.Errorf("match %s: %d cards are missing, want %d, %v", id, v.Missing, want[id], err)
		}
		rows := 0
		r.do(func(tx *store.Tx) error {
			rows = 0
			sessions, err := phone.Activities{}.OfMatch(tx, id)
			for i := range sessions {
				if sessions[i].NoCard == phone.NoCardMissing {
					rows++
				}
			}
			return err
		})
		if rows != want[id] {
			r.t.Errorf("match %s: %d rows say that a card is missing, want %d", id, rows, want[id])
		}
	}
}

// compareWords counts what lit up or was listed on each phone.
func (r *saturday) compareWords(script []cricket.Event) {
	r.t.Helper()
	told := map[string]map[string]int{}
	ways := map[string]int{}
	for _, rec := range r.box.Records(0) {
		if rec.Alert == nil || rec.Event == "start" || rec.Shown != "shown" {
			continue
		}
		if told[rec.Phone] == nil {
			told[rec.Phone] = map[string]int{}
		}
		told[rec.Phone][rec.Alert.Body]++
		ways[rec.Type]++
	}
	r.t.Logf("alerts by way: %v", ways)
	wrong := 0
	for user, matches := range r.follows {
		words := map[string]int{}
		for _, m := range matches {
			for _, e := range script {
				i := 0
				_, _ = fmt.Sscan(m, &i)
				words[fmt.Sprintf("%s of match %d", e.Text, i-100)] = 1
			}
		}
		for text := range words {
			if n := told[user][text]; n != 1 {
				if wrong++; wrong <= 20 {
					r.t.Errorf("%s was told %q %d times", user, text, n)
				}
			}
		}
		for text, n := range told[user] {
			if words[text] == 0 {
				r.t.Errorf("%s was told %q %d times and does not follow", user, text, n)
			}
		}
	}
	if wrong > 0 {
		r.t.Errorf("%d words were not told once", wrong)
	}
	if ways["alert"] == 0 || ways["liveactivity"] == 0 {
		r.t.Errorf("alerts by way: %v", ways)
	}
}
