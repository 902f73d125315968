package cricketapp

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/web"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// pusher is the part of the coordinator that a notifier needs; push.Coordinator implements it.
type pusher interface {
	Notify(ctx context.Context, n push.Notice) (push.NoticeReport, error)
	Status() push.Status
}

// notifier sends the pushes of admins: a text as an ordinary alert to users' devices.
type notifier struct {
	push  pusher
	store *store.Store
	work  context.Context //nolint:containedctx // the life of the node's work: a notice outlives its request
	log   *slog.Logger

	busy  atomic.Bool
	going sync.WaitGroup
}

// Notify implements web.Notifier. Only one text is being sent at a time.
func (n *notifier) Notify(ctx context.Context, ask web.Notice) (phones int, err error) {
	if paused := n.push.Status().Paused; !paused.IsZero() {
		return 0, fault.New(fault.Unavailable, "push_paused", "Nothing is pushed until %s: Apple rejects this node's settings. The operator's page says why.",
			paused.UTC().Format(time.RFC3339))
	}
	if !n.busy.CompareAndSwap(false, true) {
		return 0, fault.New(fault.Conflict, "notice_under_way", "Another message is still being sent: try again when it has arrived.")
	}
	devices, err := n.devicesToNotify(ctx, &ask)
	if err != nil || len(devices) == 0 {
		n.busy.Store(false)
		return 0, err
	}
	n.going.Go(func() {
		defer n.busy.Store(false)
		report, err := n.push.Notify(n.work, push.Notice{Devices: devices, Title: ask.Title, Body: ask.Body})
		n.log.Info("an admin's notification was pushed", "match", ask.MatchID, "devices", report.Devices, "accepted", report.Accepted,
			"refused", report.Refused, "dropped", report.Dropped, "err", err)
	})
	return len(devices), nil
}

// devicesToNotify returns the devices to notify.
func (n *notifier) devicesToNotify(ctx context.Context, ask *web.Notice) (devices []phone.Device, err error) {
	err = n.store.View(ctx, func(tx *store.Tx) error {
		users := slices.Clone(ask.UserIDs)
		devices = nil
		if users == nil {
			follows, err := phone.Follows{}.OfMatch(tx, ask.MatchID)
			if err != nil {
				return err
			}
			for i := range follows {
				users = append(users, follows[i].UserID)
			}
		}
		slices.Sort(users)
		users = slices.Compact(users)
		for _, user := range users {
			of, err := phone.Devices{}.OfUser(tx, user)
			if err != nil {
				return err
			}
			devices = append(devices, of...)
		}
		return nil
	})
	return devices, err
}

// wait returns when no notice is being sent. The work has ended by then, or it takes as long as Apple does.
func (n *notifier) wait() {
	if n != nil {
		n.going.Wait()
	}
}
