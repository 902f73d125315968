package replica

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/intent"
)

// readsAs says in words that reads of a table were refused.
func readsAs(table, actions, span string) string {
	return "Requests that depend on what others write to " + table + " are judged without it; " + actions + " refused for " + span +
		": this node may not read them (docs/cloud.md has the policy)."
}

// wantMetric checks a metric of a table, or one that is of no table.
func (n *feedNode) wantMetric(t testing.TB, when, name, table string, want float64) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(n.Collector())
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if of := m.GetLabel(); f.GetName() == "touchline_sync_"+name && len(of) <= 1 {
				got[strings.Join(labelValues(of), "")] = m.GetGauge().GetValue()
			}
		}
	}
	if v, ok := got[table]; !ok || v != want {
		t.Errorf("%s: %s is %v, want %v for %q", when, name, got, want, table)
	}
}

func labelValues(labels []*dto.LabelPair) (values []string) {
	for _, l := range labels {
		values = append(values, l.GetValue())
	}
	return values
}

// readTeam reads a team as a request at the endpoint does that depends on it.
func (n *feedNode) readTeam(t testing.TB, id string) error {
	t.Helper()
	err := n.ReadFresh(t.Context(), "teams", teamKey(id))
	if err != nil && !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
	return err
}

// A table without a rule whose reads the cloud refuses, while writes go on, is said to be so, until the first read that succeeds. The time in
// which the cloud is away does not count.
func TestRefusedReadsAreAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, func(cfg *Config) { cfg.Poll = []feed.Rule{{Table: "leagues"}} })
		stop := n.run(t)
		n.online(t)
		barred := failing(intent.Denied, func(op, table string) bool { return (op == "get" || op == "read") && table == "teams" })
		if err := n.readTeam(t, "x"); err != nil {
			t.Fatal(err)
		}
		c.set(func() { c.fail = barred })
		if n.readTeam(t, "x") == nil {
			t.Fatal("the read was not refused")
		}
		letPass(80 * time.Second)
		n.wantAlarms(t, "after 80 seconds")
		n.wantMetric(t, "after 80 seconds", "reads_refused", "teams", 0)
		letPass(220 * time.Second)
		n.put(t, "teams", team("y", 0))
		letPass(time.Second)
		n.waits(t, 0)
		n.wantAlarms(t, "after five minutes", readsAs("teams", "Query", "5 minutes"))
		n.wantMetric(t, "after five minutes", "reads_refused", "teams", 1)
		n.wantMetric(t, "after five minutes", "standstills", "", 1)
		if st := n.status(t); st.State != "in_step" {
			t.Errorf("state %s", st.State)
		}

		c.set(func() { c.fail = away })
		letPass(10 * time.Minute)
		n.wantAlarms(t, "while the cloud is away")
		n.wantMetric(t, "while the cloud is away", "standstills", "", 0)
		c.set(func() { c.fail = barred })
		n.online(t)
		n.wantAlarms(t, "when it has come back")
		letPass(100 * time.Second)
		n.wantAlarms(t, "later", readsAs("teams", "Query", "100 seconds"))

		c.heal()
		if err := n.readTeam(t, "x"); err != nil {
			t.Error(err)
		}
		letPass(time.Millisecond) // in which other kinds of reads are tried
		n.wantAlarms(t, "after a read")
		n.wantMetric(t, "after a read", "reads_refused", "teams", 0)
		letPass(10 * time.Minute)
		n.wantAlarms(t, "ten minutes after it")
		stop()
	})
}

// Reads that are never answered say nothing about a permission.
func TestLostReadsAreNoAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		n.online(t)
		c.set(func() {
			c.fail = func(op, table string) error {
				if op == "read" && table == "teams" {
					return away(op, table)
				}
				return nil
			}
		})
		for range 30 {
			_ = n.readTeam(t, "x")
			letPass(10 * time.Second)
		}
		if st := n.status(t); len(st.Refused) != 0 {
			t.Errorf("%+v", st.Refused)
		}
	})
}

// A table that is written and never read is probed, so that it is known whether a request that depends on it could read it. That costs a read
// of nothing each half minute in which something was written.
func TestWrittenTableIsProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, func(cfg *Config) { cfg.Poll = []feed.Rule{{Table: "leagues"}} })
		n.online(t)
		reads := func() int {
			return c.count("get teams") + c.count("read teams") + c.count("get follows") + c.count("read follows")
		}
		letPass(10 * time.Minute)
		if got := reads(); got != 0 {
			t.Errorf("tables that nobody uses were read %d times", got)
		}
		c.refuse(intent.Denied, func(op, table string) bool {
			return (op == "get" || op == "read") && table != "touchline-sync" && table != "leagues"
		})
		n.put(t, "teams", team("x", 0))
		n.put(t, "follows", follow("m", "u"))
		letPass(4 * time.Minute)
		n.waits(t, 0)
		n.wantAlarms(t, "after four minutes", readsAs("follows", "GetItem", "3 minutes"), readsAs("teams", "Query", "3 minutes"))
		c.heal()
		letPass(probePause)
		n.wantAlarms(t, "when they may be read again")

		asked := reads()
		letPass(10 * time.Minute)
		if got := reads() - asked; got != 0 {
			t.Errorf("tables that may be read and are not written were read %d times", got)
		}
		asked = reads()
		for range 600 {
			n.bump(t, "x")
			letPass(time.Second)
		}
		if got := reads() - asked; got < 9 || got > 21 {
			t.Errorf("a table that is written all the time was read %d times in ten minutes", got)
		}
	})
}

