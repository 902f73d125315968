package replica

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// A node logs once why there is no cloud and what to do, once that the cloud is reached, and once that it is lost.
func TestLinkIsLogged(t *testing.T) {
	for _, tt := range []struct {
		err      error
		line     string
		alarm    string // empty: no action needed
		lastHas  string
		lastOnce string
	}{
		{
			&intent.Error{Class: intent.NoTable, Err: errors.New("GetItem: ResourceNotFoundException")},
			`level=ERROR msg="no cloud: the cloud has no table touchline-sync" do="touchline migrate --cloud creates it" class="no table"`,
			"Nothing is sent: the cloud has no table touchline-sync; touchline migrate --cloud creates it.", "no table: GetItem", "GetItem",
		},
		{
			&intent.Error{Class: intent.Credentials, Err: errors.New("GetItem: UnrecognizedClientException")},
			`level=ERROR msg="no cloud: the cloud does not accept this node's credentials"`,
			"Nothing is sent: the cloud does not accept this node's credentials; check its keys, profile or role.", "credentials: GetItem", "GetItem",
		},
		{
			&intent.Error{Class: intent.Denied, Err: errors.New("GetItem: AccessDeniedException")},
			`level=ERROR msg="no cloud: this node lacks permissions in the cloud"`,
			"Nothing is sent: this node lacks permissions in the cloud; docs/cloud.md has the policy.", "denied: GetItem", "GetItem",
		},
		{
			&intent.Error{Class: intent.Offline, Err: &intent.Error{Class: intent.Offline, Err: errors.New("GetItem: no such host")}},
			`level=WARN msg="no cloud: the cloud cannot be reached; the node keeps trying, and serves what it has" class=offline`,
			"", "offline: GetItem: no such host", "offline",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newShelf(t)
			c.fail = func(string, string) error { return tt.err }
			var log bytes.Buffer
			n := openNode(t, c, t.TempDir(), func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			stop := n.run(t)
			letPass(5 * time.Minute)
			st, err := n.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(st.Alarms, "\n"); got != tt.alarm || st.Up || st.Reached {
				t.Errorf("alarms %q, want %q; %+v", got, tt.alarm, st.LinkState)
			}
			if !strings.Contains(st.LastError, tt.lastHas) || strings.Count(st.LastError, tt.lastOnce) != 1 {
				t.Errorf("last error %q", st.LastError)
			}
			c.set(func() { c.fail = nil })
			letPass(time.Minute)
			if st, err = n.Status(t.Context()); err != nil || !st.Up || !st.Reached || len(st.Alarms) != 0 {
				t.Errorf("%+v, %q, %v", st.LinkState, st.Alarms, err)
			}
			stop()
			if strings.Count(log.String(), tt.line) != 1 || strings.Count(log.String(), "no cloud: ") != 1 || strings.Count(log.String(), "connected to the cloud") != 1 {
				t.Errorf("log, want %s once:\n%s", tt.line, &log)
			}
		})
	}
}

// AwaitCloud waits for the cloud's first answer for as long as a request may take, and returns at once in later outages.
func TestAwaitCloud(t *testing.T) {
	for _, tt := range []struct {
		there, latest time.Duration // when the cloud is there, and when the wait must have ended, both after the start
	}{{0, time.Second}, {4 * time.Second, 10 * time.Second}, {time.Hour, 10 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			c := newShelf(t)
			n := openNode(t, c, t.TempDir(), func(c *Config) { c.Deadline = 10 * time.Second })
			began := time.Now()
			want := 10 * time.Second // or at the first answer, which depends on when a probe is sent
			c.set(func() {
				c.fail = func(op, table string) error {
					if time.Since(began) < tt.there {
						return away(op, table)
					}
					want = min(want, time.Since(began))
					return nil
				}
			})
			stop := n.run(t)
			if err := n.AwaitCloud(t.Context()); err != nil {
				t.Error(err)
			}
			took := time.Since(began)
			c.set(func() {
				if took < want || took > want+100*time.Millisecond || took > tt.latest {
					t.Errorf("cloud there after %v, first answer or deadline after %v: it waited %v", tt.there, want, took)
				}
			})
			if tt.there < 10*time.Second {
				letPass(time.Minute) // it is reached
				c.set(func() { c.fail = away })
				letPass(2 * time.Minute)
				began = time.Now()
				if err := n.AwaitCloud(t.Context()); err != nil || time.Since(began) > 0 {
					t.Errorf("in a later outage it waited %v, %v", time.Since(began), err)
				}
			}
			stop()
		})
	}
}

