package migrations_test

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
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

func lav2Now() time.Time { return time.Date(2026, 10, 9, 15, 0, 0, 0, time.UTC) }

func token(n int) string { return fmt.Sprintf("%064x", n) }

func items(t *testing.T, s *store.Store, table string) []attr.Item {
	t.Helper()
	var out []attr.Item
	err := s.View(t.Context(), func(tx *store.Tx) error {
		for item, err := range tx.ScanAll(store.Scan{Table: table}) {
			if err != nil {
				return err
			}
			out = append(out, item)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// oldStore has the old tables by these names, each with a partition key id.
func oldStore(t *testing.T, tables ...string) *store.Store {
	t.Helper()
	s := storetest.OpenWith(t, t.TempDir()+"/touchline.db", store.Options{NoSync: true, Now: lav2Now})
	if err := migrations.Apply(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for _, name := range tables {
		err := s.CreateTable(t.Context(), store.TableSpec{
			Name: name, Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}},
			Policy: store.PolicyIntent, Why: "test",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func subscription(id int, more attr.Item) attr.Item {
	it := attr.Item{
		"id": attr.S(fmt.Sprintf("sub-%05d", id)), "matchId": attr.Int(71344), "userId": attr.S(fmt.Sprintf("user-%d", id)),
		"deviceId": attr.S("phone"), "pushToken": attr.S(token(id)), "status": attr.S("active"),
		"startedAt": attr.S("2026-10-09T13:00:00Z"),
	}
	maps.Copy(it, more)
	for name, v := range it {
		if v.Kind() == attr.KindNull {
			delete(it, name)
		}
	}
	return it
}

func lav2(t *testing.T, s *store.Store, o migrations.LAv2Options) migrations.LAv2Report {
	t.Helper()
	r, err := migrations.NewLAv2(s, migrations.LAv2Names{}).Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Total.Read != r.Total.Written+r.Total.AlreadyThere+migrations.Sum(r.Total.Skipped)+migrations.Sum(r.Total.Unreadable) {
		t.Errorf("the counts do not add up: %+v", r.Total)
	}
	return r
}

type sessionCase struct {
	name string
	old  attr.Item // over the row of subscription(1)
	want func(s *cricket.Session)
	skip string // reason
	bad  string
}

func sessionCases() []sessionCase {
	now, began := lav2Now(), time.Date(2026, 10, 9, 13, 0, 0, 0, time.UTC)
	day := now.Add(24 * time.Hour).Unix()
	none := attr.Null()
	return []sessionCase{
		{"active", nil, func(*cricket.Session) {}, "", ""},
		{"other names and types", attr.Item{
			"matchId": none, "fixtureId": attr.S(" 71344 "), "pushToken": none, "token": attr.S(strings.ToUpper(token(0xabc))),
			"status": none, "isActive": attr.Bool(true), "startedAt": none, "createdAt": attr.Int(began.UnixMilli()),
			"ttl": attr.S(fmt.Sprint(now.Add(time.Hour).Unix())),
		}, func(s *cricket.Session) { s.UpdateToken, s.TTL = token(0xabc), now.Add(time.Hour).Unix() }, "", ""},
		{"no status", attr.Item{"status": none}, func(*cricket.Session) {}, "", ""},
		{"no start", attr.Item{"startedAt": none}, func(s *cricket.Session) {
			s.CreatedAt, s.SessionStartedAt = time.Time{}, now
		}, "", ""},
		{"no token yet", attr.Item{"pushToken": none, "status": none}, func(s *cricket.Session) {
			s.Status, s.UpdateToken, s.SessionStartedAt = cricket.SessionPending, "", time.Time{}
		}, "", ""},
		{"pending", attr.Item{"status": attr.S("PENDING")}, func(s *cricket.Session) {
			s.Status, s.UpdateToken, s.SessionStartedAt = cricket.SessionPending, "", time.Time{}
		}, "", ""},
		{"suspended", attr.Item{"status": attr.S("failed")}, func(s *cricket.Session) {
			s.Status, s.UpdateToken, s.SessionStartedAt, s.SuspendedAt = cricket.SessionSuspended, "", time.Time{}, now
		}, "", ""},
		{"ended: it owes no push", attr.Item{"status": attr.S("Unsubscribed"), "endedAt": attr.Int(began.Unix() + 60)},
			func(s *cricket.Session) {
				s.Status, s.UpdateToken, s.SessionStartedAt = cricket.SessionEnded, "", time.Time{}
				s.EndedAt = began.Add(time.Minute)
			}, "", ""},
		{"ended, with a token that is none", attr.Item{"status": attr.Bool(false), "pushToken": attr.S("x")},
			func(s *cricket.Session) {
				s.Status, s.UpdateToken, s.SessionStartedAt, s.EndedAt = cricket.SessionEnded, "", time.Time{}, now
			}, "", ""},
		{"kept too long", attr.Item{"ttl": attr.Int(now.AddDate(3, 0, 0).Unix())},
			func(s *cricket.Session) { s.TTL = now.AddDate(0, 0, 10).Unix() }, "", ""},
		{"no time to live, and a match that is known", attr.Item{"matchId": attr.S("500")}, func(s *cricket.Session) {
			s.MatchID, s.TTL = "500", now.Add(50*time.Hour).Unix()
		}, "", ""},
		{"of a match that is long over", attr.Item{"matchId": attr.S("400")}, nil, "expired", ""},
		{"a time to live that cannot be read", attr.Item{"ttl": attr.S("soon")}, func(s *cricket.Session) { s.TTL = day }, "", ""},
		{"the device by its token", attr.Item{"userId": attr.S("two"), "deviceId": attr.S(strings.ToUpper(token(0xb1)))},
			func(s *cricket.Session) { s.UserID, s.DeviceID = "two", "ipad" }, "", ""},
		{"the only device", attr.Item{"userId": attr.S("one"), "deviceId": none},
			func(s *cricket.Session) { s.UserID, s.DeviceID = "one", "iphone" }, "", ""},
		{"no device", attr.Item{"deviceId": none}, nil, "no device", ""},
		{"one of two devices", attr.Item{"userId": attr.S("two"), "deviceId": none}, nil, "several devices", ""},
		{"expired", attr.Item{"ttl": attr.Int(now.Unix())}, nil, "expired", ""},
		{"no match", attr.Item{"matchId": none}, nil, "", "no match id"},
		{"a match that is none", attr.Item{"matchId": attr.L()}, nil, "", "no match id"},
		{"no user", attr.Item{"userId": attr.S(" ")}, nil, "", "no user id"},
		{"a token that is none", attr.Item{"pushToken": attr.S("abc")}, nil, "", "token is none of Apple's"},
		{"a status that nobody knows", attr.Item{"status": attr.S("frozen")}, nil, "", "status is not known"},
	}
}

func TestSessions(t *testing.T) {
	for _, tt := range sessionCases() {
		t.Run(tt.name, func(t *testing.T) {
			s := oldStore(t, "cricket-activity-subscriptions")
			put(t, s, cricket.TableFixtures,
				attr.Item{"matchId": attr.S("500"), "startTime": attr.Time(lav2Now().Add(2 * time.Hour)), "type": attr.S("T20I")},
				attr.Item{"matchId": attr.S("400"), "startTime": attr.Time(lav2Now().AddDate(0, -1, 0)), "type": attr.S("T20I")})
			for user, devices := range map[string]map[string]int{"one": {"iphone": 0xa1}, "two": {"iphone": 0xb0, "ipad": 0xb1}} {
				for device, n := range devices {
					put(t, s, cricket.TableDevices, attr.Item{"userId": attr.S(user), "deviceToken": attr.S(token(n)),
						"deviceId": attr.S(device), "platform": attr.S("ios")})
				}
			}
			put(t, s, "cricket-activity-subscriptions", subscription(1, tt.old))
			r := lav2(t, s, migrations.LAv2Options{Apply: true})
			if tt.skip != "" || tt.bad != "" {
				if r.Total.Skipped[tt.skip] != b2i(tt.skip != "") || r.Total.Unreadable[tt.bad] != b2i(tt.bad != "") ||
					len(items(t, s, cricket.TableLiveActivities)) != 0 {
					t.Errorf("counts %+v", r.Total)
				}
				return
			}
			want := cricket.Session{
				MatchID: "71344", UserID: "user-1", DeviceID: "phone", Status: cricket.SessionActive, UpdateToken: token(1),
				CreatedAt: time.Date(2026, 10, 9, 13, 0, 0, 0, time.UTC), TTL: lav2Now().Add(24 * time.Hour).Unix(),
			}
			want.SessionStartedAt = want.CreatedAt
			tt.want(&want)
			want.Key = want.UserID + "#" + want.DeviceID
			var got cricket.Session
			err := s.View(t.Context(), func(tx *store.Tx) (err error) {
				got, err = cricket.Activities{}.Get(tx, want.MatchID, want.Key)
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

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func TestActiveMatches(t *testing.T) {
	now := lav2Now()
	tests := []struct {
		name string
		old  attr.Item
		want func(*cricket.State)
		skip string
		bad  string
	}{
		{"live", attr.Item{"status": attr.S("processing"), "instanceId": attr.S("i-1"), "lastTickAt": attr.Time(now.Add(-time.Second)),
			"previousStatus": attr.S("2nd Innings"), "lastBallId": attr.S("11917190"),
			"previousScore": attr.L(
				attr.M(attr.Item{"inning": attr.Int(2), "teamId": attr.Int(1), "score": attr.Int(10), "wickets": attr.Int(0), "overs": attr.S("1.2")}),
				attr.M(attr.Item{"inning": attr.Int(1), "runs": attr.Int(182), "wickets": attr.Int(8)})),
			"cooldowns": attr.M(attr.Item{"six": attr.Int(now.Add(time.Minute).UnixMilli()), "four": attr.Int(now.Add(time.Minute).Unix()),
				"wicket": attr.Int(5), "bad": attr.S("x")}),
		}, func(st *cricket.State) {
			st.PreviousStatus, st.MatchPhase, st.PreviousBallID = "2nd Innings", cricket.PhaseLive, 11917190
			st.PreviousScore = []cricket.PreviousScore{{Innings: 1, Runs: 182, Wickets: 8},
				{Innings: 2, TeamID: 1, Runs: 10, Overs: "1.2"}}
			st.Cooldowns = map[string]int64{"six": now.Add(time.Minute).UnixMilli(), "four": now.Add(time.Minute).UnixMilli()}
		}, "", ""},
		{"nothing but the match", nil, func(*cricket.State) {}, "", ""},
		{"the feed's word as status", attr.Item{"status": attr.S("Innings Break")}, func(st *cricket.State) {
			st.PreviousStatus, st.MatchPhase = "Innings Break", cricket.PhaseInningsBreak
		}, "", ""},
		{"about to start", attr.Item{"matchStatus": attr.S("NS")}, func(st *cricket.State) {
			st.Status, st.PreviousStatus, st.MatchPhase = cricket.ActiveIdle, "NS", cricket.PhasePrematch
		}, "", ""},
		{"ended", attr.Item{"status": attr.S("completed")}, func(st *cricket.State) {
			st.Status, st.TTL = cricket.ActiveEnded, now.Add(48*time.Hour).Unix()
		}, "", ""},
		{"a score in words", attr.Item{"previousScore": attr.S("182/8"), "cooldowns": attr.S("none"), "lastBallId": attr.S("?")},
			func(*cricket.State) {}, "", ""},
		{"half a score", attr.Item{"previousScore": attr.L(attr.M(attr.Item{"runs": attr.Int(3)}))}, func(*cricket.State) {}, "", ""},
		{"a time to live", attr.Item{"ttl": attr.Int(now.Add(time.Hour).Unix())}, func(st *cricket.State) {
			st.TTL = now.Add(time.Hour).Unix()
		}, "", ""},
		{"expired", attr.Item{"ttl": attr.Int(now.Unix() - 1)}, nil, "expired", ""},
		{"left lying", attr.Item{"updatedAt": attr.S("2026-10-01T00:00:00Z")}, nil, "not heard of for days", ""},
		{"no match", attr.Item{"matchId": attr.Null()}, nil, "", "no match id"},
		{"a status that nobody knows", attr.Item{"status": attr.S("frozen")}, nil, "", "status is not known"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := oldStore(t, "match-processing-state")
			old := attr.Item{"id": attr.S("x"), "matchId": attr.S("71344")}
			maps.Copy(old, tt.old)
			put(t, s, "match-processing-state", old)
			r := lav2(t, s, migrations.LAv2Options{Apply: true})
			rows := items(t, s, cricket.TableActiveMatches)
			if tt.skip != "" || tt.bad != "" {
				if r.Total.Skipped[tt.skip] != b2i(tt.skip != "") || r.Total.Unreadable[tt.bad] != b2i(tt.bad != "") || len(rows) != 0 {
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

// manyOld is a store with rows of every kind in all eight tables.
func manyOld(t *testing.T) *store.Store {
	t.Helper()
	s := oldStore(t, "activity-subscriptions", "cricket-activity-subscriptions", "match-processing-state",
		"cricket-match-processing-state", "prematch-notifications", "cricket-prematch-notifications", "state-hashes",
		"cricket-state-hashes")
	old := map[string][]attr.Item{}
	for i := range 60 {
		more := attr.Item{}
		switch i % 6 {
		case 1:
			more["deviceId"] = attr.Null()
		case 2:
			more["ttl"] = attr.Int(5)
		case 3:
			more["pushToken"] = attr.S("none")
		case 4: // the same session as the row before it in the other table, a minute later
			more["userId"], more["startedAt"] = attr.S(fmt.Sprintf("user-%d", i-4)), attr.S("2026-10-09T13:01:00Z")
		}
		table := "activity-subscriptions"
		if i%6 == 4 || i%5 == 0 {
			table = "cricket-activity-subscriptions"
		}
		old[table] = append(old[table], subscription(i, more))
	}
	for i := range 12 {
		for j, table := range []string{"match-processing-state", "cricket-match-processing-state"} {
			old[table] = append(old[table], attr.Item{"id": attr.S(fmt.Sprint(i)), "matchId": attr.Int(int64(i)),
				"lastTickAt": attr.Time(lav2Now().Add(time.Duration((i+j)%2) * -time.Minute)), "lastBallId": attr.Int(int64(10*i + j))})
		}
		for _, table := range []string{"prematch-notifications", "cricket-prematch-notifications", "state-hashes", "cricket-state-hashes"} {
			old[table] = append(old[table], attr.Item{"id": attr.S(fmt.Sprint(i))})
		}
	}
	for table, rows := range old {
		put(t, s, table, rows...)
	}
	put(t, s, cricket.TableLiveActivities, attr.Item{"matchId": attr.S("71344"), "userId#deviceId": attr.S("user-6#phone"),
		"updateToken": attr.S(token(999)), "status": attr.S("active")})
	put(t, s, cricket.TableActiveMatches, attr.Item{"matchId": attr.S("3"), "status": attr.S("ended")})
	return s
}

type outcome struct {
	Activities, Matches []attr.Item
	Total               migrations.LAv2Counts
	Tables              []migrations.LAv2Table
}

func outcomeOf(t *testing.T, s *store.Store, r migrations.LAv2Report) outcome {
	t.Helper()
	return outcome{items(t, s, cricket.TableLiveActivities), items(t, s, cricket.TableActiveMatches), r.Total, r.Tables}
}

// A dry run says exactly what a real one then does, and writes nothing.
func TestDryRun(t *testing.T) {
	s := manyOld(t)
	commits := s.Stats().Commits
	dry := lav2(t, s, migrations.LAv2Options{DropOld: true})
	if s.Stats().Commits != commits {
		t.Errorf("a dry run wrote %d times", s.Stats().Commits-commits)
	}
	if dry.Applied || !dry.Complete || len(dry.Tables) != 8 {
		t.Errorf("report %+v", dry)
	}
	applied := lav2(t, s, migrations.LAv2Options{Apply: true, DropOld: true})
	if diff := cmp.Diff(dry.Total, applied.Total); diff != "" {
		t.Errorf("dry (-) and applied (+):\n%s", diff)
	}
	if diff := cmp.Diff(dry.Tables, applied.Tables); diff != "" {
		t.Errorf("dry (-) and applied (+):\n%s", diff)
	}
	want := migrations.LAv2Counts{
		Read: 60 + 24 + 48, Written: 10 + 10 + 11 - 1, AlreadyThere: 2,
		Skipped:    map[string]int64{"no device": 10, "expired": 10, "a later row is carried": 10 + 12, "not needed": 48},
		Unreadable: map[string]int64{"token is none of Apple's": 10},
	}
	if diff := cmp.Diff(want, applied.Total); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if applied.KeptOld == "" || len(items(t, s, "state-hashes")) != 12 {
		t.Error("the old tables were dropped although some rows cannot be read")
	}
}

// What is there stays as it is, and of two old rows for one new row the later counts, wherever it lies.
func TestNewRowsStay(t *testing.T) {
	s := manyOld(t)
	lav2(t, s, migrations.LAv2Options{Apply: true, Batch: 7})
	tokens := rows(t, s, cricket.TableLiveActivities, "userId#deviceId", "updateToken")
	if tokens["user-6#phone"] != token(999) || tokens["user-0#phone"] != token(4) || tokens["user-12#phone"] != token(16) {
		t.Errorf("tokens %v", tokens)
	}
	balls := map[string]int64{}
	for _, it := range items(t, s, cricket.TableActiveMatches) {
		balls[it["matchId"].Str()], _ = it["previousBallId"].Int()
	}
	if balls["2"] != 20 || balls["5"] != 51 || balls["3"] != 0 {
		t.Errorf("balls %v", balls)
	}
}

// A second run finds everything there, writes no new row, and changes nothing.
func TestRunTwice(t *testing.T) {
	s := manyOld(t)
	first := lav2(t, s, migrations.LAv2Options{Apply: true})
	before := outcomeOf(t, s, first)
	second := lav2(t, s, migrations.LAv2Options{Apply: true})
	after := outcomeOf(t, s, second)
	if second.Resumed || second.Total.Written != 0 || second.Total.AlreadyThere != first.Total.Written+first.Total.AlreadyThere {
		t.Errorf("second run %+v", second)
	}
	if diff := cmp.Diff(before.Activities, after.Activities); diff != "" {
		t.Errorf("live-activities:\n%s", diff)
	}
	if diff := cmp.Diff(before.Matches, after.Matches); diff != "" {
		t.Errorf("active-matches:\n%s", diff)
	}
}

// A run that ends after any batch and is started again, once or each time, ends as one that was not interrupted: the
// same rows, the same counts.
func TestKilledAndResumed(t *testing.T) {
	killed := errors.New("killed")
	whole := manyOld(t)
	want := outcomeOf(t, whole, lav2(t, whole, migrations.LAv2Options{Apply: true, Batch: 9}))
	batches := 0
	migrations.RunWith(t.Context(), manyOld(t), migrations.LAv2Options{Apply: true, Batch: 9}, func(n int) error {
		batches = n
		return nil
	})
	if batches < 15 {
		t.Fatalf("only %d batches", batches)
	}
	for at := 1; at <= batches; at++ {
		s := manyOld(t)
		r, err := migrations.RunWith(t.Context(), s, migrations.LAv2Options{Apply: true, Batch: 9}, func(n int) error {
			if n == at {
				return killed
			}
			return nil
		})
		if !errors.Is(err, killed) || r.Complete {
			t.Fatalf("%+v, %v", r, err)
		}
		again := lav2(t, s, migrations.LAv2Options{Apply: true, Batch: 4})
		if !again.Resumed {
			t.Error("it began anew")
		}
		if diff := cmp.Diff(want, outcomeOf(t, s, again)); diff != "" {
			t.Fatalf("killed after batch %d (-whole +resumed):\n%s", at, diff)
		}
	}
	s := manyOld(t)
	for {
		r, err := migrations.RunWith(t.Context(), s, migrations.LAv2Options{Apply: true, Batch: 5}, func(int) error { return killed })
		if err == nil {
			if diff := cmp.Diff(want, outcomeOf(t, s, r)); diff != "" {
				t.Errorf("killed after every batch (-whole +resumed):\n%s", diff)
			}
			return
		}
	}
}

// An interrupted run is not taken up where the names have changed meanwhile.
func TestOtherNamesBeginAnew(t *testing.T) {
	s := manyOld(t)
	_, _ = migrations.RunWith(t.Context(), s, migrations.LAv2Options{Apply: true, Batch: 9}, func(int) error { return context.Canceled })
	names := migrations.LAv2Names{}
	names.Subscriptions.Token = []string{"nowhere"}
	r, err := migrations.NewLAv2(s, names).Run(t.Context(), migrations.LAv2Options{Apply: true})
	if err != nil || r.Resumed || r.Total.Read != 132 {
		t.Errorf("%+v, %v", r.Total, err)
	}
}

// Old tables go only after a complete run in which every row could be read, and only when that is asked for.
func TestDropOld(t *testing.T) {
	s := oldStore(t, "activity-subscriptions", "cricket-state-hashes")
	put(t, s, "activity-subscriptions", subscription(1, nil))
	put(t, s, "cricket-state-hashes", attr.Item{"id": attr.S("x")})
	r := lav2(t, s, migrations.LAv2Options{Apply: true})
	if r.Tables[0].Dropped || r.KeptOld != "" {
		t.Errorf("report %+v", r)
	}
	if r = lav2(t, s, migrations.LAv2Options{Apply: true, DropOld: true}); !r.Tables[0].Dropped || !r.Tables[1].Dropped {
		t.Errorf("report %+v", r)
	}
	for _, name := range []string{"activity-subscriptions", "cricket-state-hashes"} {
		if _, err := s.Describe(name); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(items(t, s, cricket.TableLiveActivities)) != 1 {
		t.Error("the new row went with the old table")
	}
	if r = lav2(t, s, migrations.LAv2Options{Apply: true, DropOld: true}); len(r.Tables) != 0 || !r.Complete {
		t.Errorf("a run without old tables: %+v", r)
	}
}

// A file of a version before has none of the new tables: a dry run takes them to be empty, and makes none.
func TestDryRunOnAnEarlierFile(t *testing.T) {
	s := storetest.Open(t, store.TableSpec{
		Name: "activity-subscriptions", Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}},
		Policy: store.PolicyIntent, Why: "test",
	})
	put(t, s, "activity-subscriptions", subscription(1, nil), subscription(2, attr.Item{"deviceId": attr.Null()}))
	r := lav2(t, s, migrations.LAv2Options{})
	if r.Total.Written != 1 || r.Total.Skipped["no device"] != 1 || len(s.Tables()) != 1 {
		t.Errorf("%+v, %d tables", r.Total, len(s.Tables()))
	}
}
