package poll_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// scheduled returns a snapshot of a match that has not begun and starts at a time after midday.
func scheduled(id int, league int64, at time.Duration) cricket.Snapshot {
	s := match(id, league, "NS", 0)
	s.StartsAt = midday().Add(at)
	return s
}

// A match is registered 45 minutes before its start, and then read every minute, for toss and line-ups, until it is in the
// live list.
func TestBeforeTheToss(t *testing.T) {
	r := newRig(t)
	const start = 2 * time.Hour
	r.feed.fixtures = func(time.Time) []cricket.Snapshot { return []cricket.Snapshot{scheduled(7, 3, start)} }
	r.feed.fixture = func(_ string, now time.Time) (cricket.Snapshot, error) {
		s := scheduled(7, 3, start)
		if now.After(midday().Add(start - 30*time.Minute)) {
			s.Toss = cricket.Toss{TeamID: 39, Chose: "batting"}
		}
		return s, nil
	}
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		if now.Before(midday().Add(start)) {
			return nil
		}
		s := match(7, 3, "1st Innings", int(now.Sub(midday())/time.Minute))
		s.Toss, s.StartsAt = cricket.Toss{TeamID: 39, Chose: "batting"}, midday().Add(start)
		return []cricket.Snapshot{s}
	}
	r.run(start - 46*time.Minute)
	if _, found := r.state("7"); found {
		t.Error("registered before its time")
	}
	r.run(start - 44*time.Minute)
	if st, _ := r.state("7"); st.Status != cricket.ActiveIdle {
		t.Errorf("45 min before the start the match is %q", st.Status)
	}
	r.run(start + 5*time.Minute)
	if st, _ := r.state("7"); st.Status != cricket.ActiveLive {
		t.Errorf("in play the match is %q", st.Status)
	}
	asked := r.feed.asked("fixture 7")
	if first := asked[0]; first < start-45*time.Minute || first > start-44*time.Minute {
		t.Errorf("first read at %s", first)
	}
	for _, gap := range gaps(asked, start-43*time.Minute) { // a minute after the last run has begun
		if gap != time.Minute {
			t.Errorf("read after %s: %v", gap, asked)
		}
	}
	if last := asked[len(asked)-1]; last > start+10*time.Second {
		t.Errorf("read singly at %s although the list has it", last)
	}
	events, err := r.service.Events(t.Context(), "7")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(events, func(e cricket.Event) bool {
		return e.Type == cricket.EventToss && e.At.Before(midday().Add(start-27*time.Minute))
	}) {
		t.Errorf("the toss was not found before play: %v", events)
	}
}

// Only matches of active leagues are synced, registered and polled. An admin can make a league active.
func TestOnlyActiveLeagues(t *testing.T) {
	r := newRig(t)
	r.config.Leagues = []string{"L3"}
	r.leagueRow("5", false, false)
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		var all []cricket.Snapshot
		for i, league := range []int64{3, 4, 5} {
			all = append(all, match(i+1, league, "1st Innings", 10))
		}
		return all
	}
	r.feed.fixtures = func(time.Time) []cricket.Snapshot {
		return []cricket.Snapshot{scheduled(11, 3, time.Hour), scheduled(12, 4, time.Hour), scheduled(13, 5, time.Hour)}
	}
	known := func() (out []string) {
		r.do(func(tx *store.Tx) error {
			all, err := matches.Fixtures{}.Batch(tx, "1", "2", "3", "11", "12", "13")
			for i := range all {
				out = append(out, all[i].MatchID)
			}
			return err
		})
		return out
	}
	r.run(2 * time.Minute)
	if diff := cmp.Diff([]string{"1", "11"}, known()); diff != "" {
		t.Errorf("known (-want +got):\n%s", diff)
	}
	r.do(func(tx *store.Tx) error {
		on := true
		_, err := reference.Leagues{}.Patch(tx, "5", reference.LeaguePatch{Active: &on})
		return err
	})
	r.run(4 * time.Minute)
	if diff := cmp.Diff([]string{"1", "11", "13", "3"}, known()); diff != "" {
		t.Errorf("after league 5 became active (-want +got):\n%s", diff)
	}
}

