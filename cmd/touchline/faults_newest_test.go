//go:build long && linux

package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/internal/testrig/faultproxy"
)

const (
	newestTable = "cricket-devices" // of policy newest
	newestUser  = "somebody"
	newestItems = 4 // of each sort

	// clockBound is how far the clocks of two nodes with correct time may differ. A node knows the cloud's clock from the Date of its
	// answers: to half a second plus half the duration of an answer, of which those over five seconds are ignored.
	clockBound = 6 * time.Second
)

// registrations are writes of whole items to a table of policy newest, where stamps decide. Their guarantees:
//
//   - Whatever the clocks: nodes and cloud are equal in the end, and every item is exactly one that was written.
//   - Items written only by nodes with correct clocks ("right"): no acknowledged write has lost to one that had been
//     acknowledged longer than the clock error before it started.
//   - Other items ("any"), while a clock is wrong by an hour: no more than that. A node whose clock is right again, and that has
//     seen the item, wins over a stamp one hour ahead.
type registrations struct {
	t     *testing.T
	nodes []*cloudNode

	mu  sync.Mutex
	all map[string]registration // by the write's name
	n   int
}

// registration is one write.
type registration struct {
	name, item string
	from, to   time.Time
	acked      bool
}

// newRegistrations creates all items first, so that no later write is a create.
func newRegistrations(t *testing.T, nodes []*cloudNode) *registrations {
	t.Helper()
	r := &registrations{t: t, nodes: nodes, all: map[string]registration{}}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, item := range newestNames() {
		r.must(nodes[0], item, rng)
	}
	nodes[0].drained(nodePatience)
	return r
}

func newestNames() (names []string) {
	for i := range newestItems {
		names = append(names, fmt.Sprint("right", i), fmt.Sprint("any", i))
	}
	return names
}

// right reports whether a node's clock is correct.
func (r *registrations) right(n *cloudNode) bool { return n != r.nodes[len(r.nodes)-1] }

// run writes until it is told to stop.
func (r *registrations) run(ctx context.Context, n *cloudNode, rng *rand.Rand) {
	for ctx.Err() == nil {
		sort := "any"
		if r.right(n) && rng.IntN(2) == 0 {
			sort = "right"
		}
		r.write(n, fmt.Sprint(sort, rng.IntN(newestItems)), rng, 5*time.Second)
		pause(ctx, 40*time.Millisecond)
	}
}

// write puts an item and waits for the answer up to limit. Its TTL is beyond what a wrong clock could consider past: a node that takes
// an item for expired creates it again, and an unanswered create may wait a quarter of an hour for late copies.
func (r *registrations) write(n *cloudNode, item string, rng *rand.Rand, limit time.Duration) registration {
	r.mu.Lock()
	r.n++
	w := registration{name: fmt.Sprintf("%s-%d", n.name, r.n), item: item, from: time.Now()}
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ends := w.from.Add(time.Duration(70+rng.IntN(110)) * time.Minute)
	_, err := n.api.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(newestTable), Item: map[string]types.AttributeValue{
		"userId": s(newestUser), "deviceToken": s(item), "by": s(w.name), "again": s(w.name), "ttl": num(int(ends.Unix())),
	}})
	w.to, w.acked = time.Now(), err == nil
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[w.name] = w
	return w
}

// must is write without faults.
func (r *registrations) must(n *cloudNode, item string, rng *rand.Rand) registration {
	r.t.Helper()
	w := r.write(n, item, rng, time.Minute)
	if !w.acked {
		r.t.Fatalf("%s does not take a write of %s", n.name, item)
	}
	return w
}

// read returns a table as text, item by item, and the write that each item comes from.
func (r *registrations) read(from *dynamodb.Client, table string) (flat, by map[string]string) {
	r.t.Helper()
	items := allOf(r.t.Context(), r.t, from, table)
	by = map[string]string{}
	for _, it := range items {
		name, again := text(it["by"]), text(it["again"])
		if name != again {
			name += " and " + again
		}
		by[text(it["deviceToken"])] = name
	}
	return byKey(items, []string{"deviceToken"}), by
}

// cloud returns the write that each item in the cloud comes from.
func (r *registrations) cloud(foreign *dynamodb.Client) map[string]string {
	r.t.Helper()
	_, by := r.read(foreign, "p-"+newestTable)
	return by
}

// settle waits until everything is sent and read. A user's devices are read when somebody asks for them.
func (r *registrations) settle(foreign *dynamodb.Client) {
	r.t.Helper()
	for _, n := range r.nodes {
		n.drained(nodePatience)
	}
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for _, n := range r.nodes {
		n.until("its devices are the cloud's", nodePatience, func() bool {
			n.as(client, newestUser, http.MethodGet, "/user/follow/none", nil, nil)
			there, _ := r.read(foreign, "p-"+newestTable)
			here, _ := r.read(n.api, newestTable)
			return maps.Equal(there, here)
		})
	}
}

