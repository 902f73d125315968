package push

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
)

// newWithChannels returns a rig that uses channels, with a phone of each given system. All phones follow match 7.
func newWithChannels(t *testing.T, systems ...string) *withPhones {
	t.Helper()
	r := newWithPhones(t, 0)
	r.channels = r.client
	for i, system := range systems {
		user := fmt.Sprintf("u%d", i)
		ph, err := r.box.AddPhone(sandbox.Phone{Name: user, UserID: user, DeviceID: "d-" + user, System: system}, r.app)
		if err != nil {
			t.Fatal(err)
		}
		r.phones = append(r.phones, ph)
	}
	r.fixture("7")
	r.live("7")
	r.score("7", 1, "")
	r.followAll("7")
	return r
}

// broadcasts counts the pushes to channels and to devices since a record.
func (r *withPhones) broadcasts(after uint64) (channel, device int, last uint64) {
	last = after
	for _, rec := range r.box.Records(after) {
		last = rec.Seq
		if rec.Channel != "" {
			channel++
		} else {
			device++
		}
	}
	return channel, device, last
}

// TestChannelLife follows a match on a channel: one push per state for all phones that can listen, the old phone
// by its token, an end for all of them, and then the deletion of the channel.
func TestChannelLife(t *testing.T) {
	r := newWithChannels(t, "18.1", "26.0", "18.0", "17.5")
	r.run(r.client)
	r.pass(3 * time.Second)
	r.shows("after the start", 1, false)
	views := r.box.Channels()
	if len(views) != 1 || views[0].Listeners != 3 {
		t.Fatalf("channels %+v", views)
	}
	if s := r.session("7", "u0"); s.Status != phone.SessionActive || s.ChannelID != views[0].ID || s.UpdateToken != "" {
		t.Errorf("listener %+v", s)
	}
	if s := r.session("7", "u3"); s.Status != phone.SessionActive || s.ChannelID != "" || s.UpdateToken == "" {
		t.Errorf("old phone %+v", s)
	}
	_, _, seen := r.broadcasts(0)
	for i := range 10 {
		text := ""
		if i%4 == 0 {
			text = fmt.Sprintf("wicket %d", i)
		}
		r.score("7", 2+i, text)
		r.pass(30 * time.Second)
	}
	r.shows("in play", 11, false)
	channel, device, seen := r.broadcasts(seen)
	if channel != 10 || device != 10 {
		t.Errorf("%d broadcasts and %d pushes to the old phone for ten states", channel, device)
	}
	for _, v := range r.box.Phones() {
		alerts := 0
		for _, a := range v.Alerts {
			if a.Title == "Wicket" {
				alerts++
			}
		}
		if alerts != 3 || v.Ignored != 0 {
			t.Errorf("%s: %d alerts, %d ignored: %s", v.Name, alerts, v.Ignored, v.IgnoredWhy)
		}
	}
	r.active("7", cricket.ActiveLive, cricket.PhaseCompleted, r.clk.Now())
	r.score("7", 42, "NZ win")
	r.pass(16 * time.Minute)
	r.shows("after the end", 42, true)
	if s := r.session("7", "u0"); s.Status != phone.SessionEnded || s.EndReason != phone.EndMatchEnded {
		t.Errorf("listener at the end %+v", s)
	}
	r.active("7", cricket.ActiveEnded, cricket.PhaseCompleted, r.clk.Now())
	r.pass(channelStays)
	if n := len(r.box.Channels()); n != 0 {
		t.Errorf("%d channels left", n)
	}
	if channel, device, _ := r.broadcasts(seen); channel != 2 || device != 2 {
		t.Errorf("%d broadcasts and %d pushes for result and end", channel, device)
	}
	if counts := r.box.Counts(); len(counts) != 1 {
		t.Errorf("answers %v", counts)
	}
}

// TestChannelOverDays ends the activities at stumps, starts them in the morning, and renews them before eight hours.
func TestChannelOverDays(t *testing.T) {
	r := newWithChannels(t, "18.1", "18.2")
	r.run(r.client)
	runs := 1
	for range 2 {
		r.live("7")
		for range 8*12 + 3 {
			runs++
			r.score("7", runs, "")
			r.pass(5*time.Minute + time.Second)
		}
		r.shows("in the evening", runs, false)
		r.active("7", cricket.ActiveLive, cricket.PhaseStumps, time.Time{})
		r.pass(restAfter + 5*time.Second)
		r.shows("at stumps", runs, true)
		r.pass(15 * time.Hour)
	}
	if counts := r.box.Counts(); len(counts) != 1 || len(r.box.Channels()) != 1 {
		t.Errorf("answers %v, channels %v", counts, r.box.Channels())
	}
}

