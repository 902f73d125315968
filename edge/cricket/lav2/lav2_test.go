package lav2_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/lav2"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

func testNow() time.Time { return time.Date(2026, 10, 9, 15, 0, 0, 0, time.UTC) }

func began() time.Time { return testNow().Add(-2 * time.Hour) }

func token(n int) string { return fmt.Sprintf("%064x", n) }

func tableSpec(name string) store.TableSpec {
	return store.TableSpec{
		Name: name, Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}}, Policy: store.PolicyIntent, Why: "test",
	}
}

// open returns a store with today's tables and the named old ones.
func open(t *testing.T, old ...string) *store.Store {
	t.Helper()
	s := storetest.OpenWith(t, t.TempDir()+"/touchline.db", store.Options{NoSync: true, Now: testNow}, tables.All()...)
	for _, name := range old {
		if err := s.CreateTable(t.Context(), tableSpec(name), store.TableSettings{}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func put(t *testing.T, s *store.Store, table string, items ...attr.Item) {
	t.Helper()
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		for _, it := range items {
			if _, err := tx.Put(store.PutItem{Table: table, Item: it}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func items(t *testing.T, s *store.Store, table string) (out []attr.Item) {
	t.Helper()
	err := s.View(t.Context(), func(tx *store.Tx) error {
		for it, err := range tx.ScanAll(store.Scan{Table: table}) {
			if err != nil {
				return err
			}
			out = append(out, it)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func run(t *testing.T, s *store.Store, o lav2.Options) lav2.Report {
	t.Helper()
	r, err := lav2.Run(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	sum := r.Total.Written + r.Total.AlreadyThere
	for _, by := range []map[string]int64{r.Total.Skipped, r.Total.Unreadable} {
		for _, n := range by {
			sum += n
		}
	}
	if r.Total.Read != sum {
		t.Errorf("the counts do not add up: %+v", r.Total)
	}
	return r
}

// with sets attributes of an item; a NULL removes one.
func with(it, more attr.Item) attr.Item {
	maps.Copy(it, more)
	maps.DeleteFunc(it, func(_ string, v attr.Value) bool { return v.Kind() == attr.KindNull })
	return it
}

func subscription(id int, more attr.Item) attr.Item {
	return with(attr.Item{
		"id": attr.S(fmt.Sprintf("sub-%05d", id)), "matchId": attr.S("71344"), "userId": attr.S(fmt.Sprintf("user-%d", id)),
		"deviceId": attr.S("phone"), "updateToken": attr.S(token(id)), "status": attr.S("active"), "createdAt": attr.Time(began()),
	}, more)
}

func TestSessions(t *testing.T) {
	now, none := testNow(), attr.Null()
	without := func(s *phone.Session) { s.UpdateToken, s.SessionStartedAt = "", time.Time{} }
	for name, tt := range map[string]struct {
		old       attr.Item // changes to subscription(1)
		want      func(s *phone.Session)
		skip, bad string
	}{
		"active":   {want: func(*phone.Session) {}},
		"no start": {old: attr.Item{"createdAt": none}, want: func(s *phone.Session) { s.CreatedAt, s.SessionStartedAt = time.Time{}, now }},
		"pending": {old: attr.Item{"status": attr.S("pending")}, want: func(s *phone.Session) {
			without(s)
			s.Status = phone.SessionPending
		}},
		"suspended": {old: attr.Item{"status": attr.S("suspended")}, want: func(s *phone.Session) {
			without(s)
			s.Status, s.SuspendedAt = phone.SessionSuspended, now
		}},
		"ended: it owes no push": {old: attr.Item{"status": attr.S("ended"), "endedAt": attr.Time(began().Add(time.Minute))},
			want: func(s *phone.Session) {
				without(s)
				s.Status, s.EndedAt = phone.SessionEnded, began().Add(time.Minute)
			}},
		"a token in capitals": {old: attr.Item{"updateToken": attr.S(strings.ToUpper(token(0xabc)))},
			want: func(s *phone.Session) { s.UpdateToken = token(0xabc) }},
		"a time to live": {old: attr.Item{"ttl": attr.Int(now.Add(time.Hour).Unix())},
			want: func(s *phone.Session) { s.TTL = now.Add(time.Hour).Unix() }},
		"kept too long": {old: attr.Item{"ttl": attr.Int(now.AddDate(3, 0, 0).Unix())},
			want: func(s *phone.Session) { s.TTL = now.AddDate(0, 0, 10).Unix() }},
		"no time to live, but a known match": {old: attr.Item{"matchId": attr.S("500")}, want: func(s *phone.Session) {
			s.MatchID, s.TTL = "500", now.Add(50*time.Hour).Unix()
		}},
		"a match that ended long ago": {old: attr.Item{"matchId": attr.S("400")}, skip: "expired"},
		"the only device": {old: attr.Item{"userId": attr.S("one"), "deviceId": none},
			want: func(s *phone.Session) { s.UserID, s.DeviceID = "one", "iphone" }},
		"no device":                  {old: attr.Item{"deviceId": none}, skip: "no device"},
		"one of two devices":         {old: attr.Item{"userId": attr.S("two"), "deviceId": none}, skip: "several devices"},
		"expired":                    {old: attr.Item{"ttl": attr.Int(now.Unix())}, skip: "expired"},
		"no match":                   {old: attr.Item{"matchId": none}, bad: "no matchId"},
		"a match of another type":    {old: attr.Item{"matchId": attr.Int(71344)}, bad: "matchId cannot be read"},
		"no user":                    {old: attr.Item{"userId": none}, bad: "no userId"},
		"not a token":                {old: attr.Item{"updateToken": attr.S("abc")}, bad: "updateToken is not an Apple token"},
		"an unknown status":          {old: attr.Item{"status": attr.S("frozen")}, bad: "status is not known"},
		"a token under another name": {old: attr.Item{"updateToken": none, "pushToken": attr.S(token(1))}, bad: "updateToken is not an Apple token"},
		"a time to live as text":     {old: attr.Item{"ttl": attr.S("soon")}, bad: "ttl cannot be read"},
		"no status":                  {old: attr.Item{"status": none}, bad: "status is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, "cricket-activity-subscriptions")
			put(t, s, tables.Fixtures,
				attr.Item{"matchId": attr.S("500"), "startTime": attr.Time(now.Add(2 * time.Hour)), "type": attr.S("T20I")},
				attr.Item{"matchId": attr.S("400"), "startTime": attr.Time(now.AddDate(0, -1, 0)), "type": attr.S("T20I")})
			for user, devices := range map[string]map[string]int{"one": {"iphone": 0xa1}, "two": {"iphone": 0xb0, "ipad": 0xb1}} {
				for device, n := range devices {
					put(t, s, tables.Devices, attr.Item{"userId": attr.S(user), "deviceToken": attr.S(token(n)),
						"deviceId": attr.S(device), "platform": attr.S("ios")})
				}
			}
			put(t, s, "cricket-activity-subscriptions", subscription(1, tt.old))
			r := run(t, s, lav2.Options{Apply: true})
			if tt.want == nil {
				if r.Total.Skipped[tt.skip]+r.Total.Unreadable[tt.bad] != 1 || len(items(t, s, tables.LiveActivities)) != 0 {
					t.Errorf("counts %+v", r.Total)
				}
				return
			}
			want := phone.Session{
				MatchID: "71344", UserID: "user-1", DeviceID: "phone", Status: phone.SessionActive, UpdateToken: token(1),
				CreatedAt: began(), SessionStartedAt: began(), TTL: now.Add(24 * time.Hour).Unix(),
			}
			tt.want(&want)
			want.Key = want.UserID + "#" + want.DeviceID
			var got phone.Session
			err := s.View(t.Context(), func(tx *store.Tx) (err error) {
				got, err = phone.Activities{}.Get(tx, want.MatchID, want.Key)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestActiveMatches(t *testing.T) {
	now := testNow()
	for name, tt := range map[string]struct {
		old       attr.Item
		want      func(*cricket.State)
		skip, bad string
	}{
		"live": {old: attr.Item{"instanceId": attr.S("i-1"), "lastTickAt": attr.Time(now.Add(-time.Second)),
			"previousStatus": attr.S("2nd Innings"), "previousBallId": attr.Int(11917190),
			"previousScore": attr.L(attr.M(attr.Item{"innings": attr.Int(1), "runs": attr.Int(182), "wickets": attr.Int(8), "overs": attr.S("20")})),
			"cooldowns":     attr.M(attr.Item{"six": attr.Int(now.Add(time.Minute).UnixMilli())}),
		}, want: func(st *cricket.State) {
			st.PreviousStatus, st.MatchPhase, st.PreviousBallID = "2nd Innings", cricket.PhaseLive, 11917190
			st.PreviousScore = []cricket.PreviousScore{{Innings: 1, Runs: 182, Wickets: 8, Overs: "20"}}
			st.Cooldowns = map[string]int64{"six": now.Add(time.Minute).UnixMilli()}
		}},
		"only the match": {want: func(*cricket.State) {}},
		"about to start": {old: attr.Item{"status": attr.S("idle")}, want: func(st *cricket.State) { st.Status = cricket.ActiveIdle }},
		"ended": {old: attr.Item{"status": attr.S("ended")}, want: func(st *cricket.State) {
			st.Status, st.TTL = cricket.ActiveEnded, now.Add(48*time.Hour).Unix()
		}},
		"a time to live": {old: attr.Item{"ttl": attr.Int(now.Add(time.Hour).Unix())},
			want: func(st *cricket.State) { st.TTL = now.Add(time.Hour).Unix() }},
		"a score as text":     {old: attr.Item{"previousScore": attr.S("182/8")}, bad: "previousScore cannot be read"},
		"expired":             {old: attr.Item{"ttl": attr.Int(now.Unix() - 1)}, skip: "expired"},
		"not ticked for days": {old: attr.Item{"lastTickAt": attr.Time(now.AddDate(0, 0, -8))}, skip: "no tick for days"},
		"no match":            {old: attr.Item{"matchId": attr.Null()}, bad: "no matchId"},
		"an unknown status":   {old: attr.Item{"status": attr.S("frozen")}, bad: "status is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, "match-processing-state")
			put(t, s, "match-processing-state",
				with(attr.Item{"id": attr.S("x"), "matchId": attr.S("71344"), "status": attr.S("live")}, tt.old))
			r := run(t, s, lav2.Options{Apply: true})
			rows := items(t, s, tables.ActiveMatches)
			if tt.want == nil {
				if r.Total.Skipped[tt.skip]+r.Total.Unreadable[tt.bad] != 1 || len(rows) != 0 {
					t.Errorf("counts %+v, %d rows", r.Total, len(rows))
				}
				return
			}
			if len(rows) != 1 {
				t.Fatalf("%d rows, %+v", len(rows), r.Total)
			}
			want, got := cricket.State{MatchID: "71344", Status: cricket.ActiveLive}, cricket.State{}
			tt.want(&want)
			if err := attr.Unmarshal(rows[0], &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// manyOld returns a store with rows of every kind in all eight old tables, more than a page of them.
func manyOld(t *testing.T) *store.Store {
	t.Helper()
	s := open(t, "activity-subscriptions", "cricket-activity-subscriptions", "match-processing-state",
		"cricket-match-processing-state", "prematch-notifications", "cricket-prematch-notifications", "state-hashes",
		"cricket-state-hashes")
	for i := range 600 {
		more := attr.Item{}
		switch i % 6 {
		case 1:
			more["deviceId"] = attr.Null()
		case 2:
			more["ttl"] = attr.Int(5)
		case 3:
			more["updateToken"] = attr.S("none")
		case 4:
			more["appVersion"] = attr.S("1.9")
		}
		put(t, s, []string{"", "cricket-"}[i/6%2]+"activity-subscriptions", subscription(i, more))
	}
	for i := range 12 {
		id := attr.S(fmt.Sprint(i))
		put(t, s, []string{"", "cricket-"}[i%2]+"match-processing-state",
			attr.Item{"id": id, "matchId": id, "status": attr.S("live"), "lastTickAt": attr.Time(testNow())})
		for _, table := range []string{"prematch-notifications", "cricket-prematch-notifications", "state-hashes", "cricket-state-hashes"} {
			put(t, s, table, attr.Item{"id": id})
		}
	}
	put(t, s, tables.LiveActivities, attr.Item{"matchId": attr.S("71344"), "userId#deviceId": attr.S("user-6#phone"),
		"updateToken": attr.S(token(999)), "status": attr.S("active")})
	put(t, s, tables.ActiveMatches, attr.Item{"matchId": attr.S("3"), "status": attr.S("ended")})
	return s
}

// A dry run reports exactly what a real run then does, and writes nothing. Existing rows of the new tables stay unchanged.
func TestDryRun(t *testing.T) {
	s := manyOld(t)
	commits := s.Stats().Commits
	dry := run(t, s, lav2.Options{DropOld: true})
	if s.Stats().Commits != commits {
		t.Errorf("a dry run wrote %d times", s.Stats().Commits-commits)
	}
	applied := run(t, s, lav2.Options{Apply: true, DropOld: true})
	if diff := cmp.Diff(dry.Tables, applied.Tables); diff != "" || len(dry.Tables) != 8 || dry.Applied {
		t.Errorf("dry (-) and applied (+):\n%s", diff)
	}
	want := lav2.Counts{
		Read: 600 + 12 + 48, Written: 300 + 12 - 2, AlreadyThere: 2,
		Skipped:    map[string]int64{"no device": 100, "expired": 100, "not needed": 48},
		Unreadable: map[string]int64{"updateToken is not an Apple token": 100},
		Left:       map[string]int64{"appVersion": 100, "id": 310},
	}
	if diff := cmp.Diff(want, applied.Total); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if applied.KeptOld == "" || len(items(t, s, "state-hashes")) != 12 {
		t.Error("the old tables were dropped although some rows cannot be read")
	}
	for _, it := range items(t, s, tables.LiveActivities) {
		if it["userId#deviceId"].Str() == "user-6#phone" && it["updateToken"].Str() != token(999) {
			t.Errorf("a new row was changed: %v", it)
		}
	}
}

// A run may end after any transaction: the next one continues from there and ends with the same rows.
func TestInterrupted(t *testing.T) {
	whole := manyOld(t)
	want := run(t, whole, lav2.Options{Apply: true})
	s := manyOld(t)
	for at := 1; ; at++ {
		ctx, cancel := context.WithCancel(t.Context())
		pages := 0
		r, err := lav2.Run(ctx, s, lav2.Options{Apply: true, Progress: func(string, int64) {
			if pages++; pages == at {
				cancel()
			}
		}})
		cancel()
		if err == nil {
			if r.Total.Written+r.Total.AlreadyThere != want.Total.Written+want.Total.AlreadyThere {
				t.Errorf("%+v", r.Total)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || len(r.Tables) == 8 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	for _, table := range []string{tables.LiveActivities, tables.ActiveMatches} {
		if diff := cmp.Diff(items(t, whole, table), items(t, s, table)); diff != "" {
			t.Errorf("%s (-whole +interrupted):\n%s", table, diff)
		}
	}
}

// Old tables are dropped only after a complete run in which every row could be read, and only with DropOld.
func TestDropOld(t *testing.T) {
	s := open(t, "activity-subscriptions", "cricket-state-hashes")
	put(t, s, "activity-subscriptions", subscription(1, nil))
	put(t, s, "cricket-state-hashes", attr.Item{"id": attr.S("x")})
	r := run(t, s, lav2.Options{Apply: true})
	if r.Tables[0].Dropped || r.KeptOld != "" {
		t.Errorf("report %+v", r)
	}
	if r = run(t, s, lav2.Options{Apply: true, DropOld: true}); !r.Tables[0].Dropped || !r.Tables[1].Dropped {
		t.Errorf("report %+v", r)
	}
	for _, name := range []string{"activity-subscriptions", "cricket-state-hashes"} {
		if _, err := s.Describe(name); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(items(t, s, tables.LiveActivities)) != 1 {
		t.Error("the new row went with the old table")
	}
	if r = run(t, s, lav2.Options{Apply: true, DropOld: true}); len(r.Tables) != 0 {
		t.Errorf("a run without old tables: %+v", r)
	}
}

// A file of an earlier version has none of the new tables: a dry run takes them as empty, and creates none.
func TestDryRunOnAnEarlierFile(t *testing.T) {
	s := storetest.Open(t, tableSpec("activity-subscriptions"))
	put(t, s, "activity-subscriptions", subscription(1, nil), subscription(2, attr.Item{"deviceId": attr.Null()}))
	r := run(t, s, lav2.Options{})
	if r.Total.Written != 1 || r.Total.Skipped["no device"] != 1 || len(s.Tables()) != 1 {
		t.Errorf("%+v, %d tables", r.Total, len(s.Tables()))
	}
}