// The loss of the cloud is logged once, with its class once, whether a write or a read of the feed finds it.
func TestLossIsLogged(t *testing.T) {
	gone := &intent.Error{Class: intent.Offline, Err: &intent.Error{Class: intent.Offline, Err: errors.New("no such host")}}
	for _, finder := range []string{"write", "read"} {
		t.Run(finder, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newShelf(t)
				var log bytes.Buffer
				n := openNode(t, c, t.TempDir(), func(c *Config) {
					c.Log, c.Poll = slog.New(slog.NewTextHandler(&log, nil)), []feed.Rule{{Table: "teams"}}
				})
				stop := n.run(t)
				letPass(time.Minute)
				away := false
				c.set(func() {
					c.fail = func(op, _ string) error {
						if away = away || op == finder; away {
							return gone
						}
						return nil
					}
				})
				if finder == "write" {
					n.put(t, "teams", team("x", 0))
				}
				letPass(5 * time.Minute)
				st, err := n.Status(t.Context())
				if err != nil || st.Up || strings.Count(st.LastError, "offline") != 1 {
					t.Errorf("last error %q, %v", st.LastError, err)
				}
				for _, f := range st.Feed {
					if strings.Count(f.LastError, "offline") > 1 {
						t.Errorf("%s: last error %q", f.Rule, f.LastError)
					}
				}
				stop()
				const line = `level=WARN msg="the cloud cannot be reached" error="offline: no such host"`
				if strings.Count(log.String(), line) != 1 || strings.Count(log.String(), "cannot be reached") != 1 {
					t.Errorf("log, want %s once:\n%s", line, &log)
				}
			})
		})
	}
}

// A table whose keys differ in the cloud is stopped until they match, and the status says what to do. Its contents are not shown, even if
// they look like valid items.
func TestTableWithOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		str := func(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
		keys := func(k store.KeySpec) {
			c.set(func() { c.state["follows"] = remote.TableState{ID: "follows-1", Key: k} })
		}
		keys(store.KeySpec{Partition: str("match"), Sort: store.KeyAttr{Name: "user", Type: store.KeyNumber}})
		n := openNode(t, c, t.TempDir(), func(cfg *Config) { cfg.Poll = []feed.Rule{{Table: "follows", Every: 5 * time.Second}} })
		n.put(t, "follows", follow("m", "u"))
		c.foreign(t, "follows", nil, follow("m", "alien"))
		shown := func(want bool) {
			t.Helper()
			if err := n.feed.Ensure(t.Context(), "follows", follow("m", "alien")); err != nil {
				t.Error(err)
			}
			if it := n.row(t, "follows", follow("m", "alien")); (it != nil) != want {
				t.Errorf("shows the foreign item %v, want shown %v", it, want)
			}
		}
		stop := n.run(t)
		letPass(time.Minute)
		shown(false)
		st, err := n.Status(t.Context())
		want := "Nothing is sent to the table follows (1 write waits): its keys in the cloud differ (match S, user N, here match S, user S): " +
			"touchline migrate --cloud --dry-run shows the differences."
		if err != nil || strings.Join(st.Alarms, "\n") != want {
			t.Errorf("%q, %v", st.Alarms, err)
		}
		if want := "follows is not read: its keys in the cloud differ"; st.Feed[0].LastError != want || st.Feed[0].Passes != 0 {
			t.Errorf("%+v, want %q", st.Feed[0], want)
		}
		keys(store.KeySpec{Partition: str("match"), Sort: str("user")})
		letPass(10 * time.Minute)
		if st, err = n.Status(t.Context()); err != nil || len(st.Alarms) != 0 || st.Waiting != 0 {
			t.Errorf("%q, %d writes wait, %v", st.Alarms, st.Waiting, err)
		}
		shown(true)
		stop()
	})
}

func TestStoppedAlarms(t *testing.T) {
	table := func(name string, waiting int64, why string) TableStatus {
		return TableStatus{Table: name, Waiting: waiting, Behind: waiting, Stopped: &flow.StoppedTable{Table: name, Why: why}}
	}
	got := stoppedAlarms([]TableStatus{table("a", 1, "x"), table("b", 0, "x"), table("c", 2, "x"), table("d", 1, "y"), {Table: "e", Waiting: 3}})
	want := "[Nothing is sent to the tables a, c (3 writes wait): x. Nothing is sent to the table d (1 write waits): y.]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v", got)
	}
}

