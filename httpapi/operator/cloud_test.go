package operator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// The page explains in words what a figure alone would not tell, and shows no unknown figures.
func TestCloudTableWords(t *testing.T) {
	st := SyncStatus{Configured: true, Status: replica.Status{State: "stopped", Reason: "the cloud has no table touchline-sync; touchline migrate --cloud creates it", Waiting: 1}, Prefix: "prod-"}
	text := fmt.Sprint(cloudTable(&st, time.Time{}).Rows)
	for _, want := range []string{
		"stopped: the cloud has no table touchline-sync; touchline migrate --cloud creates it; 1 write waiting", "prod-",
		"Kept after sending", "outcome not known yet", "not shown here", "unknown: the cloud has not been reached yet",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	st.Reached, st.Skew, st.Mode = true, 0.01, "strict"
	st.LastError, st.LastErrorAt = "offline: GetItem", time.Date(2026, 11, 22, 7, 30, 1, 0, time.UTC)
	now := st.LastErrorAt.Add(time.Minute)
	text = fmt.Sprint(cloudTable(&st, now).Rows)
	for _, want := range []string{"+0.0 s off the cloud's", "offline: GetItem (07:30:01)", "strict: work that needs a lease stops"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	st.Leases = []lease.Status{{Key: "match:7", Fence: 41, Deadline: now}}
	refused := conflict.View{Head: conflict.Head{ID: 3}, Table: "teams", Key: attr.Item{"teamId": attr.S("9")}}
	text = fmt.Sprint((&State{At: now, Sync: st, Conflicts: []conflict.View{refused}}).Page().Tables)
	for _, want := range []string{"match:7 41 07:31:01", `{"teamId":{"S":"9"}}`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	st.SendsOnly = []string{"wrk", "more"}
	if text := fmt.Sprint(cloudTable(&st, now).Rows); !strings.Contains(text, "sends only: wrk, more (") {
		t.Error(text)
	}
	st.State, st.Reason = "behind", "" // with writes from before the clock was set: the time is unknown
	if text := cloudSentence(&st, now); text != "behind: 1 write waiting" {
		t.Error(text)
	}
	st.Reason = "poor line: 10 % of the answers are lost"
	if text := cloudSentence(&st, now); text != "behind: 1 write waiting; poor line: 10 % of the answers are lost" {
		t.Error(text)
	}
}
