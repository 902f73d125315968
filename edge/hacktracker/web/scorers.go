package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/presence"
)

// scorerOf returns who sends a request, and what the device says of its entries.
func scorerOf(c *gin.Context, name string) (presence.Who, presence.Report) {
	user, _ := httpapi.Subject(c)
	waiting, known := httpapi.Waiting(c)
	return presence.Who{User: user, Name: name, Device: httpapi.Device(c)}, presence.Report{Known: known, Waiting: waiting}
}

// scores has the board of scorers hear of an entry that a route has accepted.
func (a *api) scores(rt httpapi.Route) httpapi.Route {
	do := rt.Do
	rt.Do = func(c *gin.Context) error {
		err := do(c)
		if _, handed := httpapi.Handed(c); err == nil && !handed && c.Writer.Status() < http.StatusBadRequest {
			who, report := scorerOf(c, "")
			a.Scorers.Hear(c.Param("game"), who, report, true)
		}
		return err
	}
	return rt
}

// hear notes that a device has the scorer's page of a game open.
func (a *api) hear(b *hacktracker.Book, r *call, game string) {
	who, report := scorerOf(r.Context, b.User(r.User).FirstName)
	if b.Err() == nil {
		a.Scorers.Hear(game, who, report, false)
	}
}

// scorersPart is the data of the kit's templates about scorers.
type scorersPart struct {
	To   string // address of the forms
	View presence.View
}

// scorers returns what a page says about the devices that score its game.
func (a *api) scorers(r *call, g *hacktracker.Game) scorersPart {
	who, _ := scorerOf(r.Context, "")
	return scorersPart{a.look.At("/games/" + g.ID + "/scorers"), a.Scorers.ViewOf(g.ID, who, g.Status == hacktracker.Final)}
}

// postScorers hands the scoring over, takes it over, or shares it again; the scorer who finished a game says to have seen what came later.
func (a *api) postScorers(r *call) (httpapi.Work, error) {
	do, to := r.Body().OneOf("do", "give", "take", "share", "seen"), r.Body().Text("to", 64)
	if err := r.Body().Err(); err != nil {
		return nil, err
	}
	may, err := httpapi.Read(r.Context, inTransaction(a, r, func(b *hacktracker.Book, r *call) bool { return b.MayScore(r.Param("game")) }))
	if err != nil {
		return nil, err
	}
	if !may {
		return nil, mayNotScore()
	}
	who, _ := scorerOf(r.Context, "")
	if err := a.Scorers.Do(r.Param("game"), who, do, to); err != nil {
		return nil, err
	}
	return nil, httpapi.NoContent(r.Context)
}
