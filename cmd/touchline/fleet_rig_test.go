//go:build long && linux

package main

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/wait"
)

// fleet is a group of nodes that share a cloud, a feed and a push service, with the phones behind it.
type fleet struct {
	*cloudRig
	began   time.Time
	cloud   *dynamodb.Client
	replays *replay.Set
	feed    string
	box     *sandbox.Sandbox
	apns    []string // of a node's environment: the way to the push service
	client  *http.Client
	apps    sync.WaitGroup // that tell a node something
	nodes   []*cloudNode
	ids     map[*cloudNode]string
	matches []fleetMatch
	phones  []fleetPhone
	spells  []spell
	locks   map[string]fleetLock // as last seen
}

// fleetLock is a lock's record.
type fleetLock struct {
	fence  int64
	holder string
}

// fleetStatus is the part of GET /sync that the test checks.
type fleetStatus struct {
	State   string
	Waiting int
	Leases  []fleetLease
	Node    struct{ ID string }
}

type fleetLease struct{ Deadline time.Time }

// works reports whether there is a lease that has not expired.
func (s *fleetStatus) works() bool {
	return slices.ContainsFunc(s.Leases, func(l fleetLease) bool { return l.Deadline.After(time.Now()) })
}

// fleetMatch is a match being played.
type fleetMatch struct{ id, recording string }

// fleetPhone is a phone whose user follows a match.
type fleetPhone struct {
	sandbox.Phone
	match string
	home  int // the node that its app asks first
}

// spell is a period in which a node had trouble.
type spell struct {
	node     *cloudNode
	from, to time.Time // to zero: it has not ended
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := newFleetOver(newCloudRig(t))
	if _, code := f.migrate(); code != 0 {
		t.Fatalf("migrate: exit %d", code)
	}
	return f
}

// newFleetOver returns a feed and a push service, for nodes that share a cloud.
func newFleetOver(r *cloudRig) *fleet {
	t := r.t
	t.Helper()
	f := &fleet{cloudRig: r, began: time.Now(), cloud: r.foreign(), ids: map[*cloudNode]string{}, locks: map[string]fleetLock{}}
	f.replays = replay.NewSet(clock.Real(), "feed-token")
	feed := httptest.NewServer(f.replays)
	t.Cleanup(feed.Close)
	f.feed = feed.URL + "/api/v2.0"
	f.client = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{}}
	t.Cleanup(f.client.CloseIdleConnections)
	f.pushService()
	return f
}

// say logs the progress of the test, with the time.
func (f *fleet) say(format string, args ...any) {
	f.t.Helper()
	f.t.Logf("%5.1f s: "+format, append([]any{time.Since(f.began).Seconds()}, args...)...)
}

// pushService runs the sandbox of Apple's push service, and writes the files that senders need.
func (f *fleet) pushService() {
	f.t.Helper()
	var err error
	if f.box, err = sandbox.New(sandbox.Config{Clock: clock.Real(), Seed: f.t.Name(), LogSize: 100_000}); err != nil {
		f.t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.box.Run(ctx) }()
	f.t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			f.t.Error(err)
		}
		f.apps.Wait()
	})
	url := f.box.URL()
	account := f.box.Account()
	der, err := x509.MarshalPKCS8PrivateKey(account.Key)
	if err != nil {
		f.t.Fatal(err)
	}
	key, ca := filepath.Join(f.dir, "key.p8"), filepath.Join(f.dir, "ca.pem")
	for name, text := range map[string][]byte{key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), ca: account.CA} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	const p = "TOUCHLINE_CRICKET__PUSH__"
	f.apns = []string{
		p + "HOST=" + url, p + "KEY_FILE=" + key, p + "CA_FILE=" + ca,
		p + "BUNDLE_ID=" + account.BundleID, p + "TEAM_ID=" + account.TeamID, p + "KEY_ID=" + account.KeyID,
	}
}

// start starts a node of the fleet.
func (f *fleet) start(name string) {
	f.t.Helper()
	n := f.node(name, uint64(len(f.nodes)+1))
	n.env = append([]string{"TOUCHLINE_CLOUD__OFFLINE=strict", "TOUCHLINE_AUTH__DEV_ISSUER=true"}, f.env()...)
	n.start()
	f.join(n)
}

// env returns what a node needs to play the fleet's matches.
func (f *fleet) env() []string {
	return append([]string{
		"TOUCHLINE_CLOUD__LEASE_TTL=" + fleetTTL.String(),
		"TOUCHLINE_CRICKET__LEAGUES=*", "TOUCHLINE_CRICKET__FEED__BASE_URL=" + f.feed, "TOUCHLINE_CRICKET__FEED__TOKEN=feed-token",
		"TOUCHLINE_CRICKET__FEED__CALLS_PER_HOUR=100000",
		"TOUCHLINE_CRICKET__ALERTS__SIX=true", "TOUCHLINE_CRICKET__ALERTS__FOUR=true", // to have many alerts
	}, f.apns...)
}

