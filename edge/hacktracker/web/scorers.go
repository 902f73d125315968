package web

import (
	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/presence"
	"github.com/touchline/touchline/store"
)

// scorerOf returns who sends a request.
func scorerOf(r *httpapi.Request, name string) presence.Who {
	return presence.Who{User: r.User, Name: name, Device: r.Device()}
}

// reportOf returns what the device says of its entries.
func reportOf(r *httpapi.Request) presence.Report {
	waiting, known := r.Waiting()
	return presence.Report{Known: known, Waiting: waiting}
}

// noteEntry has the board of scorers hear of an entry that a route has accepted from the device that made it.
func (h *handlers) noteEntry(r *httpapi.Request) {
	if _, handed := r.Handed(); !handed {
		h.devices.Hear(r.Param("game"), scorerOf(r, ""), reportOf(r), true)
	}
}

// notePage notes that a device has the scorer's page of a game open.
func (h *handlers) notePage(b *hacktracker.Book, r *httpapi.Request) {
	who := scorerOf(r, b.User(r.User).FirstName)
	if b.Err() == nil {
		h.devices.Hear(r.Param("game"), who, reportOf(r), false)
	}
}

// scorersPart is the data of the kit's templates about scorers.
type scorersPart struct {
	To   string // address of the forms
	View presence.View
}

// scorers returns what a page says about the devices that score its game.
func (h *handlers) scorers(r *httpapi.Request, g *hacktracker.Game) scorersPart {
	view := h.devices.ViewOf(g.ID, scorerOf(r, ""), g.Status == hacktracker.Final)
	return scorersPart{h.look.At("/games/" + g.ID + "/scorers"), view}
}

// handScoringOver hands the scoring over, takes it over, or shares it again; the scorer who finished a game says to have seen what came later.
func (h *handlers) handScoringOver(r *httpapi.Request) (httpapi.Response, error) {
	do, to := r.Body().OneOf("do", "give", "take", "share", "seen"), r.Body().Text("to", 64)
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	err := r.View(func(tx *store.Tx) error {
		b := h.open(tx, r)
		b.Refuse(!b.MayScore(r.Param("game")), mayNotScore())
		return b.Err()
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Response{}, h.devices.Do(r.Param("game"), scorerOf(r, ""), do, to)
}
