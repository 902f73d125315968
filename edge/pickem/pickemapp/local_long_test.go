//go:build long

package pickemapp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/dynamo"
)

// newLocal returns a node with DynamoDB Local as its cloud.
func newLocal(t *testing.T) (*fleet, *dynamo.Client) {
	t.Helper()
	f, client := nodes.Local(t, nodes.Options{App: New})
	return &fleet{Fleet: f}, client
}

// The cost of actions in write units, as DynamoDB Local counts it. A pick is a transaction of its row, the check of the event and its proof, at two
// units each, and of its index entry, which also counts twice in a transaction.
func TestWriteUnits(t *testing.T) {
	f, client := newLocal(t)
	const own = 1 // the node writes a row of its own at times
	var m []string
	for _, a := range []struct {
		name string
		most float64
		do   func()
	}{
		{"an event, a user and two matches", 30, func() { m = f.league(48 * time.Hour) }},
		{"a first pick", 8, func() { f.picks("a", m[0], 1) }},
		{"a changed pick", 8, func() { f.picks("a", m[0], 0) }},
		{"the lock", 3, func() { f.Want("a", "boss", "PUT", "/pickem/admin/events/"+f.event+"/state", `{"state":"broadcast"}`) }},
		{"two results", 8, func() {
			f.Want("a", "boss", "PUT", "/pickem/admin/events/"+f.event+"/results", fmt.Sprintf(`{"results":{%q:0,%q:null}}`, m[0], m[1]))
		}},
		{"scoring for one user", 26, func() { f.Want("a", "boss", "POST", "/pickem/admin/events/"+f.event+"/score", "") }},
	} {
		before := client.Usage().WriteUnits
		a.do()
		f.Drained()
		used := client.Usage().WriteUnits - before
		t.Logf("%s: %v write units", a.name, used)
		if used == 0 || used > a.most+own {
			t.Errorf("%s: %v write units, at most %v", a.name, used, a.most)
		}
	}
	const users = 10 // one batch: marked, checked, proved and finished once; DynamoDB Local adds its rows up
	at := f.Clock.Now().Add(72 * time.Hour).UTC()
	f.event = at.Format(time.DateOnly) + "-second"
	admin := "/pickem/admin/events/" + f.event
	f.Want("a", "boss", "POST", "/pickem/admin/events", fmt.Sprintf(`{"date":%q,"startsAt":%q,"name":"Second"}`, f.event[:10], at.Format(time.RFC3339)))
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(f.Want("a", "boss", "POST", admin+"/matches", `{"name":"x","points":5,"teams":[{"members":["A"]},{"members":["B"]}]}`)), &made); err != nil {
		t.Fatal(err)
	}
	for i := range users {
		user := fmt.Sprint("u", i)
		f.Want("a", "boss", "POST", "/pickem/admin/users", fmt.Sprintf(`{"userId":%q,"name":"U"}`, user))
		f.Want("a", user, "PUT", f.at()+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, made.ID))
	}
	f.Want("a", "boss", "PUT", admin+"/state", `{"state":"broadcast"}`)
	f.Want("a", "boss", "PUT", admin+"/results", fmt.Sprintf(`{"results":{%q:1}}`, made.ID))
	f.Drained()
	before := client.Usage().WriteUnits
	answer := f.Want("a", "boss", "POST", admin+"/score", "")
	f.Until("the cloud has the scoring", func() bool {
		e, err := client.Get(t.Context(), "pickem-prod", attr.Item{"PK": attr.S("EVENT"), "SK": attr.S("EVENT#" + f.event)})
		done := err == nil && e["state"].Str() == "scored"
		for i := range users {
			st, err := client.Get(t.Context(), "pickem-prod", attr.Item{"PK": attr.S(fmt.Sprint("USER#u", i)), "SK": attr.S("STANDINGS#" + f.event[:4])})
			done = done && err == nil && st != nil
		}
		return done
	})
	f.Drained()
	used := client.Usage().WriteUnits - before
	t.Logf("scoring for %d users: %v write units: %s", users, used, answer)
	if used > 26+own {
		t.Errorf("scoring for %d users: %v write units, at most 26", users, used)
	}
}

// Three hundred users pick in the last minute before the lock, over 16 connections: no pick is lost, here or in the cloud.
func TestThreeHundredPickInTheLastMinute(t *testing.T) {
	const people, connections = 300, 16
	f, client := newLocal(t)
	m := f.league(62 * time.Minute)
	for i := range people {
		f.Want("a", "boss", "POST", "/pickem/admin/users", fmt.Sprintf(`{"userId":"p%03d","name":"P"}`, i))
	}
	f.Drained()
	web := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}}
	defer web.CloseIdleConnections()
	took := make([]time.Duration, people)
	work := make(chan int)
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			for i := range work {
				token, _, err := f.Issuer.Sign(auth.Grant{Subject: fmt.Sprintf("p%03d", i), Life: time.Hour}, time.Now())
				if err != nil {
					t.Error(err)
					continue
				}
				body := fmt.Sprintf(`{"predictions":{%q:%d,%q:1}}`, m[0], i%2, m[1])
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, f.Base["a"]+f.at()+"/predictions", bytes.NewBufferString(body))
				if err != nil {
					t.Error(err)
					continue
				}
				req.Header.Set("Authorization", "Bearer "+token)
				began := time.Now()
				resp, err := web.Do(req)
				if err != nil {
					t.Error(err)
					continue
				}
				answer, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if took[i] = time.Since(began); resp.StatusCode != http.StatusOK {
					t.Errorf("%d: %d %s", i, resp.StatusCode, answer)
				}
			}
		})
	}
	began := time.Now()
	for i := range people {
		work <- i
	}
	close(work)
	all.Wait()
	whole := time.Since(began)
	f.Drained()
	slices.Sort(took)
	t.Logf("%d picks in %v at %d connections: p50 %v, p99 %v; in the cloud after %v", people, whole.Round(time.Millisecond), connections,
		took[people/2].Round(time.Millisecond), took[people*99/100].Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	for i := range people {
		k := attr.Item{"PK": attr.S(fmt.Sprintf("USER#p%03d", i)), "SK": attr.S("EVENT#" + f.event)}
		it, err := client.Get(context.Background(), "pickem-prod", k)
		if n, ok := it["predictions"].Map()[m[0]].Int(); err != nil || !ok || n != int64(i%2) {
			t.Errorf("the cloud does not have the pick of user %d: %v %v", i, it, err)
		}
	}
	f.Quiet()
}
