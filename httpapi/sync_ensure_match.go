package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// ensureAgain is how often an open stream says that it still reads the events of its match: often enough that the node
// does not stop reading them.
const ensureAgain = time.Minute

// ensureEvents has the events of a match here that another node has written, if there is such a match and the cloud has
// them within ensureWithin. Else the reader sees what is here: the match may be missing, which the route says itself.
func (s *Server) ensureEvents(ctx context.Context, match string) error {
	if s.cfg.Ensure == nil || match == "" {
		return nil
	}
	if _, err := s.cfg.Cricket.Match(ctx, match); err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil // what anybody thinks up is not looked for in the cloud
		}
		return err
	}
	inner, cancel := context.WithTimeout(ctx, ensureWithin)
	defer cancel()
	err := s.cfg.Ensure(inner, cricket.TableEvents, attr.Item{"matchId": attr.S(match)})
	if ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || fault.Is(err, fault.Invalid)) {
		return nil
	}
	return err
}

// eventsWatch keeps the events of the match of an open stream coming.
type eventsWatch struct {
	s     *Server
	match string
	again time.Time
}

// look is called as often as the stream has a turn. A nil watch keeps nothing.
func (w *eventsWatch) look(ctx context.Context) error {
	if w == nil {
		return nil
	}
	if now := w.s.wall.Now(); !now.Before(w.again) {
		w.again = now.Add(ensureAgain)
		return w.s.ensureEvents(ctx, w.match)
	}
	return nil
}
