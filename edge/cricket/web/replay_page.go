package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/web/page"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
)

func (a *api) getReplayPage(c *gin.Context, set ReplaySet) error {
	return a.replayPage(c, set, http.StatusOK, "")
}

func (a *api) replayPage(c *gin.Context, set ReplaySet, status int, problem string) error {
	view, err := a.pages.Replays(page.ReplayInput{Recordings: set.Recordings(), Query: c.Query("q"), Playing: set.List(), Problem: problem})
	if err != nil {
		return err
	}
	return httpapi.BarePage(c, status, view)
}

// startByForm starts a recording from a form with tapeId, speed and faults.
func startByForm(c *gin.Context, set ReplaySet) error {
	f := form{r: c.Request}
	ask := replay.StartReplay{RecordingID: f.r.PostFormValue("tapeId"), Speed: f.number("speed", maxSpeed, 1), Faults: f.seed()}
	if f.err != nil {
		return f.err
	}
	_, err := set.Start(ask)
	return err
}

// controlByForm controls a replay from a form with action, and position, speed or faults; remove is also an action.
func controlByForm(c *gin.Context, set ReplaySet) error {
	f := form{r: c.Request}
	ask := replay.Control{
		Action: f.r.PostFormValue("action"), Position: int(f.number("position", maxPosition, 0)), Speed: f.number("speed", maxSpeed, 0), Faults: f.seed(),
	}
	switch {
	case f.err != nil:
		return f.err
	case ask.Action == "remove":
		return set.Remove(c.Param("id"))
	}
	_, err := set.Control(c.Param("id"), ask)
	return err
}

// replayForm runs a form's action and shows the page again, with any error. Only our own page may send it.
func (a *api) replayForm(do func(c *gin.Context, set ReplaySet) error) httpapi.Handler {
	shown := a.withReplays(func(c *gin.Context, set ReplaySet) error {
		if err := c.Request.ParseForm(); err != nil {
			return fault.Wrap(err, fault.Invalid, "bad_body", "The form cannot be read.")
		}
		err := do(c, set)
		if told, ok := errors.AsType[*fault.Error](err); ok {
			f := httpapi.FailureOf(told)
			_ = c.Error(err)
			return a.replayPage(c, set, f.Status, f.Message)
		}
		if err != nil {
			return err
		}
		c.Redirect(http.StatusSeeOther, a.pages.At("/replay"))
		return nil
	})
	return func(c *gin.Context) error {
		if err := httpapi.OwnPage(c); err != nil {
			return err
		}
		return shown(c)
	}
}

// form reads numbers of a form; err is the first error.
type form struct {
	r   *http.Request
	err error
}

func (f *form) number(name string, most, usual float64) float64 {
	text := f.r.PostFormValue(name)
	if text == "" {
		return usual
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= most) {
		if f.err == nil {
			f.err = fault.New(fault.Invalid, "validation", "%s must be a number from 0 to %v.", name, most)
		}
		return usual
	}
	return v
}

func (f *form) seed() uint64 { return uint64(f.number("faults", maxSeed, 0)) }
