package cricketapp

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/payload"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
)

// ledgerSize is how many pushes the push service keeps for the ledger.
const ledgerSize = 4096

// twoKB is the intended maximum of a payload; the push service's limit is twice that.
const twoKB = 2048

// pushLedger adds up the pushes to phones.
type pushLedger struct {
	seq        uint64
	byPriority map[string]int
	urgent     map[string][]time.Time // phone to its pushes of priority 10 in the running hour
	worst      int                    // the most of any phone in any running hour
	largest    int
	long       int
	backwards  int
	ignored    int
	stamps     map[string]int64           // activity token to the timestamp of its newest push
	shown      map[string]json.RawMessage // phone to the state it last showed
	alerts     map[string][]string        // phone to the alerts it showed
	mute       int                        // alerts whose state said something else: an iPhone shows the state
}

func newPushLedger() *pushLedger {
	return &pushLedger{
		byPriority: map[string]int{}, urgent: map[string][]time.Time{}, stamps: map[string]int64{},
		shown: map[string]json.RawMessage{}, alerts: map[string][]string{},
	}
}

// addPushes adds the pushes since the last call.
func (l *pushLedger) addPushes(s *sandbox.Sandbox) {
	for _, r := range s.Records(l.seq) {
		l.seq = r.Seq
		l.add(&r)
	}
}

func (l *pushLedger) add(r *sandbox.Record) {
	l.byPriority[strconv.Itoa(r.Priority)]++
	l.largest = max(l.largest, r.Bytes)
	if r.Bytes > twoKB {
		l.long++
	}
	if r.Priority == 10 {
		hour := append(l.urgent[r.Phone], r.At)
		for r.At.Sub(hour[0]) >= time.Hour {
			hour = hour[1:]
		}
		l.urgent[r.Phone] = hour
		l.worst = max(l.worst, len(hour))
	}
	if r.Shown != "shown" {
		l.ignored++
		return
	}
	if r.Alert != nil && r.Event != "start" { // the alert of a start says only that the match is live
		l.alerts[r.Phone] = append(l.alerts[r.Phone], r.Alert.Body)
		if !saysAlert(r.Payload, r.Alert.Body) {
			l.mute++
		}
	}
	if r.Event == "start" {
		l.stamps[r.Phone] = 0 // a new activity
	}
	if r.Timestamp <= l.stamps[r.Phone] {
		l.backwards++
	}
	l.stamps[r.Phone] = r.Timestamp
	var p struct {
		APS struct {
			State json.RawMessage `json:"content-state"`
		} `json:"aps"`
	}
	if json.Unmarshal(r.Payload, &p) == nil && len(p.APS.State) > 0 {
		l.shown[r.Phone] = p.APS.State
	}
}

// saysAlert reports whether the state of an alert's push has the alert's event as its key event.
func saysAlert(push []byte, body string) bool {
	var p struct {
		APS struct {
			State struct {
				KeyEvent struct{ Text string }
			} `json:"content-state"`
		}
	}
	if json.Unmarshal(push, &p) != nil {
		return false
	}
	text := p.APS.State.KeyEvent.Text
	return text != "" && (sameStart(text, body) || sameStart(body, text))
}

// right reports whether all phones last showed the display, apart from its time.
func (l *pushLedger) right(d *cricket.Display, phones int) bool {
	state := payload.NewContentState(d)
	want, err := state.Encode(twoKB)
	if err != nil || len(l.shown) != phones {
		return false
	}
	for _, got := range l.shown {
		if !bytes.Equal(withoutDate(got), withoutDate(want)) {
			return false
		}
	}
	return true
}

// withoutDate returns a content state without its time.
func withoutDate(state json.RawMessage) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(state, &m) != nil {
		return nil
	}
	delete(m, "updatedAt")
	out, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return out
}

