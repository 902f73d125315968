package web

import (
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/presence"
)

// scorerOf returns who sends a request, and what the device says of its entries. People are named by the part of their address before the @.
func scorerOf(r *httpapi.Request) (presence.Who, presence.Report) {
	waiting, known := r.Waiting()
	return presence.Who{User: r.User, Name: personName(r.User), Device: r.Device()}, presence.Report{Known: known, Waiting: waiting}
}

// noteScoring notes that a device has made an entry for the request's game.
func (h *handlers) noteScoring(r *httpapi.Request) {
	of := admitted(r).of
	if of.Kind != "game" {
		return
	}
	who, report := scorerOf(r)
	h.Scorers.Hear(of.ID, who, report, true)
	if r.Route.Path == pathFinish {
		h.Scorers.Finish(of.ID, who)
	}
}

// shareScoring hands the scoring over, takes it over, or shares it again; the scorer who finished a game says to have seen what came later.
func (h *handlers) shareScoring(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	do, to := b.OneOf("do", "give", "take", "share", "seen"), b.Text("to", 64)
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	who, _ := scorerOf(r)
	return httpapi.Response{}, h.Scorers.Do(r.Param("game"), who, do, to)
}