// lastWords writes two items once more with known outcomes: an older write that arrives late, and one that claims to be an hour ahead.
func (r *registrations) lastWords(foreign *dynamodb.Client) {
	r.t.Helper()
	rng := rand.New(rand.NewPCG(2, 2))
	a, b, wrong := r.nodes[0], r.nodes[1], r.nodes[len(r.nodes)-1]
	a.door.Set(faultproxy.Conditions{Fault: faultproxy.Partition})
	r.must(a, "right0", rng)
	pause(r.t.Context(), clockBound+time.Second)
	later := r.must(b, "right0", rng)
	b.until("its write is in the cloud", nodePatience, func() bool { return r.cloud(foreign)["right0"] == later.name })
	a.door.Set(faultproxy.Conditions{})

	wrong.door.Skew(time.Hour)
	wrong.until("it believes that the cloud is an hour ahead", nodePatience, func() bool { return wrong.sync().Skew > 3000 })
	ahead := r.must(wrong, "any0", rng)
	wrong.until("its write is in the cloud", nodePatience, func() bool { return r.cloud(foreign)["any0"] == ahead.name })
	wrong.door.Skew(0)
	wrong.until("it knows the time again", nodePatience, func() bool {
		st := wrong.sync()
		return st.State != "no answer" && st.Skew == 0
	})
	r.settle(foreign)
	if by := r.cloud(foreign); by["right0"] != later.name {
		r.t.Errorf("right0 is of %s, which came later and is older than %s", by["right0"], later.name)
	}
	last := r.must(b, "any0", rng)
	r.settle(foreign)
	if by := r.cloud(foreign); by["any0"] != last.name {
		r.t.Errorf("any0 is of %s, of an hour ahead; %s was written on it later", by["any0"], last.name)
	}
}

// judge checks the cloud after all nodes equal it.
func (r *registrations) judge(foreign *dynamodb.Client) {
	r.t.Helper()
	by := r.cloud(foreign)
	wrong, judged := wronglyWon(by, r.all)
	for _, text := range wrong {
		r.t.Error(text)
	}
	if judged == 0 {
		r.t.Error("no item could be judged by time")
	}
	lies := r.nodes[len(r.nodes)-1].befell[mishapClock].Load()
	r.t.Logf("%d writes of policy newest, %d acknowledged, %d lies about the time; the items are of %v", len(r.all), r.acked(), lies, by)
}

// acked counts the writes that were acknowledged.
func (r *registrations) acked() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.all {
		if w.acked {
			n++
		}
	}
	return n
}

// wronglyWon returns impossible outcomes, and how many items could be judged by the time of their writes.
func wronglyWon(by map[string]string, all map[string]registration) (wrong []string, judged int) {
	if there, want := slices.Sorted(maps.Keys(by)), slices.Sorted(slices.Values(newestNames())); !slices.Equal(there, want) {
		wrong = append(wrong, fmt.Sprintf("there are the items %v", there))
	}
	for item, name := range by {
		won, written := all[name]
		switch {
		case !written || won.item != item:
			wrong = append(wrong, fmt.Sprintf("%s is of %s, which nobody has written there", item, name))
		case !won.acked || !strings.HasPrefix(item, "right"): // when it was accepted, or by which clock, is unknown
		default:
			judged++
			for _, w := range all {
				if w.item == item && w.acked && w.from.After(won.to.Add(clockBound)) {
					wrong = append(wrong, fmt.Sprintf("%s is of %s, and %s was acknowledged %v later", item, name, w.name, w.to.Sub(won.to)))
				}
			}
		}
	}
	return wrong, judged
}

// The judge finds a lost item, an unknown one, a mix of two writes, and an older winner, but tolerates the clock error.
func TestWronglyWon(t *testing.T) {
	t.Parallel()
	began := time.Now()
	all, by := map[string]registration{}, map[string]string{}
	write := func(name, item string, at time.Duration, acked bool) {
		all[name] = registration{name: name, item: item, from: began.Add(at), to: began.Add(at + time.Millisecond), acked: acked}
	}
	for _, item := range newestNames() {
		write("first of "+item, item, 0, true)
		write("soon of "+item, item, clockBound, true)
		write("lost of "+item, item, 3*clockBound, false)
		by[item] = "first of " + item
	}
	write("late", "right1", 2*clockBound, true)
	by["right1"] = "late"
	write("late of any", "any1", 2*clockBound, true)
	if wrong, judged := wronglyWon(by, all); len(wrong) > 0 || judged != newestItems {
		t.Errorf("%d judged, %q", judged, wrong)
	}
	for item, name := range map[string]string{
		"right1": "first of right1", "right2": "nobody", "any1": "first of any1 and late of any", "any2": "first of any3",
	} {
		changed := maps.Clone(by)
		changed[item] = name
		if wrong, _ := wronglyWon(changed, all); len(wrong) != 1 {
			t.Errorf("%s of %s: %q", item, name, wrong)
		}
	}
	delete(by, "any3")
	if wrong, _ := wronglyWon(by, all); len(wrong) != 1 {
		t.Errorf("without an item: %q", wrong)
	}
}
