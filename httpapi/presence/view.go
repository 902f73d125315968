package presence

import (
	"cmp"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// View is what the scorer's page of one device says about the others.
type View struct {
	Began  time.Time // the memory begins: of what was before, nothing is known
	Me     string    // key of the reader's device
	Others []Scorer  // the other devices, those that are here first

	Holder *Scorer   // the device that has taken over; nil: everybody scores who may
	Giver  *Scorer   // the device that handed it over; nil: it was taken
	Handed time.Time // when

	Final *Final // nil: the game goes on, or ended before the memory began
}

// Mine reports whether the reader's device has taken the scoring over.
func (v View) Mine() bool { return v.Holder != nil && v.Holder.Key() == v.Me }

// Away reports whether another device has taken the scoring over.
func (v View) Away() bool { return v.Holder != nil && v.Holder.Key() != v.Me }

// Final is what is known of the end of a game.
type Final struct {
	At      time.Time
	By      *Scorer  // nil: it was finished at another node
	ByMe    bool     // by the reader's device
	Scorers []Scorer // that had scored, as they were heard until then
	Late    int      // entries that came afterwards
	LateAt  time.Time
	News    bool // whoever finished has not said to know of all of them
}

// ViewOf returns what a device's page says about a game. over says whether the game has ended; one that goes on again forgets its end.
func (b *Board) ViewOf(id string, w Who, over bool) View {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := View{Began: clock.WallAt(b.clock, b.begun), Me: w.Key()}
	g := b.games[id]
	if g == nil {
		return v
	}
	now := b.clock.Now()
	for key, d := range g.devices {
		if now.Sub(d.heard) >= KeptFor {
			delete(g.devices, key)
		} else if key != v.Me {
			v.Others = append(v.Others, *b.scorerOf(d))
		}
	}
	slices.SortFunc(v.Others, func(x, y Scorer) int {
		return cmp.Or(compareBool(y.Here, x.Here), y.Heard.Compare(x.Heard), cmp.Compare(x.Key(), y.Key()))
	})
	if d := g.devices[g.holder]; d != nil {
		v.Holder, v.Handed = b.scorerOf(d), clock.WallAt(b.clock, g.handed)
		if from := g.devices[g.giver]; from != nil {
			v.Giver = b.scorerOf(from)
		}
	}
	if !over {
		g.final = nil
	}
	if g.final != nil {
		v.Final = b.finalOf(g, v.Me)
	}
	return v
}

func (b *Board) finalOf(g *game, me string) *Final {
	f := g.final
	out := &Final{At: clock.WallAt(b.clock, f.at), ByMe: f.by == me, Late: f.late, LateAt: clock.WallAt(b.clock, f.lateAt), News: f.late > f.seen}
	if by := g.devices[f.by]; by != nil {
		out.By = b.scorerOf(by)
	}
	for i := range f.scorers {
		out.Scorers = append(out.Scorers, *b.scorerOf(&f.scorers[i]))
	}
	return out
}

func (b *Board) scorerOf(d *device) *Scorer {
	return &Scorer{
		Who: d.Who, Report: d.Report, Since: clock.WallAt(b.clock, d.since), Heard: clock.WallAt(b.clock, d.heard),
		Here: b.clock.Now().Sub(d.heard) < HereFor, Scored: d.scored,
	}
}

func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}