// Two copies started together notice each other within half a minute, and say what to do.
func TestCopiesFindOutSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, o, cl := copies(t)
		stopO, stopC := o.run(t), cl.run(t)
		letPass(45 * time.Second)
		for _, n := range []*feedNode{o, cl} {
			st, err := n.Status(t.Context())
			if err != nil || !strings.Contains(strings.Join(st.Alarms, " "), "end one of them for good and restart the other") {
				t.Errorf("after 45 s: %q, %v", st.Alarms, err)
			}
			if strings.Contains(st.LastError, "denied") {
				t.Errorf("last error %q", st.LastError)
			}
		}
		stopO()
		stopC()
	})
}

// A line that loses every tenth answer is named. The node stays connected, and its writes arrive.
func TestPoorLineIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, func(cfg *Config) { cfg.Poll = []feed.Rule{{Table: "teams", Every: 5 * time.Second}} })
		stop := n.run(t)
		letPass(time.Minute)
		asked := 0
		c.set(func() {
			c.after = func(string, string) error {
				if asked++; asked%10 == 0 {
					return &intent.Error{Class: intent.Unknown, Err: lostError{}}
				}
				return nil
			}
		})
		for i := range 200 {
			n.put(t, "teams", team(fmt.Sprint("t", i), int64(i)))
			letPass(100 * time.Millisecond)
		}
		st := n.status(t)
		if !st.Up || st.Drops != 0 || st.Waiting > 20 || !strings.HasPrefix(st.Reason, "poor line: ") || !strings.HasSuffix(st.Reason, " % of the answers are lost") {
			t.Errorf("state %s, %q, %d drops, %d writes wait", st.State, st.Reason, st.Drops, st.Waiting)
		}
		c.heal()
		letPass(3 * time.Minute)
		if st := n.status(t); st.State != "in_step" || st.Reason != "" || st.Conflicts.Kept != 0 {
			t.Errorf("on a good line: state %s, %q, %d conflicts", st.State, st.Reason, st.Conflicts.Kept)
		}
		stop()
	})
}

// lostError is what a client says of a request that was not answered.
type lostError struct{}

func (lostError) Error() string { return "a test: no answer" }
func (lostError) Offline() bool { return true }

// After an outage two requests are enough to send again. The tables were checked when the process began, and are checked later beside the
// sending.
func TestComingBackTakesTwoRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		stop := n.run(t)
		letPass(time.Minute)
		checked := c.count("table teams")
		if checked == 0 {
			t.Fatal("a new process has not checked the tables")
		}
		c.set(func() { c.fail = away })
		n.put(t, "teams", team("x", 0))
		letPass(time.Minute)
		if n.status(t).Up {
			t.Fatal("the cloud does not count as away")
		}
		var back []string
		c.set(func() {
			c.fail = func(op, table string) error {
				back = append(back, op+" "+table)
				return nil
			}
		})
		letPass(30 * time.Second)
		n.waits(t, 0)
		c.set(func() {
			sent := 0
			for sent < len(back) && back[sent] != "write teams" {
				sent++
			}
			checks := slices.ContainsFunc(back[:sent], func(asked string) bool { return strings.HasPrefix(asked, "table ") })
			if checks || sent > 4 { // the node's row is read and written, perhaps again because its minute is over
				t.Errorf("before the first write it asked %q", back[:sent])
			}
		})
		letPass(10 * time.Minute)
		if c.count("table teams") == checked {
			t.Error("the tables are not checked any more")
		}
		stop()
	})
}

// A check of the tables that is interrupted goes on where it was.
func TestChecksAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		tables := 0
		c.fail = func(op, _ string) error {
			if op != "table" {
				return nil
			}
			if tables++; tables%2 == 0 {
				return &intent.Error{Class: intent.Unknown, Err: lostError{}}
			}
			return nil
		}
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		letPass(time.Minute)
		if !n.status(t).Up {
			t.Error("every second check is lost, and the node has not connected in a minute")
		}
		for _, table := range []string{"teams", "follows", "leagues"} {
			if got := c.count("table " + table); got > 2 {
				t.Errorf("%s was checked %d times", table, got)
			}
		}
		stop()
	})
}
