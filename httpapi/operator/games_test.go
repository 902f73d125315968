package operator

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/backlog"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/identity"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// Each reason for which a write can wait is said in words, the one that matters most first.
func TestWhyAGameWaits(t *testing.T) {
	at := time.Date(2026, 11, 29, 14, 2, 0, 0, time.UTC)
	waiting := backlog.Unsent{Writes: 1, Oldest: at, First: outbox.ID{Seq: 1<<40 + 5}, Tables: []string{"games"}}
	parked := replica.WorkerStatus{Parked: []replica.ParkStatus{{WriteID: "n.1.1099511627781", Why: "hold"}}}
	for want, tt := range map[string]struct {
		status replica.Status
		unsent backlog.Unsent
	}{
		"the cloud cannot be reached":                  {replica.Status{State: "offline", Since: at}, waiting},
		"nothing is sent: the credentials are refused": {replica.Status{State: "stopped", Reason: "the credentials are refused"}, waiting},
		"nothing is sent to the table games: no table": {replica.Status{State: "behind", Tables: []replica.TableStatus{{Table: "games", Stopped: &flow.StoppedTable{Why: "no table"}}}}, waiting},
		"a late copy of a request may still create the item again: it is deleted once no copy can arrive": {replica.Status{
			State: "behind", Workers: []replica.WorkerStatus{parked}, Node: identity.Status{Node: "n"},
		}, waiting},
		"slowed down by the cloud to 3 a second": {replica.Status{State: "behind", Tables: []replica.TableStatus{{Table: "games", Pace: flow.Pace{Rate: 3}}}}, waiting},
		"sent, and not answered yet":             {replica.Status{State: "behind"}, backlog.Unsent{Writes: 2, Unanswered: 1}},
		"on its way":                             {replica.Status{State: "behind", Tables: []replica.TableStatus{{Table: "others", Stopped: &flow.StoppedTable{}}}}, waiting},
		"":                                       {replica.Status{State: "offline"}, backlog.Unsent{}},
	} {
		s := SyncStatus{Status: tt.status}
		if why, _ := s.whyWaits(&tt.unsent); why != want {
			t.Errorf("%q, want %q", why, want)
		}
	}
}

// The Status page names each game with what is missing, and says what it leaves out.
func TestUnsentGamesOnTheStatusPage(t *testing.T) {
	at := time.Date(2026, 11, 29, 14, 2, 0, 0, time.UTC)
	refused := []backlog.Refusal{{Conflict: 3, Text: "Another node has finished the game."}}
	games := UnsentGames{Cut: true, More: 2, Shown: []Game{
		{Title: "3FC", ID: "g", Name: "Red v Blue", Href: "/3fc/-/games/g", Unsent: backlog.Unsent{Writes: 2, Oldest: at}, Why: "the cloud cannot be reached", Since: at},
		{Title: "HackTracker", ID: "h", Name: "Us v Them", Unsent: backlog.Unsent{Refused: refused, More: 4}},
		{Unsent: backlog.Unsent{Writes: 1}, Why: "on its way"},
	}}
	want := []page.Counted{
		{Text: "3FC: Red v Blue: 2 writes not in the cloud, the oldest from 14:02:00: the cloud cannot be reached since 14:02:00", Href: "/3fc/-/games/g"},
		{Text: "HackTracker: Us v Them: refused: Another node has finished the game (conflict 3); 4 more writes refused"},
		{Text: "What belongs to no game: 1 write not in the cloud: on its way"},
		{Text: "and 2 more games"},
	}
	lines := games.lines(2, at)
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("%q, want %q", lines[i], want[i])
		}
	}
	if len(lines) != 5 || !strings.Contains(lines[4].Text, "only the oldest writes were counted") {
		t.Error(lines)
	}
	if (page.CloudLine{}).Whole() {
		t.Error("without a cloud, all is said to be in it")
	}
}