// finishing scripts a match that is over after ten minutes and has left the list after fifteen.
func (r *rig) finishing() {
	over := midday().Add(10 * time.Minute)
	at := func(now time.Time) cricket.Snapshot {
		s := match(7, 3, "2nd Innings", 100)
		s.Innings = []cricket.Innings{
			{No: 1, TeamID: 1, Runs: 100, Wickets: 5, Overs: "20.0", UpdatedAt: midday()},
			{No: 2, TeamID: 39, Runs: 90, Wickets: 3, Overs: "19.5", UpdatedAt: midday()},
		}
		s.Toss = cricket.Toss{TeamID: 1, Chose: "batting"}
		if !now.Before(over) {
			s.Status, s.Winner, s.Note = "Finished", 1, "Pakistan won by 10 runs"
			s.Innings[1].Overs, s.Innings[1].UpdatedAt = "20.0", over
		}
		return s
	}
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		if now.Before(over.Add(5 * time.Minute)) {
			return []cricket.Snapshot{at(now)}
		}
		return nil
	}
	r.feed.fixture = func(_ string, now time.Time) (cricket.Snapshot, error) { return at(now), nil }
}

// follow makes n users follow match 7.
func (r *rig) follow(n int) {
	r.do(func(tx *store.Tx) error {
		for i := range n {
			_, err := tx.Put(store.PutItem{Table: tables.Follows, Item: attr.Item{
				"matchId": attr.S("7"), "userId": attr.S(fmt.Sprintf("u%04d", i)), "expiresAt": attr.Int(midday().Add(48 * time.Hour).Unix()),
			}})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *rig) followers() (n int) {
	r.do(func(tx *store.Tx) error {
		all, err := phone.Follows{}.OfMatch(tx, "7")
		n = len(all)
		return err
	})
	return n
}

// Fifteen minutes after its result a match is ended: its follows are deleted, its row expires a day or more later, and its
// fixture is archived.
func TestAfterTheEnd(t *testing.T) {
	r := newRig(t)
	r.finishing()
	r.follow(600)
	r.run(24 * time.Minute)
	st, _ := r.state("7")
	if st.Status != cricket.ActiveLive || st.FinishedAt.IsZero() || r.followers() != 600 {
		t.Errorf("14 min after the result: %s, finished %s, %d followers", st.Status, st.FinishedAt, r.followers())
	}
	p := r.run(45 * time.Minute)[0]
	st, _ = r.state("7")
	ended := st.FinishedAt.Add(15 * time.Minute)
	if st.Status != cricket.ActiveEnded || st.TTL < ended.Add(24*time.Hour).Unix() || r.followers() != 0 {
		t.Errorf("after the end: %s, ttl %d, %d followers", st.Status, st.TTL, r.followers())
	}
	r.do(func(tx *store.Tx) error {
		f, err := matches.Fixtures{}.Get(tx, "7")
		if f.ArchivedAt.IsZero() || !f.LiveUpdatedAt.IsZero() || f.Result != "Pakistan won by 10 runs" {
			t.Errorf("the fixture: %+v", f)
		}
		return err
	})
	if status := p.Status(); len(status.Matches) != 0 {
		t.Errorf("still watched: %+v", status.Matches)
	}
}

// A match that stays in the list after its end is ticked only when the feed corrects it; the list is then read every 30 s.
func TestCorrectedAfterTheEnd(t *testing.T) {
	r := newRig(t)
	r.finishing()
	at := r.feed.list
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		shown := now
		if late := midday().Add(14 * time.Minute); now.After(late) {
			shown = late
		}
		all := at(shown)
		if now.After(midday().Add(40 * time.Minute)) {
			all[0].Note = "Pakistan won by 11 runs"
		}
		return all
	}
	r.run(50 * time.Minute)
	if st, _ := r.state("7"); st.Status != cricket.ActiveEnded {
		t.Errorf("the match is %s", st.Status)
	}
	ticks := r.ticks.at["7"]
	after := slices.IndexFunc(ticks, func(d time.Duration) bool { return d > 30*time.Minute })
	if after < 0 || len(ticks) != after+1 || ticks[after] > 41*time.Minute {
		t.Errorf("ticks after the end: %v", ticks[max(after, 0):])
	}
	if list := gaps(r.feed.asked("list with balls"), 30*time.Minute); len(list) == 0 || list[0] != 30*time.Second {
		t.Errorf("the list is read every %v", list)
	}
}

// A match that leaves the list is read singly after 0, 1, 5 and 15 minutes, and when it is ended. These reads may use the
// budget's reserve.
func TestFinalReads(t *testing.T) {
	r := newRig(t)
	r.finishing()
	p := r.run(50 * time.Minute)[0]
	finals := r.feed.asked("final 7")
	if len(finals) < 4 {
		t.Fatalf("read at %v", finals)
	}
	left := finals[0]
	if left < 15*time.Minute || left > 15*time.Minute+30*time.Second {
		t.Errorf("the first final read was at %s", left)
	}
	var since []time.Duration
	for _, at := range finals {
		since = append(since, at-left)
	}
	st, _ := r.state("7")
	want := []time.Duration{0, time.Minute, 5 * time.Minute, st.FinishedAt.Sub(midday()) + 15*time.Minute - left, 15 * time.Minute}
	if diff := cmp.Diff(want, since); diff != "" {
		t.Errorf("final reads after the match left (-want +got):\n%s", diff)
	}
	if p.Status().FinalReads != int64(len(finals)) {
		t.Errorf("%d final reads counted", p.Status().FinalReads)
	}
	if len(r.feed.asked("fixture 7")) != len(finals) {
		t.Errorf("not all reads were final: %v", r.feed.asked("fixture 7"))
	}
}

// A final read that fails is retried every ten seconds, not faster, because each try counts as a call of the hour.
func TestFinalReadsThatFail(t *testing.T) {
	for name, answer := range map[string]error{
		"not found": fault.New(fault.NotFound, "gone", "gone"), "no answer": errors.New("no answer"),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.finishing()
			r.feed.fixture = func(string, time.Time) (cricket.Snapshot, error) { return cricket.Snapshot{}, answer }
			r.run(20 * time.Minute)
			finals := r.feed.asked("final 7")
			if len(finals) < 20 {
				t.Errorf("tried %d times: %v", len(finals), finals)
			}
			for _, gap := range gaps(finals, 0) {
				if gap < 9*time.Second {
					t.Fatalf("retried after %s, %d times in all", gap, len(finals))
				}
			}
		})
	}
}

