package node_test

import (
	"maps"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store/attr"
)

// Somebody restores the locks table to an earlier time: the Status page says so in words, a metric counts it, and the work goes on under a
// higher fence than before.
func TestLocksTableWentBack(t *testing.T) { synctest.Test(t, playLocksTableWentBack) }

func playLocksTableWentBack(t *testing.T) {
	c := &counter{}
	cloud, network := sharedCloud(t, cricketapp.New(), c.app())
	_, connection := linked(network, "a")
	client := besideInBubble(t, c, connection)
	page := func(path string) string {
		t.Helper()
		_, body := askBy(t, client, "http://localhost"+path)
		return body
	}
	key := attr.Item{"lockKey": attr.S("counter:tick")}
	fence := func() int64 {
		is, _ := cloud.Item(app.LocksTable, key)["fence"].Int()
		return is
	}
	wait.Until(t, "the job runs", func() bool { return c.ticks.Load() > 0 })
	if hub := page("/_/hub"); strings.Contains(hub, "went back") {
		t.Errorf("before anything happened: %s", hub)
	}
	today := fence()
	yesterday := maps.Clone(cloud.Item(app.LocksTable, key))
	yesterday["fence"], yesterday["expiresAt"], yesterday["holder"] = attr.Int(today-86_400_000_000), attr.Int(0), attr.S("b#x")
	if err := (simcloud.Foreign{Cloud: cloud, Name: "owner"}).Put(app.LocksTable, yesterday); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the job has the lock again", func() bool { return fence() > today })
	const words = "The locks table touchline-locks went back to an earlier state: counter:tick"
	wait.Until(t, "the Status page has a line", func() bool { return strings.Contains(page("/_/hub"), words) })
	if metrics := page("/metrics"); !strings.Contains(metrics, "touchline_locks_went_back_total 1\n") {
		t.Error("the metric does not count it")
	}
}