// TestChannelLost deletes a match's channel behind the coordinator's back: the activities are started again on another
// channel. The old card, which can no longer be ended, becomes stale.
func TestChannelLost(t *testing.T) {
	r := newWithChannels(t, "18.1", "18.2")
	r.run(r.client)
	r.pass(3 * time.Second)
	lost := r.box.Channels()[0].ID
	if res := r.client.DeleteChannel(t.Context(), lost); res.Action != apns.Accepted {
		t.Fatalf("%+v", res)
	}
	r.score("7", 2, "")
	r.pass(5 * time.Second)
	r.showsOn(2, "by tokens", 2, false)
	r.score("7", 3, "")
	r.pass(staleAfter)
	r.score("7", 4, "")
	r.pass(2 * time.Second)
	r.showsOn(2, "after that", 4, false)
	for _, v := range r.box.Phones() {
		if v.Activities[0].Stale || !v.Activities[1].Stale {
			t.Errorf("%s: the old card is not the stale one", v.Name)
		}
	}
	if views := r.box.Channels(); len(views) != 1 || views[0].ID == lost {
		t.Errorf("channels %+v", views)
	}
}

// TestNoChannel continues by token if Apple creates no channel, and logs it.
func TestNoChannel(t *testing.T) {
	r := newWithChannels(t, "18.1")
	r.box.Script(sandbox.ManageToken, 0, sandbox.Reply{Status: 400, Reason: "FeatureNotEnabled"})
	r.run(r.client)
	r.pass(3 * time.Second)
	r.score("7", 2, "")
	r.pass(2 * time.Second)
	r.shows("by its token", 2, false)
	st := r.coord.Status()
	if len(st.Alarms) != 1 || st.Alarms[0].Reason != "FeatureNotEnabled" || st.Alarms[0].Advice == "" || st.Circuit != "closed" {
		t.Errorf("status %+v", st)
	}
}

// silentChannels is a channel host that does not answer, as behind a firewall.
type silentChannels struct {
	*apns.Client
	asked *atomic.Int64
}

func (s silentChannels) Channels(context.Context) ([]string, apns.Result) {
	s.asked.Add(1)
	return nil, apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer}
}

// TestSilentChannels waits for such a host once, not once per match, because every wait delays the pushes of all matches.
func TestSilentChannels(t *testing.T) {
	r := newWithChannels(t, "18.1")
	for _, id := range []string{"8", "9"} {
		r.fixture(id)
		r.live(id)
		r.score(id, 1, "")
	}
	var asked atomic.Int64
	r.channels = silentChannels{r.client, &asked}
	r.run(r.client)
	r.pass(3 * time.Second)
	r.shows("by its token", 1, false)
	if n := asked.Load(); n != 1 {
		t.Errorf("called %d times at first", n)
	}
	r.pass(2 * time.Hour)
	if n := asked.Load(); n < 7 || n > 10 { // after 1, 2, 4, 8, 16 and 30 minutes, and every 30
		t.Errorf("called %d times in two hours", n)
	}
}

// dyingChannels creates a channel and dies before its id is known.
type dyingChannels struct {
	*apns.Client
	r *rig
}

func (d dyingChannels) CreateChannel(ctx context.Context) (string, apns.Result) {
	if _, res := d.Client.CreateChannel(ctx); res.Action != apns.Accepted {
		return "", res
	}
	d.r.kill()
	<-ctx.Done()
	return "", apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer}
}

// TestChannelsAreNotLeaked deletes at startup what a crash left: a channel half created, and one of a match that
// ended meanwhile. Earlier channels of others stay.
func TestChannelsAreNotLeaked(t *testing.T) {
	r := newWithChannels(t, "18.1")
	foreign, res := r.client.CreateChannel(t.Context())
	if res.Action != apns.Accepted {
		t.Fatalf("%+v", res)
	}
	r.channels = dyingChannels{r.client, r.rig}
	r.run(r.client)
	r.settle()
	r.halt()
	r.put(channelRow{Before: []string{foreign}}) // as a crash leaves the row: the answer was never recorded
	if n := len(r.box.Channels()); n != 2 {
		t.Fatalf("%d channels", n)
	}
	over, res := r.client.CreateChannel(t.Context())
	if res.Action != apns.Accepted {
		t.Fatalf("%+v", res)
	}
	if err := r.coord.putChannel(t.Context(), "6", channelRow{ID: over}); err != nil {
		t.Fatal(err)
	}
	r.channels = r.client
	r.run(r.client)
	r.pass(3 * time.Second)
	views := r.box.Channels()
	ids := map[string]bool{}
	for _, v := range views {
		ids[v.ID] = true
	}
	if len(views) != 2 || !ids[foreign] || ids[over] {
		t.Errorf("channels %+v", views)
	}
	r.shows("after all", 1, false)
}

// TestChannelsOfOthersStay deletes no channel if several have appeared since the creation began: not all can be ours.
func TestChannelsOfOthersStay(t *testing.T) {
	r := newWithChannels(t, "18.1")
	for range 2 {
		if _, res := r.client.CreateChannel(t.Context()); res.Action != apns.Accepted {
			t.Fatalf("%+v", res)
		}
	}
	r.run(r.client)
	r.settle()
	r.halt()
	theirs := len(r.box.Channels())
	r.put(channelRow{}) // as after a crash: the creation began when no channel existed
	r.run(r.client)
	r.pass(3 * time.Second)
	if n := len(r.box.Channels()); n != theirs+1 { // and the match's new one
		t.Errorf("%d channels, %d before", n, theirs)
	}
	r.do(func(tx *store.Tx) error {
		item, err := tx.Get(tables.PushState, stateKey(channelKey("7")))
		if item["channelId"].Str() == "" {
			t.Errorf("the row: %v", item)
		}
		return err
	})
}

