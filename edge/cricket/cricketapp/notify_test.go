package cricketapp

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/cricket/web"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// pushes is a coordinator that records its notices. Notify waits for may.
type pushes struct {
	texts  []push.Notice
	may    chan struct{}
	paused time.Time
}

func (p *pushes) Notify(_ context.Context, n push.Notice) (push.NoticeReport, error) {
	<-p.may
	p.texts = append(p.texts, n)
	return push.NoticeReport{Devices: 3, Accepted: 2, Refused: map[string]int{"BadDeviceToken": 1}}, nil
}

func (p *pushes) Status() push.Status { return push.Status{Paused: p.paused} }

func TestNotifier(t *testing.T) {
	s := storetest.Open(t, tables.All()...)
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Put(store.PutItem{Table: tables.Fixtures, Item: attr.Item{"matchId": attr.S("7")}}); err != nil {
			return err
		}
		for _, d := range []phone.Device{{UserID: "ada", DeviceID: "a1"}, {UserID: "ada", DeviceID: "a2"}, {UserID: "bob", DeviceID: "b1"}, {UserID: "cyd", DeviceID: "c1"}} {
			d.Platform, d.DeviceToken = "ios", strings.Repeat(d.DeviceID, 32)
			if _, err := (phone.Devices{Multi: true}).Register(tx, d); err != nil {
				return err
			}
		}
		for _, user := range []string{"ada", "bob", "eve"} { // eve has no device
			if _, _, err := (phone.Follows{}).Add(tx, "7", user, 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	p := &pushes{may: make(chan struct{})}
	n := &notifier{push: p, store: s, work: t.Context(), log: slog.New(slog.NewTextHandler(&log, nil))}
	ask := func(want int, users ...string) {
		t.Helper()
		got, err := n.Notify(t.Context(), web.Notice{MatchID: "7", UserIDs: users, Title: "Rain", Body: "Covers are on."})
		if got != want || err != nil {
			t.Fatalf("%v: %d phones, %v, want %d", users, got, err, want)
		}
	}
	ask(3)
	if _, err := n.Notify(t.Context(), web.Notice{MatchID: "7", Title: "a", Body: "b"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second text meanwhile: %v", err)
	}
	close(p.may)
	n.wait()
	ask(3, "cyd", "ada", "ada")
	n.wait()
	ask(0, "eve") // nothing is sent
	ask(1, "bob")
	n.wait()
	want := [][]string{{"a1", "a2", "b1"}, {"a1", "a2", "c1"}, {"b1"}}
	var got [][]string
	for _, text := range p.texts {
		var devices []string
		for i := range text.Devices {
			devices = append(devices, text.Devices[i].DeviceID)
		}
		got = append(got, devices)
		if text.Title != "Rain" || text.Body != "Covers are on." {
			t.Errorf("the text: %+v", text)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(log.String(), "accepted=2") || strings.Contains(log.String(), "Covers") {
		t.Errorf("the log: %s", &log)
	}
	p.paused = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	_, err = n.Notify(t.Context(), web.Notice{MatchID: "7", Title: "Rain", Body: "Rain"})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "2026-06-01T12:00:00Z") {
		t.Errorf("while pushing is paused: %v", err)
	}
}
