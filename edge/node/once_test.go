package node_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/sync/replica"
)

// Requests with one key at two nodes that see neither each other nor the cloud take effect once after they reconnect: in the cloud and
// at both nodes, without a conflict for a person. Repeating the request at either says so.
func TestOnceAtTwoNodes(t *testing.T) { synctest.Test(t, playOnce) }

func playOnce(t *testing.T) {
	a, b := &counter{}, &counter{}
	cloud, network := sharedCloud(t, cricketapp.New(), a.app())
	linkA, cloudA := linked(network, "a")
	linkB, cloudB := linked(network, "b")
	toA, toB := besideInBubble(t, a, cloudA), besideInBubble(t, b, cloudB)
	post := func(to *http.Client, at, key string) (seq uint64, answer string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/counter/gates/"+at, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-Key", operatorKey)
		req.Header.Set("Idempotency-Key", key)
		resp, err := to.Do(req)
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
	for name, to := range map[string]*http.Client{"a": toA, "b": toB} {
		for i, want := range []string{first, again} {
			if _, got := post(to, "west", "k1"); got != want {
				t.Errorf("request %d to %s: %s", i, name, got)
			}
		}
	}
	seq, got := post(toB, "south", "k2") // another request, at b only
	if got != first {
		t.Error(got)
	}
	linkA.Heal()
	wait.Until(t, "the cloud has it of a", func() bool { n, _ := cloud.Item(counts, gate("west"))["n"].Int(); return n == 1 })
	linkB.Heal()
	wait.Until(t, "b is through", func() bool {
		proof, err := b.host.Sync.ProofOf(t.Context(), seq)
		return err == nil && proof == replica.ProofApplied
	})
	wait.Until(t, "both show both", func() bool { return a.sumOf(t.Context()) == 2 && b.sumOf(t.Context()) == 2 })
	if n, _ := cloud.Item(counts, gate("west"))["n"].Int(); n != 1 {
		t.Errorf("the cloud has counted one request %d times", n)
	}
	for _, to := range []*http.Client{toA, toB} {
		for at, key := range map[string]string{"west": "k1", "south": "k2"} {
			if _, got := post(to, at, key); got != again {
				t.Errorf("asked again with %s: %s", key, got)
			}
		}
		if _, body := askBy(t, to, "http://localhost/_/api/conflicts?state=open"); !strings.Contains(body, `"items":[]`) {
			t.Errorf("somebody is asked: %s", body)
		}
	}
}