// A match that is put off and gets another start keeps its followers, is listed with its new start, and is played as any other, whether the
// node was restarted meanwhile or not.
func TestPlayedAtAnotherTime(t *testing.T) {
	for name, tt := range map[string]struct {
		off   cricket.Status
		phase cricket.Phase
		again time.Duration // its other start
		known time.Duration // when the node knows it: more than a day ahead the list is read every hour
	}{
		"a day later":      {"Postp.", cricket.PhasePostponed, 30 * time.Hour, 5 * time.Hour},
		"an hour later":    {"Postp.", cricket.PhasePostponed, 4 * time.Hour, 3*time.Hour + 2*time.Minute},
		"five days later":  {"Postp.", cricket.PhasePostponed, 5 * 24 * time.Hour, 5 * time.Hour},
		"cancelled before": {"Cancl.", cricket.PhaseAbandoned, 30 * time.Hour, 5 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			at := func(now time.Time) cricket.Snapshot {
				s := scheduled(7, 3, time.Hour)
				switch since := now.Sub(midday()); {
				case since >= tt.again:
					s = match(7, 3, "1st Innings", 1+int((since-tt.again)/time.Minute))
					s.StartsAt = midday().Add(tt.again)
				case since > 3*time.Hour:
					s.StartsAt = midday().Add(tt.again)
				case since > 30*time.Minute:
					s.Status = tt.off
				}
				return s
			}
			r.feed.fixtures = func(now time.Time) []cricket.Snapshot {
				r.housekeep()
				return []cricket.Snapshot{at(now)}
			}
			r.feed.fixture = func(_ string, now time.Time) (cricket.Snapshot, error) { return at(now), nil }
			r.feed.list = func(now time.Time) []cricket.Snapshot {
				if s := at(now); s.Status == "1st Innings" {
					return []cricket.Snapshot{s}
				}
				return nil
			}
			r.run(20 * time.Minute)
			r.follow(1)
			r.run(2 * time.Hour)
			if st, _ := r.state("7"); st.Status != cricket.ActivePostponed {
				t.Errorf("put off it is %q", st.Status)
			}
			r.listed("7", tt.phase, midday().Add(time.Hour), midday().Add(cricket.KeepPostponed))
			r.run(tt.known)
			r.listed("7", cricket.PhasePrematch, midday().Add(tt.again), midday().Add(tt.again+2*24*time.Hour))
			r.run(tt.again + 5*time.Minute) // another poller: the node was restarted
			if st, _ := r.state("7"); st.Status != cricket.ActiveLive {
				t.Errorf("in play it is %q", st.Status)
			}
			r.listed("7", cricket.PhaseLive, midday().Add(tt.again), midday().Add(tt.again+2*24*time.Hour))
			word := map[cricket.Status]cricket.EventType{"Postp.": cricket.EventPostponed, "Cancl.": cricket.EventCancelled}
			if diff := cmp.Diff([]cricket.EventType{word[tt.off], cricket.EventMatchStart}, r.alerts("7")); diff != "" {
				t.Errorf("alerts (-want +got):\n%s", diff)
			}
		})
	}
}

