package cricketapp

import (
	"context"
	"log/slog"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// audience follows a replayed match: simulated phones, and the rows that their apps create in the node's store.
type audience struct {
	store  *store.Store
	phones *sandbox.Sandbox
	match  string
	on     []sandbox.Phone // switched on

	service func() *matches.Service // of the current node, which may be replaced
}

// switchOn connects phones. Their apps report tokens to the node as real ones would.
func (a *audience) switchOn(phones []sandbox.Phone) error {
	for _, p := range phones {
		on, err := a.phones.AddPhone(p, a.tokenChanged)
		if err != nil {
			return err
		}
		a.on = append(a.on, on)
	}
	return nil
}

// tokenChanged is the app's call when its activity gets a token.
func (a *audience) tokenChanged(ctx context.Context, p sandbox.Phone, begun sandbox.Activity) error {
	return a.store.Update(ctx, func(tx *store.Tx) error {
		_, err := phone.Activities{}.Register(tx, begun.MatchID, p.UserID, p.DeviceID, begun.UpdateToken, begun.StartedAt)
		return err
	})
}

// follow registers the devices and makes their users follow the match, once it is known.
func (a *audience) follow(ctx context.Context) (bool, error) {
	err := a.store.Update(ctx, func(tx *store.Tx) error {
		for _, p := range a.on {
			if _, _, err := (phone.Follows{}).Add(tx, a.match, p.UserID, 0); err != nil {
				return err
			}
			device := phone.Device{UserID: p.UserID, DeviceToken: p.DeviceToken, DeviceID: p.DeviceID, Platform: "ios"}
			if _, err := (phone.Devices{}).Register(tx, device); err != nil {
				return err
			}
			if _, err := (phone.Devices{}).SetPushToStart(tx, p.UserID, p.DeviceToken, p.PushToStartToken); err != nil {
				return err
			}
		}
		return nil
	})
	switch fault.KindOf(err) {
	case fault.NotFound:
		return false, nil
	case fault.Conflict: // the match is already over: it cannot be followed any more
		return true, nil
	default:
		return err == nil, err
	}
}

// forget suspends the activities of an earlier run, which are gone with its phones.
func (a *audience) forget(ctx context.Context) error {
	return a.store.Update(ctx, func(tx *store.Tx) error {
		sessions, err := phone.Activities{}.OfMatch(tx, a.match)
		if err != nil {
			return err
		}
		for i := range sessions {
			if sessions[i].Status != phone.SessionActive {
				continue
			}
			if _, err := (phone.Activities{}).Suspend(tx, &sessions[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// attend makes the users follow the match as soon as the node knows it, and returns when the match is over and every phone has been
// notified. It calls look after every change, the last time when the match is over; look may return a time at which to call it again.
func (a *audience) attend(ctx context.Context, c clock.Clock, look func(over bool) (next time.Time, err error)) error {
	changed := clock.NewSignal()
	defer a.store.Watch(changed)()
	for following := false; ; {
		var err error
		if !following {
			if following, err = a.follow(ctx); err != nil {
				return err
			}
		}
		over, err := a.isOver(ctx)
		if err != nil {
			return err
		}
		next, err := look(over)
		switch {
		case err != nil:
			return err
		case over: // after a second nothing is under way any more
			return clock.Sleep(ctx, c, time.Second)
		}
		if again := c.Now().Add(time.Minute); next.IsZero() || again.Before(next) {
			next = again
		}
		if err := c.Wait(ctx, next, changed); err != nil {
			return err
		}
	}
}

// isOver reports whether the match and all its activities have ended.
func (a *audience) isOver(ctx context.Context) (bool, error) {
	st, found, err := a.service().State(ctx, a.match)
	if err != nil || !found || st.Status != cricket.ActiveEnded {
		return false, err
	}
	open := false
	err = a.store.View(ctx, func(tx *store.Tx) error {
		sessions, err := phone.Activities{}.OfMatch(tx, a.match)
		for i := range sessions {
			open = open || sessions[i].Status == phone.SessionActive || sessions[i].UpdateToken != ""
		}
		return err
	})
	return !open, err
}

// toSandbox returns the maker of a client for a push service on this machine.
func toSandbox(service *sandbox.Sandbox, log *slog.Logger) SenderMaker {
	account := service.Account()
	return func(s *store.Store) (push.Sender, error) {
		return apns.New(apns.Config{
			Host: service.URL(), BundleID: account.BundleID, TeamID: account.TeamID, KeyID: account.KeyID,
			Key: account.Key, RootCAs: account.RootCAs, Tokens: push.Bearers(s), Logger: log,
		})
	}
}
