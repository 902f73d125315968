package push

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/touchline/touchline/edge/cricket/payload"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Notice is an administrator's message to users' devices: an ordinary notification, not an activity.
type Notice struct {
	Devices []phone.Device
	Title   string
	Body    string
}

// NoticeReport is the outcome of a notice, in devices.
type NoticeReport struct {
	Devices  int            `json:"devices"`
	Accepted int            `json:"accepted"`
	Dropped  int            `json:"dropped"` // forgotten because Apple called their token dead
	Refused  map[string]int `json:"refused"` // by reason
}

// Bounds of a notice.
const (
	noticeLife    = time.Hour
	noticeWorkers = 64
	noticeText    = 1000 // bytes of title and body together
)

// Notify sends a notice and returns when every device has been tried once. It may be called concurrently with Run.
func (c *Coordinator) Notify(ctx context.Context, n Notice) (NoticeReport, error) {
	out := NoticeReport{Devices: len(n.Devices), Refused: map[string]int{}}
	switch {
	case n.Title == "" || n.Body == "" || len(n.Devices) == 0:
		return out, fault.New(fault.Invalid, "validation", "title, body and devices are required")
	case len(n.Title)+len(n.Body) > noticeText:
		return out, fault.New(fault.Invalid, "validation", "title and body may have at most %d bytes", noticeText)
	}
	results, err := c.notifyAll(ctx, n)
	if err != nil {
		return out, err
	}
	for i := range results {
		switch res := &results[i]; res.Action {
		case apns.Accepted:
			out.Accepted++
		default:
			out.Refused[res.Reason]++
		}
		if results[i].Alarm {
			c.alarm(results[i].Reason, 1)
		}
	}
	out.Dropped, err = c.dropDead(ctx, n.Devices, results)
	return out, err
}

// notifyAll sends a notice to all its devices. As an alert, it is silent in a user's quiet hours and over the device's budget.
func (c *Coordinator) notifyAll(ctx context.Context, n Notice) ([]apns.Result, error) {
	note := payload.Notification{Title: n.Title, Body: n.Body}
	aloud, err := note.Encode()
	note.Silent = true
	silent, other := note.Encode()
	if err = errors.Join(err, other); err != nil {
		return nil, err
	}
	devices := n.Devices
	results := make([]apns.Result, len(devices))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(noticeWorkers, len(devices)) {
		workers.Go(func() {
			for i := range next {
				results[i] = c.notifyOne(ctx, &devices[i], aloud, silent)
			}
		})
	}
	for i := range devices {
		next <- i
	}
	close(next)
	workers.Wait()
	return results, nil
}

// notifyOne sends a notice to a device, in one of two ways.
func (c *Coordinator) notifyOne(ctx context.Context, d *phone.Device, aloud, silent []byte) apns.Result {
	now := c.clock.Now()
	body, quiet := aloud, d.Quiet(now)
	if quiet = quiet || !c.urgent.take(budgetKey(d), now, hourlyOf(d), nil); quiet {
		body = silent
	}
	res, _ := c.deliver(ctx, ordinaryPush(d, body, quiet, now.Add(noticeLife)))
	if res.Action != apns.Accepted && !res.Maybe && !quiet {
		c.urgent.refund(budgetKey(d), now)
	}
	return res
}

// dropDead forgets devices whose tokens Apple called dead, unless they registered again since.
func (c *Coordinator) dropDead(ctx context.Context, devices []phone.Device, results []apns.Result) (n int, err error) {
	err = c.store.Update(ctx, func(tx *store.Tx) error {
		n = 0
		for i := range devices {
			if results[i].Action != apns.Gone {
				continue
			}
			if err := dropsDevice(&devices[i], &results[i])(tx); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}