// probePause is after how long the end of a refusal is known at the latest.
const probePause = 31 * time.Second

// Each kind of read has a permission of its own: what succeeds says nothing about the other. Once one succeeds that was refused, the other is
// tried at once. Tables with one reason share a line.
func TestRefusedReadsByAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, func(cfg *Config) { cfg.Poll = []feed.Rule{{Table: "leagues"}} })
		n.online(t)
		read := func(table string, keys ...attr.Item) (err error) {
			for _, key := range keys {
				err = n.ReadFresh(t.Context(), table, key)
			}
			return err
		}
		part := attr.Item{"match": attr.S("m")}
		bar := func(ops ...string) {
			c.refuse(intent.Denied, func(op, table string) bool {
				return slices.Contains(ops, op) && (table == "follows" || table == "teams")
			})
		}
		bar("get")
		for range 12 {
			_ = read("follows", follow("m", "u"), part)
			_ = read("teams", teamKey("x"))
			letPass(10 * time.Second)
		}
		n.wantAlarms(t, "without GetItem", readsAs("follows", "GetItem", "2 minutes"))
		bar("get", "read")
		_ = read("follows", part)
		_ = read("teams", teamKey("x"))
		letPass(2 * time.Minute)
		n.wantAlarms(t, "without both", readsAs("follows", "GetItem and Query", "4 minutes"), readsAs("teams", "Query", "2 minutes"))
		bar("get")
		letPass(probePause)
		n.wantAlarms(t, "with Query", readsAs("follows", "GetItem", "4 minutes"))
		bar("get", "read")
		_ = read("follows", part)
		letPass(2 * time.Minute)
		n.wantAlarms(t, "without both again", readsAs("follows", "GetItem and Query", "6 minutes"))
		c.heal()
		if err := read("follows", follow("m", "u")); err != nil {
			t.Error(err)
		}
		letPass(time.Millisecond)
		n.wantAlarms(t, "when one was read")

		bar("get", "read")
		_ = read("follows", part)
		_ = read("teams", teamKey("x"))
		letPass(3 * time.Minute)
		n.wantAlarms(t, "two tables", readsAs("follows, teams", "Query", "3 minutes"))
		c.refuse(intent.Throttled, func(op, table string) bool { return op == "read" && table == "teams" })
		letPass(probePause)
		n.wantAlarms(t, "when reads are throttled",
			"Requests that depend on what others write to teams are judged without it; Query refused for 3 minutes: throttled: a test.")
	})
}

// Items of a table with a rule are read when a request depends on them, too. If the rule reads nothing either, one line says so.
func TestRefusedReadsBesideARule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, func(cfg *Config) { cfg.Poll = []feed.Rule{{Table: "follows"}} })
		letPass(time.Minute)
		c.refuse(intent.Denied, func(op, table string) bool { return op == "get" && table == "follows" })
		if err := n.Ensure(t.Context(), "follows", follow("m", "u")); err != nil {
			t.Fatal(err)
		}
		letPass(2 * time.Minute)
		n.wantAlarms(t, "without GetItem", readsAs("follows", "GetItem", "2 minutes"))
		c.refuse(intent.Denied, func(op, table string) bool { return (op == "get" || op == "read") && table == "follows" })
		letPass(3 * time.Minute)
		if st := n.status(t); len(st.Standstill) != 1 || st.Feed[0].LateSince.IsZero() || len(st.Refused) != 1 {
			t.Errorf("with neither: %q", st.Standstill)
		}
	})
}

// A table that is gone from here, or from the cloud, and a read that is wrong by itself are no refusals.
func TestNoRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		n.online(t)
		only := func(op, table string) bool { return op == "read" && table == "teams" }
		for _, class := range []intent.Class{intent.NoTable, intent.Validation} {
			c.refuse(class, only)
			for range 20 {
				if n.readTeam(t, "x") == nil {
					t.Fatal("the read was not refused")
				}
				letPass(10 * time.Second)
			}
			n.wantAlarms(t, class.String())
			c.heal()
		}
		c.refuse(intent.Denied, only)
		_ = n.readTeam(t, "x")
		letPass(2 * time.Minute)
		n.wantAlarms(t, "refused", readsAs("teams", "Query", "2 minutes"))
		c.refuse(intent.NoTable, only)
		letPass(probePause)
		n.wantAlarms(t, "gone from the cloud")
		c.refuse(intent.Denied, only)
		_ = n.readTeam(t, "x")
		letPass(2 * time.Minute)
		n.wantAlarms(t, "refused again", readsAs("teams", "Query", "2 minutes"))
		if err := n.st.DropTable(t.Context(), "teams"); err != nil {
			t.Fatal(err)
		}
		letPass(10 * time.Second) // the specs are looked at every five seconds
		n.wantAlarms(t, "dropped here")
	})
}
