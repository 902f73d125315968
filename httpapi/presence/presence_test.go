package presence_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/httpapi/presence"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

const game = "g"

func who(name string) presence.Who {
	return presence.Who{User: name + "@example.org", Name: name, Device: "d-" + name}
}

func waiting(n int) presence.Report { return presence.Report{Known: true, Waiting: n} }

// A device is here while it is heard, is remembered for a day with what it had waiting, and is forgotten then.
func TestDevicesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := presence.NewBoard(clock.Real())
		begun := time.Now()
		b.Hear(game, who("ben"), waiting(4), true)
		pass(t, 10*time.Second)
		b.Hear(game, who("ben"), presence.Report{}, false) // says nothing: what it said stays
		others := func(reader string) []presence.Scorer { return b.ViewOf(game, who(reader), false).Others }
		ben := others("ann")
		if len(ben) != 1 || !ben[0].Here || !ben[0].Scored || ben[0].Waiting != 4 || !ben[0].Since.Equal(begun) || ben[0].Heard.Sub(begun) != 10*time.Second {
			t.Fatalf("%+v", ben)
		}
		if own := others("ben"); len(own) != 0 {
			t.Errorf("a device is among the others of its own page: %+v", own)
		}
		pass(t, presence.HereFor)
		if ben := others("ann"); len(ben) != 1 || ben[0].Here || ben[0].Waiting != 4 {
			t.Errorf("silent for %v: %+v", presence.HereFor, ben)
		}
		pass(t, presence.KeptFor-presence.HereFor-time.Nanosecond)
		if len(others("ann")) != 1 {
			t.Error("forgotten within the day")
		}
		pass(t, time.Nanosecond)
		if left := others("ann"); len(left) != 0 {
			t.Errorf("remembered after %v: %+v", presence.KeptFor, left)
		}
	})
}

// The memory is bounded: of too many devices the one that has been silent for longest goes, those that scored last; the same with games.
func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := presence.NewBoard(clock.Real())
		b.Hear(game, who("scorer"), waiting(1), true)
		for i := range 3 * presence.MaxDevices {
			pass(t, time.Second)
			b.Hear(game, who(fmt.Sprint(i)), waiting(0), false)
		}
		others := b.ViewOf(game, who("reader"), false).Others
		kept := map[string]bool{}
		for _, o := range others {
			kept[o.Name] = true
		}
		if len(others) != presence.MaxDevices || !kept["scorer"] || !kept[fmt.Sprint(3*presence.MaxDevices-1)] || kept["0"] {
			t.Errorf("%d devices: %v", len(others), kept)
		}
		for i := range 2 * presence.MaxGames {
			pass(t, time.Millisecond)
			b.Hear(fmt.Sprint("game ", i), who("ann"), waiting(0), true)
		}
		known := 0
		for i := range 2 * presence.MaxGames {
			known += len(b.ViewOf(fmt.Sprint("game ", i), who("ben"), false).Others)
		}
		if known != presence.MaxGames || len(b.ViewOf(game, who("reader"), false).Others) != 0 {
			t.Errorf("%d games are remembered", known)
		}
	})
}

// The scoring is handed over and back with one call each, taken over from whoever has it, and shared again.
func TestHandOverAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := presence.NewBoard(clock.Real())
		ann, ben := who("ann"), who("ben")
		b.Hear(game, ann, waiting(0), true)
		if err := b.HandOver(game, ann, ben.Key()); !fault.Is(err, fault.NotFound) {
			t.Errorf("handed over to a device that nobody has heard of: %v", err)
		}
		b.Hear(game, ben, waiting(0), false)
		see := func(step string, annAway, benAway bool, giver string) {
			t.Helper()
			a, o := b.ViewOf(game, ann, false), b.ViewOf(game, ben, false)
			if a.Away() != annAway || o.Away() != benAway || annAway && !o.Mine() || benAway && !a.Mine() {
				t.Errorf("%s: ann away %t, ben away %t", step, a.Away(), o.Away())
			}
			if (a.Giver == nil) != (giver == "") || a.Giver != nil && a.Giver.Name != giver {
				t.Errorf("%s: given by %+v, want %q", step, a.Giver, giver)
			}
		}
		see("at first", false, false, "")
		for _, step := range []struct {
			name             string
			do               func() error
			annAway, benAway bool
			giver            string
		}{
			{"handed over", func() error { return b.Do(game, ann, "give", ben.Key()) }, true, false, "ann"},
			{"handed back", func() error { return b.Do(game, ben, "give", ann.Key()) }, false, true, "ben"},
			{"taken over", func() error { return b.Do(game, ben, "take", "") }, true, false, ""},
			{"shared again", func() error { return b.Do(game, ann, "share", "") }, false, false, ""},
		} {
			if err := step.do(); err != nil {
				t.Fatal(step.name, err)
			}
			see(step.name, step.annAway, step.benAway, step.giver)
		}
	})
}

// pass lets virtual time pass.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	if err := clock.Sleep(t.Context(), clock.Real(), d); err != nil {
		t.Fatal(err)
	}
}
