//go:build long && linux

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/touchline/touchline/internal/testrig/faultproxy"
	"github.com/touchline/touchline/internal/testrig/wait"
)

const (
	nodeTable  = "cricket-teams"
	cloudTable = "p-cricket-teams"
	shared     = 6 // items that everybody writes
)

// ledger is what clients were told: acknowledged writes must be found again, others may be.
type ledger struct {
	mu    sync.Mutex
	acked map[string]bool // name of a write: an attribute of its own on a shared item, or an item of its own
	maybe map[string]bool // unanswered
	added [shared]int     // to the counters, acknowledged
	spare [shared]int     // the same, unanswered
	won   map[string][]string
	odd   map[string]int // unexpected refusals, by code
}

func newLedger() *ledger {
	return &ledger{acked: map[string]bool{}, maybe: map[string]bool{}, won: map[string][]string{}, odd: map[string]int{}}
}

// told records the outcome of a client's write. A refusal is no write.
func (l *ledger) told(name string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var refused *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		l.acked[name] = true
	case !errors.As(err, &refused):
		l.maybe[name] = true
		l.note(err)
	}
}

// note counts refusals: only a busy or ending node may refuse.
func (l *ledger) note(err error) {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		l.odd[api.ErrorCode()]++
	}
}

func (l *ledger) count(item int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.added[item]++
	} else {
		l.spare[item]++
		l.note(err)
	}
}

// writer is a client that writes to one place until it is told to stop.
type writer struct {
	name  string
	api   *dynamodb.Client
	table string
	l     *ledger
	rng   *rand.Rand
	n     int
}

func (w *writer) run(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.one(ctx)
	}
}

func key(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"teamId": s(id)}
}

func sharedID(i int) string { return fmt.Sprint("shared", i) }

func (w *writer) one(ctx context.Context) {
	w.n++
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	item := w.rng.IntN(shared)
	name := fmt.Sprintf("%s-%d", w.name, w.n)
	switch w.rng.IntN(10) {
	case 0, 1, 2, 3: // an attribute of its own
		_, err := w.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String(w.table), Key: key(sharedID(item)), UpdateExpression: aws.String("SET #a = :v"),
			ExpressionAttributeNames: map[string]string{"#a": name}, ExpressionAttributeValues: map[string]types.AttributeValue{":v": num(w.n)},
		})
		w.l.told(name, err)
	case 4, 5, 6: // a counter
		_, err := w.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String(w.table), Key: key(sharedID(item)), UpdateExpression: aws.String("ADD tally :one"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": num(1)},
		})
		w.l.count(item, err)
	case 7, 8: // an item of its own
		_, err := w.api.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(w.table), Item: map[string]types.AttributeValue{"teamId": s(name), "by": s(w.name)},
			ConditionExpression: aws.String("attribute_not_exists(teamId)"),
		})
		w.l.told(name, err)
	case 9: // an item that only the first can create
		id := fmt.Sprint("prize", w.rng.IntN(40))
		_, err := w.api.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(w.table), Item: map[string]types.AttributeValue{"teamId": s(id), "by": s(name)},
			ConditionExpression: aws.String("attribute_not_exists(teamId)"),
		})
		if err == nil {
			w.l.mu.Lock()
			w.l.won[id] = append(w.l.won[id], name)
			w.l.mu.Unlock()
		}
	}
}

// What happens to a node besides the faults of its network.
const (
	mishapKill = iota
	mishapPause
	mishapCut
	mishapClock
	mishaps
)