// A match that was abandoned goes on with its score on a reserve day, with its followers, whether the node was restarted meanwhile or not.
func TestReserveDay(t *testing.T) {
	r := newRig(t)
	const again = 20 * time.Hour
	at := func(now time.Time) cricket.Snapshot {
		since := now.Sub(midday())
		s := match(7, 3, "1st Innings", 20)
		switch {
		case since >= again:
			s.Innings[0].Runs, s.Innings[0].Overs, s.Innings[0].UpdatedAt = 21+int((since-again)/time.Minute), "5.1", now
		case since >= 5*time.Minute:
			s.Status = "Aban."
		}
		return s
	}
	r.feed.fixture = func(_ string, now time.Time) (cricket.Snapshot, error) { return at(now), nil }
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		if since := now.Sub(midday()); since >= 10*time.Minute && since < again {
			return nil
		}
		return []cricket.Snapshot{at(now)}
	}
	r.follow(1)
	r.run(2 * time.Hour)
	if st, _ := r.state("7"); st.Status != cricket.ActiveEnded || st.Result == "" {
		t.Errorf("abandoned it is %q, %q", st.Status, st.Result)
	}
	r.housekeep()
	r.run(again + 5*time.Minute)
	if st, _ := r.state("7"); st.Status != cricket.ActiveLive || st.Result != "" {
		t.Errorf("on the reserve day it is %q, %q", st.Status, st.Result)
	}
	r.listed("7", cricket.PhaseLive, midday(), midday().Add(48*time.Hour))
	if diff := cmp.Diff([]cricket.EventType{cricket.EventCorrection}, r.alerts("7")); diff != "" {
		t.Errorf("alerts (-want +got):\n%s", diff)
	}
}

// A match that the feed has no more says so, and ends without a word on how. Another one with the same sides and start takes its followers
// along at once.
func TestAnotherID(t *testing.T) {
	for _, again := range []bool{false, true} {
		r := newRig(t)
		const gone = 10 * time.Minute
		at := func(id int, now time.Time) cricket.Snapshot {
			s := match(id, 3, "1st Innings", 20+int(now.Sub(midday())/time.Minute))
			s.Teams[0], s.Teams[1] = s.Teams[id%2], s.Teams[(id+1)%2] // the other one names them in another order
			return s
		}
		r.feed.list = func(now time.Time) []cricket.Snapshot {
			switch {
			case now.Before(midday().Add(gone)):
				return []cricket.Snapshot{at(7, now)}
			case again:
				return []cricket.Snapshot{at(8, now)}
			}
			return nil
		}
		r.follow(3)
		r.run(gone + 3*time.Minute)
		d, err := r.service.Display(t.Context(), "7")
		if err != nil || !d.NoNews || d.Equation != "" || !again && d.Note != "No news since 12:10 UTC" {
			t.Errorf("again %t: without news %t, %q, %q, %v", again, d.NoNews, d.Equation, d.Note, err)
		}
		if st, _ := r.state("7"); (st.Status == cricket.ActiveEnded) != again {
			t.Errorf("again %t: without news it is %q", again, st.Status)
		}
		r.run(gone + 3*time.Minute + goneFor)
		d, err = r.service.Display(t.Context(), "7")
		if st, _ := r.state("7"); st.Status != cricket.ActiveEnded || d.Phase != cricket.PhaseNoNews || d.Status != "No more news" {
			t.Errorf("again %t: in the end it is %q, %q, %q, %v", again, st.Status, d.Phase, d.Status, err)
		}
		r.do(func(tx *store.Tx) error {
			old, err := phone.Follows{}.OfMatch(tx, "7")
			next, following := phone.Follows{}.OfMatch(tx, "8")
			if len(old) != 0 || (len(next) == 3) != again {
				t.Errorf("again %t: %d follow the old match, %d the other", again, len(old), len(next))
			}
			return errors.Join(err, following)
		})
	}
}

// goneFor is longer than a match that the feed does not have stays on.
const goneFor = 33 * time.Minute

