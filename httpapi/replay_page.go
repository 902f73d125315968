package httpapi

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
)

func (s *Server) getReplayPage(c *gin.Context) error {
	deck, err := s.deck()
	if err != nil {
		return err
	}
	return s.replayPage(c, deck, http.StatusOK, "")
}

func (s *Server) replayPage(c *gin.Context, deck ReplayDeck, status int, problem string) error {
	who, _ := identityOf(c)
	body, err := s.pages.Replays(page.ReplayInput{Tapes: deck.Tapes(), Query: c.Query("q"), Playing: deck.List(), Problem: problem, Nav: s.navFor(who)})
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	c.Data(status, htmlType, body)
	return nil
}

// postReplayForm starts a tape: a form with tapeId, speed and faults.
func (s *Server) postReplayForm(c *gin.Context) error {
	return s.replayForm(c, func(deck ReplayDeck, f *form) error {
		ask := StartReplay{TapeID: f.r.PostFormValue("tapeId"), Speed: f.number("speed", 1), Faults: f.seed()}
		if f.err != nil {
			return f.err
		}
		_, err := deck.Start(ask)
		return err
	})
}

// postReplayControlForm changes a replay: a form with action, and position, speed or faults; remove is an action too.
func (s *Server) postReplayControlForm(c *gin.Context) error {
	return s.replayForm(c, func(deck ReplayDeck, f *form) error {
		ask := ReplayControl{
			Action: f.r.PostFormValue("action"), Position: int(f.number("position", 0)), Speed: f.number("speed", 0), Faults: f.seed(),
		}
		switch {
		case f.err != nil:
			return f.err
		case ask.Action == "remove":
			return deck.Remove(c.Param("id"))
		}
		_, err := deck.Control(c.Param("id"), ask)
		return err
	})
}

// replayForm does what a form of the page asks for and shows the page again, with what was wrong. Only our own page may
// send it.
func (s *Server) replayForm(c *gin.Context, do func(deck ReplayDeck, f *form) error) error {
	if err := s.ownPage(c.Request); err != nil {
		return err
	}
	deck, err := s.deck()
	if err != nil {
		return err
	}
	if err := c.Request.ParseForm(); err != nil {
		return fault.Wrap(err, fault.Invalid, "bad_body", "The form cannot be read.")
	}
	err = do(deck, &form{r: c.Request})
	if told, ok := errors.AsType[*fault.Error](err); ok {
		f := failureOf(told)
		_ = c.Error(err)
		return s.replayPage(c, deck, f.status, f.message)
	}
	if err != nil {
		return err
	}
	c.Redirect(http.StatusSeeOther, s.address(atPage, "/replay"))
	return nil
}

// form reads the numbers of a form; err is the first thing that was wrong.
type form struct {
	r   *http.Request
	err error
}

func (f *form) number(name string, usual float64) float64 {
	text := f.r.PostFormValue(name)
	if text == "" {
		return usual
	}
	v, err := strconv.ParseFloat(text, 64)
	if most := map[string]float64{"speed": maxSpeed, "position": maxPosition, "faults": 1<<31 - 1}[name]; err != nil || !(v >= 0 && v <= most) {
		if f.err == nil {
			f.err = fault.New(fault.Invalid, "validation", "%s must be a number from 0 to %v.", name, most)
		}
		return usual
	}
	return v
}

func (f *form) seed() uint64 { return uint64(f.number("faults", 0)) }