// trouble lets one mishap after another happen to a node, and if it is lied to, to its clock too.
func (n *cloudNode) trouble(ctx context.Context, rng *rand.Rand, faults []faultproxy.Fault, lied bool) {
	for i := 0; ctx.Err() == nil; i++ {
		fault := faults[i%len(faults)]
		n.door.Set(faultproxy.Draw(rng, fault))
		if lied && i%2 == 0 {
			n.door.Skew(time.Duration(rng.IntN(7200)-3600) * time.Second)
			n.befell[mishapClock].Add(1)
		}
		what := rng.IntN(6)
		switch what {
		case mishapKill:
			n.kill()
			n.start()
		case mishapPause: // paused for longer than a lease and a request may last
			n.signal(syscall.SIGSTOP)
			pause(ctx, time.Duration(2000+rng.IntN(3000))*time.Millisecond)
			n.signal(syscall.SIGCONT)
		case mishapCut:
			n.door.Cut()
		}
		if what <= mishapCut {
			n.befell[what].Add(1)
		}
		pause(ctx, time.Duration(500+rng.IntN(2000))*time.Millisecond)
		n.door.Set(faultproxy.Conditions{})
		pause(ctx, time.Duration(200+rng.IntN(600))*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// Three nodes share a cloud, each behind a faulty network. They are killed and paused, and one has a wrong clock, while their clients
// and an independent writer write the same items. Afterwards every acknowledged write is accounted for, and all nodes equal the cloud.
func TestNodesUnderFaults(t *testing.T) {
	const seed = 11
	rig := newCloudRig(t)
	if _, code := rig.migrate(); code != 0 {
		t.Fatalf("migrate: exit %d", code)
	}
	foreign := rig.foreign()
	for i := range shared {
		if _, err := foreign.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(cloudTable), Item: key(sharedID(i))}); err != nil {
			t.Fatal(err)
		}
	}
	l := newLedger()
	nodes := make([]*cloudNode, 3)
	for i := range nodes {
		nodes[i] = rig.node(string(rune('a'+i)), seed+uint64(i))
		nodes[i].env = []string{"TOUCHLINE_AUTH__DEV_ISSUER=true"}
		nodes[i].start()
	}
	t.Cleanup(func() { keepLogs(t, nodes) })
	for _, n := range nodes {
		n.until("it has what was there", nodePatience, func() bool { return len(table(t.Context(), t, n.api, nodeTable)) == shared })
	}
	regs := newRegistrations(t, nodes)
	storm(t, nodes, foreign, l, regs, seed)
	for _, n := range nodes {
		n.door.Set(faultproxy.Conditions{})
		n.door.Skew(0)
	}
	settle(t, nodes, foreign)
	judge(t, nodes, foreign, l)
	regs.settle(foreign)
	regs.lastWords(foreign)
	regs.settle(foreign)
	regs.judge(foreign)
	for _, n := range nodes {
		n.stop()
	}
}

// storm lasts a fixed time, and on a busy machine longer, until enough of everything has happened.
func storm(t *testing.T, nodes []*cloudNode, foreign *dynamodb.Client, l *ledger, regs *registrations, seed uint64) {
	t.Helper()
	const least, most = 40 * time.Second, 5 * time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	for i, n := range nodes {
		w := &writer{name: n.name, api: n.api, table: nodeTable, l: l, rng: rand.New(rand.NewPCG(seed, uint64(i)))}
		group.Go(func() { w.run(ctx, 15*time.Millisecond) })
		rng := rand.New(rand.NewPCG(seed, 100+uint64(i)))
		faults := faultproxy.Faults()
		rng.Shuffle(len(faults), func(a, b int) { faults[a], faults[b] = faults[b], faults[a] })
		group.Go(func() { n.trouble(ctx, rng, faults, !regs.right(n)) })
		again := rand.New(rand.NewPCG(seed, 200+uint64(i)))
		group.Go(func() { regs.run(ctx, n, again) })
	}
	w := &writer{name: "foreign", api: foreign, table: cloudTable, l: l, rng: rand.New(rand.NewPCG(seed, 99))}
	group.Go(func() { w.run(ctx, 40*time.Millisecond) })
	pause(ctx, least)
	lacks := func() []string { return lacking(nodes, l, regs) }
	err := wait.Try(most, "enough has happened", func() bool { return len(lacks()) == 0 }, func() any { return lacks() })
	cancel()
	group.Wait()
	if err != nil {
		t.Error(err)
	}
	for i, what := range mishapNames() {
		t.Logf("nodes were %s %d times", what, mishapTimes(nodes, i))
	}
}

// lacking returns what has not happened often enough for the test to be meaningful.
func lacking(nodes []*cloudNode, l *ledger, regs *registrations) (lacks []string) {
	for _, f := range faultproxy.Faults() {
		met := 0
		for _, n := range nodes {
			met += n.door.Met(f)
		}
		if met == 0 {
			lacks = append(lacks, fmt.Sprintf("no request has met the fault %v", f))
		}
	}
	for i, what := range mishapNames() {
		if mishapTimes(nodes, i) == 0 {
			lacks = append(lacks, "no node was "+what)
		}
	}
	l.mu.Lock()
	acked := len(l.acked)
	l.mu.Unlock()
	if acked < 500 {
		lacks = append(lacks, fmt.Sprintf("only %d writes were acknowledged", acked))
	}
	if acked := regs.acked(); acked < 300 {
		lacks = append(lacks, fmt.Sprintf("only %d writes of policy newest were acknowledged", acked))
	}
	return lacks
}

func mishapNames() [mishaps]string {
	return [...]string{"killed", "paused", "cut off in the midst of requests", "told a wrong time"}
}

func mishapTimes(nodes []*cloudNode, mishap int) (times int) {
	for _, n := range nodes {
		times += int(n.befell[mishap].Load())
	}
	return times
}

// settle waits until everything is sent, and every node has read it.
func settle(t *testing.T, nodes []*cloudNode, foreign *dynamodb.Client) {
	t.Helper()
	began := time.Now()
	for _, n := range nodes {
		st := n.drained(nodePatience)
		if st.Node.Clone != "" || len(st.Alarms) > 0 || st.Conflicts.Quarantined > 0 {
			t.Errorf("%s was never copied, and nothing in it is poison: %+v", n.name, st)
		}
		t.Logf("%s has drained after %v: %+v, %d kills", n.name, time.Since(began).Round(time.Second), st, n.kills)
	}
	for _, n := range nodes {
		n.until("it is equal to the cloud", nodePatience, func() bool {
			return maps.Equal(table(t.Context(), t, n.api, nodeTable), table(t.Context(), t, foreign, cloudTable))
		})
	}
}

// record is a conflict as far as the test checks it.
type record struct {
	ID      uint64                       `json:"id"`
	Kind    string                       `json:"kind"`
	Key     map[string]map[string]string `json:"key"`
	Text    string                       `json:"text"`
	Writes  int                          `json:"writes"`
	Decided []recordWrite                `json:"decided"`
	Tail    []recordWrite                `json:"tail"`
}

// recordWrite is one write of a conflict; several writes of the application may have been folded into it.
type recordWrite struct {
	Update string                       `json:"update"`
	Names  map[string]string            `json:"names"`
	Values map[string]map[string]string `json:"values"`
}

var addition = regexp.MustCompile(`(\S+) (:\w+)`)

// sets returns the attributes that the write is about, and what it adds to the tally.
func (w recordWrite) sets() (names []string, tally int) {
	_, adds, _ := strings.Cut(w.Update, "ADD ")
	for _, m := range addition.FindAllStringSubmatch(adds, -1) {
		if name := cmp.Or(w.Names[m[1]], m[1]); name == "tally" {
			n, _ := strconv.Atoi(w.Values[m[2]]["N"])
			tally += n
		}
	}
	return slices.Collect(maps.Values(w.Names)), tally
}

// conflicts returns all conflicts that a node recorded about the table, by item.
func (n *cloudNode) conflicts() map[string][]record {
	n.t.Helper()
	out := map[string][]record{}
	before := uint64(0)
	for {
		var page struct {
			Items []record `json:"items"`
		}
		if !n.ask(&page, "conflicts", "list", "--state", "all", "--table", nodeTable, "--limit", "100", "--before", strconv.FormatUint(before, 10)) {
			n.t.Fatalf("%s does not tell its conflicts", n.name)
		}
		for _, c := range page.Items {
			before = c.ID
			id := c.Key["teamId"]["S"]
			if !strings.HasPrefix(id, "prize") && !n.ask(&c, "conflicts", "show", strconv.FormatUint(c.ID, 10)) {
				n.t.Fatalf("%s does not tell conflict %d", n.name, c.ID)
			}
			out[id] = append(out[id], c)
		}
		if len(page.Items) < 100 {
			return out
		}
	}
}

// books are the conflicts of all nodes together.
type books struct {
	of    []map[string][]record // by node
	sets  map[string]bool       // attributes of their own that recorded writes set
	tally map[string]int        // what recorded writes would have added, by item
	kinds map[string]int
}

func openBooks(nodes []*cloudNode) *books {
	b := &books{sets: map[string]bool{}, tally: map[string]int{}, kinds: map[string]int{}}
	for _, n := range nodes {
		all := n.conflicts()
		b.of = append(b.of, all)
		for id, list := range all {
			for _, c := range list {
				b.kinds[c.Kind]++
				for _, w := range slices.Concat(c.Decided, c.Tail) {
					names, tally := w.sets()
					for _, name := range names {
						b.sets[name] = true
					}
					b.tally[id] += tally
				}
			}
		}
	}
	return b
}

// judge compares the ledger with the cloud and the nodes' conflicts.
func judge(t *testing.T, nodes []*cloudNode, foreign *dynamodb.Client, l *ledger) {
	t.Helper()
	items := map[string]map[string]string{}
	effective := map[string]bool{} // writes by name
	for id, text := range table(t.Context(), t, foreign, cloudTable) {
		var it map[string]string
		if err := json.Unmarshal([]byte(text), &it); err != nil {
			t.Fatal(err)
		}
		items[id], effective[id] = it, true
		for attribute := range it {
			effective[attribute] = true
		}
	}
	b := openBooks(nodes)
	var missing []string
	recorded := 0
	for name := range l.acked {
		switch {
		case effective[name]:
		case b.sets[name]:
			recorded++
		default:
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("%d of %d acknowledged writes are neither in the cloud nor in a record: %.500v", len(missing), len(l.acked), missing)
	}
	for i := range shared {
		total, _ := strconv.Atoi(items[sharedID(i)]["tally"])
		if of := b.tally[sharedID(i)]; total < l.added[i]-of || total > l.added[i]+l.spare[i] {
			t.Errorf("%s counts %d of %d acknowledged and %d unanswered; %d are recorded", sharedID(i), total, l.added[i], l.spare[i], of)
		}
	}
	judgePrizes(t, nodes, b, items, l)
	if l.odd["ValidationException"] > 0 || sumAll(l.added) == 0 {
		t.Errorf("%d counted; refused by their code: %v", sumAll(l.added), l.odd)
	}
	t.Logf("%d writes acknowledged, %d of them in records, %d unanswered, %d counted, refused by their code: %v; records by kind: %v",
		len(l.acked), recorded, len(l.maybe), sumAll(l.added), l.odd, b.kinds)
}

func sumAll(counts [shared]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// judgePrizes checks items that only one writer could get: each exists, and every other writer that was told it had it is in a conflict
// of its node.
func judgePrizes(t *testing.T, nodes []*cloudNode, b *books, items map[string]map[string]string, l *ledger) {
	t.Helper()
	losers, recorded := 0, 0
	for i, n := range nodes {
		records := b.of[i]
		for id, list := range records {
			recorded += len(list)
			if !strings.HasPrefix(id, "prize") && !strings.HasPrefix(id, "shared") {
				t.Errorf("%s has recorded %+v, and nothing contests %s", n.name, list, id)
			}
		}
		for id, names := range l.won {
			if items[id] == nil {
				t.Errorf("%s was won by %v and is not there", id, names)
			}
			lost := 0
			for _, name := range names {
				if strings.HasPrefix(name, "foreign-") && items[id]["by"] != name {
					t.Errorf("the cloud itself gave %s to %s, and has %v", id, name, items[id])
				}
				if strings.HasPrefix(name, n.name+"-") && items[id]["by"] != name {
					lost++
				}
			}
			losers += lost
			writes := 0
			for _, c := range records[id] {
				writes += c.Writes
			}
			if writes < lost {
				t.Errorf("%d clients of %s lost %s after they were told that they have it, and the record is %+v", lost, n.name, id, records[id])
			}
		}
	}
	if losers == 0 {
		t.Error("nobody has lost a prize: nothing was contested")
	}
	t.Logf("%d prizes, %d lost after they were acknowledged, %d conflicts recorded", len(l.won), losers, recorded)
}