// A match that comes back shows news again.
func TestGoneForAMoment(t *testing.T) {
	r := newRig(t)
	at := func(now time.Time) cricket.Snapshot { return match(7, 3, "1st Innings", 20) }
	away := func(now time.Time) bool {
		return now.After(midday().Add(5*time.Minute)) && now.Before(midday().Add(10*time.Minute))
	}
	r.feed.list = func(now time.Time) []cricket.Snapshot {
		if away(now) {
			return nil
		}
		return []cricket.Snapshot{at(now)}
	}
	r.meanwhile = func() {
		for _, tt := range []struct {
			at     time.Duration
			noNews bool
		}{{5 * time.Minute, false}, {9 * time.Minute, true}, {11 * time.Minute, false}} {
			_ = r.clock.Wait(t.Context(), midday().Add(tt.at), nil)
			if d, err := r.service.Display(t.Context(), "7"); err != nil || d.NoNews != tt.noNews {
				t.Errorf("after %s without news: %t, %q, %v", tt.at, d.NoNews, d.Note, err)
			}
		}
	}
	r.run(12 * time.Minute)
}

// housekeep deletes expired rows, as a node does while it polls.
func (r *rig) housekeep() {
	for more := true; more; {
		var err error
		if more, err = r.store.Housekeep(r.t.Context()); err != nil {
			r.t.Error(err)
			return
		}
	}
}

// listed checks how a match is listed, and that its only follow is kept until about a time, for hours more.
func (r *rig) listed(id string, phase cricket.Phase, start, until time.Time) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		f, err := matches.Fixtures{}.Get(tx, id)
		if f.ArchivedAt.IsZero() == (phase == cricket.PhaseAbandoned) || f.Phase != phase || !f.StartTime.Equal(start) {
			r.t.Errorf("the fixture is %q, archived at %s, and starts at %s, want %q and %s", f.Phase, f.ArchivedAt, f.StartTime, phase, start)
		}
		follows, following := phone.Follows{}.OfMatch(tx, id)
		if len(follows) != 1 || time.Unix(follows[0].ExpiresAt, 0).Sub(until).Abs() > 4*time.Hour {
			r.t.Errorf("follows: %+v, want one until %s", follows, until)
		}
		return errors.Join(err, following)
	})
}

// alerts lists the types of a match's alerts in order of their time.
func (r *rig) alerts(id string) (types []cricket.EventType) {
	r.t.Helper()
	events, err := r.service.Events(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	slices.SortStableFunc(events, func(a, b cricket.Event) int { return a.At.Compare(b.At) })
	for i := range events {
		if events[i].Alert {
			types = append(types, events[i].Type)
		}
	}
	return types
}

// A match ends even if the feed does not answer after its result, or no longer knows it.
func TestSilentEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		from time.Duration // when the feed stops answering
		err  error
		end  time.Duration // latest
	}{
		"no answer after the result": {12 * time.Minute, errors.New("no answer"), 28 * time.Minute},
		"not found in play":          {5 * time.Minute, fault.New(fault.NotFound, "gone", "gone"), 37 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.finishing()
			list, fixture := r.feed.list, r.feed.fixture
			r.feed.list = func(now time.Time) []cricket.Snapshot {
				if now.Before(midday().Add(tt.from)) {
					return list(now)
				}
				return nil
			}
			r.feed.fixture = func(id string, now time.Time) (cricket.Snapshot, error) {
				if now.Before(midday().Add(tt.from)) {
					return fixture(id, now)
				}
				return cricket.Snapshot{}, tt.err
			}
			r.follow(1)
			early := false
			r.ticks.clean = func(string, time.Time) { early = r.clock.Now().Before(midday().Add(tt.end - 4*time.Minute)) }
			r.run(tt.end + time.Minute)
			if early {
				t.Error("cleaned up too early")
			}
			if st, _ := r.state("7"); st.Status != cricket.ActiveEnded || r.followers() != 0 {
				t.Errorf("%s, %d followers", st.Status, r.followers())
			}
		})
	}
}

// After a crash between the end of a match and its cleanup, the next start cleans up.
func TestSweepAfterACrash(t *testing.T) {
	r := newRig(t)
	r.follow(30)
	r.do(func(tx *store.Tx) error {
		fixture, err := attr.Marshal(&matches.Fixture{MatchID: "7", LiveUpdatedAt: midday()})
		if err != nil {
			return err
		}
		if _, err := tx.Put(store.PutItem{Table: tables.Fixtures, Item: fixture}); err != nil {
			return err
		}
		_, err = tx.Put(store.PutItem{Table: tables.ActiveMatches, Item: attr.Item{"matchId": attr.S("7"), "status": attr.S("ended")}})
		return err
	})
	r.run(time.Second)
	if r.followers() != 0 {
		t.Errorf("%d followers", r.followers())
	}
	r.do(func(tx *store.Tx) error {
		f, err := matches.Fixtures{}.Get(tx, "7")
		if f.ArchivedAt.IsZero() || !f.LiveUpdatedAt.IsZero() {
			t.Errorf("the fixture: %+v", f)
		}
		return err
	})
}
