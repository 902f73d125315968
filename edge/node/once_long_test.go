//go:build long

package node_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/sync/replica"
)

// Requests with one key at two nodes that see neither each other nor the cloud take effect once after they reconnect: in the cloud and
// at both nodes, without a conflict for a person. Repeating the request at either says so.
func TestOnceAtTwoNodes(t *testing.T) {
	a, b := &counter{}, &counter{}
	cloud, network := sharedCloud(t, cricketapp.New(), a.app())
	linkA, cloudA := linked(network, "a")
	linkB, cloudB := linked(network, "b")
	baseA, _ := beside(t, a, cloudA)
	baseB, _ := beside(t, b, cloudB)
	post := func(base, at, key string) (seq uint64, answer string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/counter/gates/"+at, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-Key", operatorKey)
		req.Header.Set("Idempotency-Key", key)
		resp, err := web.Client(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		seq, _ = strconv.ParseUint(resp.Header.Get("Touchline-Seq"), 10, 64)
		return seq, fmt.Sprint(resp.StatusCode, " ", strings.TrimSpace(string(raw)), errorText(err))
	}
	const first, again = `201 {"repeated":false}`, `201 {"repeated":true}`
	linkA.SetMode(simcloud.NoDNS)
	linkB.SetMode(simcloud.NoDNS)
	for base, link := range map[string]*simcloud.Link{baseA: linkA, baseB: linkB} {
		for i, want := range []string{first, again} {
			if _, got := post(base, "west", "k1"); got != want {
				t.Errorf("request %d of %v: %s", i, link, got)
			}
		}
	}
	seq, got := post(baseB, "south", "k2") // another request, at b only
	if got != first {
		t.Error(got)
	}
	linkA.Heal()
	until(t, "the cloud has it of a", func() bool { n, _ := cloud.Item(counts, gate("west"))["n"].Int(); return n == 1 })
	linkB.Heal()
	until(t, "b is through", func() bool {
		proof, err := b.host.Sync.Proved(t.Context(), seq)
		return err == nil && proof == replica.ProofApplied
	})
	until(t, "both show both", func() bool { return a.sumOf(t.Context()) == 2 && b.sumOf(t.Context()) == 2 })
	if n, _ := cloud.Item(counts, gate("west"))["n"].Int(); n != 1 {
		t.Errorf("the cloud has counted one request %d times", n)
	}
	for _, base := range []string{baseA, baseB} {
		for at, key := range map[string]string{"west": "k1", "south": "k2"} {
			if _, got := post(base, at, key); got != again {
				t.Errorf("asked again with %s: %s", key, got)
			}
		}
		if _, body := ask(t, base+"/_/api/conflicts?state=open"); !strings.Contains(body, `"items":[]`) {
			t.Errorf("somebody is asked: %s", body)
		}
	}
}