func (r *withPhones) put(row channelRow) {
	r.t.Helper()
	if err := r.coord.putChannel(r.ctx, "7", row); err != nil {
		r.t.Fatal(err)
	}
}

// TestChannelOverARestart continues with the existing channel.
func TestChannelOverARestart(t *testing.T) {
	r := newWithChannels(t, "18.1")
	r.run(r.client)
	r.pass(3 * time.Second)
	before := r.box.Channels()
	r.halt()
	r.run(r.client)
	r.score("7", 2, "")
	r.pass(2 * time.Second)
	r.shows("after the restart", 2, false)
	if after := r.box.Channels(); len(after) != 1 || after[0].ID != before[0].ID {
		t.Errorf("channels %+v", after)
	}
	// Switched off: the phones are notified by token, and the channel is deleted.
	r.halt()
	r.channels = nil
	r.run(r.client)
	r.score("7", 3, "")
	r.pass(5 * time.Second)
	r.score("7", 4, "")
	r.pass(2 * time.Second)
	r.shows("without channels", 4, false) // the card on the channel was ended
	if n := len(r.box.Channels()); n != 0 || r.session("7", "u0").UpdateToken == "" {
		t.Errorf("%d channels left, %+v", n, r.session("7", "u0"))
	}
}

// TestUnfollowOnAChannel ends the row; a channel cannot notify a single phone.
func TestUnfollowOnAChannel(t *testing.T) {
	r := newWithChannels(t, "18.1", "18.1")
	r.run(r.client)
	r.pass(3 * time.Second)
	r.do(func(tx *store.Tx) error { return phone.Follows{}.Remove(tx, "7", "u0") })
	r.score("7", 2, "")
	r.pass(2 * time.Second)
	if s := r.session("7", "u0"); s.Status != phone.SessionEnded || s.EndReason != phone.EndUnfollowed {
		t.Errorf("%+v", s)
	}
	var s struct{ Teams []struct{ Runs int } }
	if err := json.Unmarshal(r.box.Phones()[1].Activities[0].State, &s); err != nil || s.Teams[0].Runs != 2 {
		t.Errorf("the other phone shows %+v, %v", s, err)
	}
}

// TestUrgentBudgetOfAChannel leaves room for the starts of listeners.
func TestUrgentBudgetOfAChannel(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		r := newWithChannels(t, "18.1", "18.2")
		r.run(r.client)
		r.pass(3 * time.Second)
		for i := range urgentHourly + 3 {
			r.score("7", i+2, fmt.Sprint("wicket ", i))
			r.pass(time.Minute)
			if restarts && i == 5 {
				r.halt()
				r.run(r.client)
			}
		}
		urgent := map[string]int{}
		for _, p := range r.box.Records(0) {
			if p.Priority == int(apns.PriorityUrgent) {
				urgent[p.Phone]++
			}
		}
		if broadcast, started := urgent[""], urgent["u0"]; broadcast+started != urgentHourly || started != 1 {
			t.Errorf("restarts %v: %d urgent broadcasts and %d starts in half an hour", restarts, broadcast, started)
		}
	}
}

// An app that starts its own activity on the match's channel says so: the node starts none, and no ordinary alert goes to the phone.
func TestAppStartsOnTheChannel(t *testing.T) {
	r := newWithChannels(t, "18.1")
	r.run(r.client)
	r.pass(3 * time.Second)
	v, err := r.coord.View(t.Context(), "7")
	if err != nil || v.ChannelID == "" || v.ChannelID != r.box.Channels()[0].ID {
		t.Fatalf("view %+v, %v", v, err)
	}
	ph, err := r.box.AddPhone(sandbox.Phone{Name: "own", UserID: "own", DeviceID: "d-own", System: "18.1"}, r.app)
	if err != nil {
		t.Fatal(err)
	}
	r.do(func(tx *store.Tx) error { // at once, so that no start is due
		d := phone.Device{
			UserID: "own", DeviceID: "d-own", Platform: "ios", OSVersion: "18.1", DeviceToken: ph.DeviceToken, PushToStartToken: ph.PushToStartToken,
		}
		if _, err := (phone.Devices{}).Register(tx, d); err != nil {
			return err
		}
		if _, _, err := (phone.Follows{}).Add(tx, "7", "own", 0); err != nil {
			return err
		}
		_, err := phone.Activities{}.Listen(tx, "7", "own", "", v.ChannelID)
		return err
	})
	r.score("7", 2, "wicket")
	r.pass(5 * time.Minute)
	for _, rec := range r.box.Records(0) {
		if rec.Phone == "own" {
			t.Errorf("a push to the phone itself: %+v", rec)
		}
	}
	if s := r.session("7", "own"); s.Status != phone.SessionActive || s.ChannelID != v.ChannelID {
		t.Errorf("row %+v", s)
	}
}