// report reads the outcome of the match from the store.
func (r *replayRig) report(ctx context.Context) (*ReplayReport, error) {
	r.pushes.addPushes(r.phones)
	if err := r.words.readJournal(ctx, r.store); err != nil {
		return nil, err
	}
	accepted, refused := 0, 0
	for how, n := range r.phones.Counts() {
		if how == "200" {
			accepted += n
		} else {
			refused += n
		}
	}
	pushes := SummaryPushes{Sent: int64(accepted + refused), Accepted: int64(accepted), Refused: int64(refused)}
	summary, err := summarize(ctx, r.node.cricket, r.id, title(r.match.Info()), pushes)
	if err != nil {
		return nil, err
	}
	out := &ReplayReport{
		Summary: *summary, NoBalls: r.NoBalls, Faults: r.Faults, Restarts: r.ReplayConfig.Restarts,
		InningsEnds: []string{}, Corrections: []SummaryAlert{},
		ByPriority: maps.Clone(r.pushes.byPriority), UrgentPerHour: r.pushes.worst, LargestPayload: r.pushes.largest,
		Shown: r.pushes.alerts[r.audience.on[0].Name], TooLong: r.pushes.long, Late: r.pushes.backwards, Ignored: r.pushes.ignored, Mute: r.pushes.mute,
	}
	if out.Display, err = r.node.cricket.Display(ctx, r.id); err != nil {
		return nil, err
	}
	out.PhonesRight = r.pushes.right(&out.Display, r.Phones)
	if out.Record, err = r.node.cricket.Events(ctx, r.id); err != nil {
		return nil, err
	}
	out.sort()
	out.Alerts, out.LitUp = r.words.alerts(), len(out.Shown)
	out.last = r.words.last(out.Shown)
	return out, nil
}

// sort adds what the summary lacks about events.
func (r *ReplayReport) sort() {
	for _, e := range r.Record {
		switch e.Type {
		case cricket.EventInningsEnd:
			r.InningsEnds = append(r.InningsEnds, e.Detail)
		case cricket.EventCorrection:
			r.Corrections = append(r.Corrections, SummaryAlert{Key: e.Key, Text: e.Text})
		}
	}
}

// ReplayCost is what a feed's faults cost the people who follow: how many more pushes light up their phones than the same matches
// without faults do.
type ReplayCost struct {
	Runs     int     `json:"runs"`
	LitUp    int     `json:"litUp"`
	Clean    int     `json:"cleanLitUp"`
	Mean     float64 `json:"mean"`  // of the runs, in per cent
	Worst    float64 `json:"worst"` // of them
	WorstRun string  `json:"worstRun"`
	Seed     uint64  `json:"worstFaults"`
	Standing int     `json:"standing"` // last alerts that are not true
}

// add counts a match that was played with faults.
func (c *ReplayCost) add(r *ReplayReport) {
	if r.Faults == 0 || r.CleanLitUp == 0 {
		return
	}
	more := r.cost()
	if c.Runs == 0 || more > c.Worst {
		c.Worst, c.WorstRun, c.Seed = more, r.Match, r.Faults
	}
	c.Mean = (c.Mean*float64(c.Runs) + more) / float64(c.Runs+1)
	c.Runs++
	c.LitUp, c.Clean = c.LitUp+r.LitUp, c.Clean+r.CleanLitUp
	if w := r.LastWords; w != nil {
		c.Standing += w.Wrong + w.False + w.Untold
	}
}

// cost returns how many more pushes lit up a phone than without faults, in per cent.
func (r *ReplayReport) cost() float64 {
	if r.CleanLitUp == 0 {
		return 0
	}
	return 100 * float64(r.LitUp-r.CleanLitUp) / float64(r.CleanLitUp)
}

// withSeeds repeats each source for each seed of the faults. A match is played without faults once.
func (c *ReplayConfig) withSeeds(ctx context.Context, sources []replaySource) (out []replaySource) {
	truth := *c
	truth.Faults, truth.Restarts, truth.Progress = 0, 0, nil
	for _, s := range sources {
		play := s
		s.clean = sync.OnceValues(func() (*ReplayReport, error) { return replayOnce(ctx, &truth, play) })
		for n := range max(1, c.Seeds) {
			s.seed = uint64(n)
			out = append(out, s)
		}
	}
	return out
}
