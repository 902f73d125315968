package web

import (
	"strings"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/presence"
)

// scorer returns who sends a request, and what the device says of its entries. People are named by the part of their address before the @.
func (r *request) scorer() (presence.Who, presence.Report) {
	name, _, _ := strings.Cut(r.User, "@")
	waiting, known := httpapi.Waiting(r.Context)
	return presence.Who{User: r.User, Name: name, Device: httpapi.Device(r.Context)}, presence.Report{Known: known, Waiting: waiting}
}

// noteScoring notes that a device has made an entry for the request's game.
func (r *request) noteScoring() {
	if r.of.Kind != "game" {
		return
	}
	who, report := r.scorer()
	r.api.Scorers.Hear(r.of.ID, who, report, true)
	if strings.HasSuffix(r.FullPath(), "/games/:game/finish") {
		r.api.Scorers.Finish(r.of.ID, who)
	}
}

// hear notes that a device has the scorer's page of the request's game open.
func (r *request) hear() {
	who, report := r.scorer()
	r.api.Scorers.Hear(r.of.ID, who, report, false)
}

// scorers returns what a page says about the devices that score its game.
func (r *request) scorers(over bool) presence.View {
	who, _ := r.scorer()
	return r.api.Scorers.ViewOf(r.of.ID, who, over)
}

// postScorers hands the scoring over, takes it over, or shares it again; the scorer who finished a game says to have seen what came later.
func postScorers(r *request) (work, error) {
	b := r.Body()
	do, to := b.OneOf("do", "give", "take", "share", "seen"), b.Text("to", 64)
	if err := b.Err(); err != nil {
		return nil, err
	}
	who, _ := r.scorer()
	if err := r.api.Scorers.Do(r.of.ID, who, do, to); err != nil {
		return nil, err
	}
	return nil, httpapi.NoContent(r.Context)
}