// join adds a node that runs.
func (f *fleet) join(n *cloudNode) {
	f.t.Helper()
	n.until("it says who it is", fleetSlack, func() bool {
		st, ok := f.status(n)
		f.ids[n] = st.Node.ID
		return ok && st.Node.ID != ""
	})
	f.nodes = append(f.nodes, n)
}

// as is cloudNode.as with the fleet's client.
func (f *fleet) as(n *cloudNode, user, method, path string, body, into any) int {
	return n.as(f.client, user, method, path, body, into)
}

// status returns the sync status of a node.
func (f *fleet) status(n *cloudNode) (s fleetStatus, ok bool) {
	return s, f.as(n, "admin", http.MethodGet, "/sync", nil, &s) == http.StatusOK
}

// audience makes two users, known to different nodes, follow each match, and waits until their phones show it.
func (f *fleet) audience() {
	f.t.Helper()
	for i := range 2 * len(f.matches) {
		name := fmt.Sprint("phone", len(f.box.Phones()))
		p, err := f.box.AddPhone(sandbox.Phone{Name: name, UserID: "user-" + name, DeviceID: name}, f.begun)
		if err != nil {
			f.t.Fatal(err)
		}
		ph := fleetPhone{Phone: p, match: f.matches[i%len(f.matches)].id, home: i % len(f.nodes)}
		f.phones = append(f.phones, ph)
		n := f.nodes[ph.home]
		n.until(name+" follows", fleetSlack, func() bool {
			device := map[string]string{
				"deviceToken": p.DeviceToken, "platform": "ios", "deviceId": p.DeviceID, "pushToStartToken": p.PushToStartToken,
			}
			return f.as(n, p.UserID, http.MethodPost, "/user/device", device, nil)/100 == 2 &&
				f.as(n, p.UserID, http.MethodPost, "/user/follow/"+ph.match, map[string]any{}, nil)/100 == 2
		})
	}
	f.until("every phone shows its match", fleetSlack, func() bool {
		active := 0
		for _, it := range f.items("live-activities") {
			here := slices.ContainsFunc(f.matches, func(m fleetMatch) bool { return m.id == text(it["matchId"]) })
			if here && text(it["status"]) == "active" {
				active++
			}
		}
		return active == len(f.phones)
	})
}

// begun is the app of a phone on which an activity started: it tells its server, and retries until it succeeds.
func (f *fleet) begun(_ context.Context, p sandbox.Phone, a sandbox.Activity) error {
	f.apps.Go(func() {
		next, _ := strconv.Atoi(p.DeviceID[len("phone"):])
		answer := 0
		told := func() bool {
			n := f.nodes[next%len(f.nodes)]
			next++
			body := map[string]any{"updateToken": a.UpdateToken, "deviceId": p.DeviceID, "startedAt": a.StartedAt}
			answer = f.as(n, p.UserID, http.MethodPost, "/user/activity/"+a.MatchID, body, nil)
			return answer/100 == 2 || f.t.Context().Err() != nil
		}
		if err := wait.Try(fleetWait+fleetSlack, p.DeviceID+" tells of its activity", told, func() any { return answer }); err != nil {
			f.t.Error(err)
		}
	})
	return nil
}

// troubled records that a node has trouble from now on.
func (f *fleet) troubled(n *cloudNode) {
	f.spells = append(f.spells, spell{node: n, from: time.Now()})
}

// recovered records that the trouble is over.
func (f *fleet) recovered(n *cloudNode) {
	f.t.Helper()
	f.drained(n)
	for i := range f.spells {
		if f.spells[i].node == n && f.spells[i].to.IsZero() {
			f.spells[i].to = time.Now()
		}
	}
}

// fleetRow is the cloud's row of a match.
type fleetRow struct {
	node  string
	fence int64
	at    time.Time // of the last tick
	over  bool
	// pending: an event was seen, and is held until it is certain
	pending bool
}

func rowOf(it map[string]types.AttributeValue) (r fleetRow) {
	r.node, r.over = text(it["instanceId"]), text(it["finishedAt"]) != ""
	pending, _ := it["pending"].(*types.AttributeValueMemberL)
	r.pending = pending != nil && len(pending.Value) > 0
	r.at, _ = time.Parse(time.RFC3339, text(it["lastTickAt"]))
	r.fence, _ = strconv.ParseInt(text(it["_f"]), 10, 64)
	return r
}

// row reads a match's row from the cloud.
func (f *fleet) row(match string) fleetRow {
	f.t.Helper()
	out, err := f.cloud.GetItem(f.t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("p-active-matches"), ConsistentRead: aws.Bool(true), Key: map[string]types.AttributeValue{"matchId": s(match)},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return rowOf(out.Item)
}

// items reads a table from the cloud.
func (f *fleet) items(table string) []map[string]types.AttributeValue {
	f.t.Helper()
	return allOf(f.t.Context(), f.t, f.cloud, "p-"+table)
}

func allOf(ctx context.Context, t *testing.T, c *dynamodb.Client, name string) (out []map[string]types.AttributeValue) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(c, &dynamodb.ScanInput{TableName: aws.String(name), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, page.Items...)
	}
	return out
}

// text returns a string or number of an item; empty: neither.
func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	default:
		return ""
	}
}
