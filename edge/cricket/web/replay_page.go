package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/web/page"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
)

func (h *handlers) replayPage(r *httpapi.Request) (httpapi.Response, error) {
	return h.showReplays(r, http.StatusOK, "")
}

func (h *handlers) showReplays(r *httpapi.Request, status int, problem string) (httpapi.Response, error) {
	view, err := h.pages.Replays(page.ReplayInput{
		Recordings: h.Replay.Recordings(), Query: r.URL.Query().Get("q"), Playing: h.Replay.List(), Problem: problem,
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.ReplyBarePage(status, view)
}

// startByForm starts a recording from a form with tapeId, speed and faults.
func (h *handlers) startByForm(r *httpapi.Request) (httpapi.Response, error) {
	f := form{r: r}
	if err := f.parse(); err != nil {
		return httpapi.Response{}, err
	}
	start := replay.StartReplay{RecordingID: r.PostFormValue("tapeId"), Speed: f.number("speed", maxSpeed, 1), Faults: f.seed()}
	err := f.err
	if err == nil {
		_, err = h.Replay.Start(start)
	}
	return h.afterForm(r, err)
}

// controlByForm controls a replay from a form with action, and position, speed or faults; remove is also an action.
func (h *handlers) controlByForm(r *httpapi.Request) (httpapi.Response, error) {
	f := form{r: r}
	if err := f.parse(); err != nil {
		return httpapi.Response{}, err
	}
	control := replay.Control{
		Action: r.PostFormValue("action"), Position: int(f.number("position", maxPosition, 0)), Speed: f.number("speed", maxSpeed, 0), Faults: f.seed(),
	}
	err := f.err
	switch {
	case err != nil:
	case control.Action == "remove":
		err = h.Replay.Remove(r.Param("id"))
	default:
		_, err = h.Replay.Control(r.Param("id"), control)
	}
	return h.afterForm(r, err)
}

// afterForm shows the page again, with the error of the form's action, if it has one that people can read.
func (h *handlers) afterForm(r *httpapi.Request, err error) (httpapi.Response, error) {
	if told, ok := errors.AsType[*fault.Error](err); ok {
		f := httpapi.FailureOf(told)
		r.LogError(err)
		return h.showReplays(r, f.Status, f.Message)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.ReplySeeOther(h.pages.At("/replay"))
}

// form reads numbers of a form; err is the first error.
type form struct {
	r   *httpapi.Request
	err error
}

func (f *form) parse() error {
	if err := f.r.ParseForm(); err != nil {
		return fault.Wrap(err, fault.Invalid, "bad_body", "The form cannot be read.")
	}
	return nil
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
