package route53

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/libdns/libdns"

	"github.com/touchline/touchline/internal/clock"
	fake "github.com/touchline/touchline/internal/testrig/route53"
)

// leap is a clock on which every wait ends at once.
type leap struct {
	clock.Clock
	waited int
}

func (l *leap) Wait(ctx context.Context, _ time.Time, _ *clock.Signal) error {
	l.waited++
	return ctx.Err()
}

func rig(t *testing.T, key string) (*Provider, *fake.Server, *leap) {
	f, l := &fake.Server{T: t, Pending: 3}, &leap{Clock: clock.Real()}
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	return &Provider{Endpoint: srv.URL, Credentials: credentials.NewStaticCredentialsProvider(key, "secret", ""), Clock: l, HTTP: srv.Client()}, f, l
}

// Two values of one name, as for a name and its wildcard, are added and removed independently; values of others stay.
func TestRecords(t *testing.T) {
	p, f, l := rig(t, fake.KeyID)
	ctx := t.Context()
	zones, err := p.ListZones(ctx)
	if err != nil || len(zones) != 2 || zones[0].Name != "example.org." || zones[1].Name != "other.example." {
		t.Fatal(zones, err)
	}
	const name = "_acme-challenge.scores.example.org."
	f.Put(name, `"somebody's"`)
	txt := func(text string) []libdns.Record {
		return []libdns.Record{libdns.TXT{Name: "_acme-challenge.scores", Text: text, TTL: time.Minute}}
	}
	want := func(values ...string) {
		t.Helper()
		if is := f.Values(name); !slices.Equal(is, values) {
			t.Errorf("%q, want %q", is, values)
		}
	}
	for _, text := range []string{"one", "two", "two"} {
		if _, err := p.AppendRecords(ctx, "example.org.", txt(text)); err != nil {
			t.Fatal(err)
		}
	}
	want(`"somebody's"`, `"one"`, `"two"`)
	if l.waited < 3 {
		t.Errorf("it did not wait for all servers: %d", l.waited)
	}
	for _, text := range []string{"one", "none", "two"} {
		if _, err := p.DeleteRecords(ctx, "example.org.", txt(text)); err != nil {
			t.Fatal(err)
		}
	}
	want(`"somebody's"`)
	if _, err := p.DeleteRecords(ctx, "example.org.", txt("somebody's")); err != nil {
		t.Error(err)
	}
	want()
	if _, err := p.AppendRecords(ctx, "private.example.", txt("x")); err == nil {
		t.Error("a private zone was taken")
	}
	if _, err := p.AppendRecords(ctx, "example.org.", []libdns.Record{libdns.CNAME{Name: "a", Target: "b."}}); err == nil {
		t.Error("another type was taken")
	}
}

func TestRefused(t *testing.T) {
	p, _, _ := rig(t, "ANOTHER")
	if _, err := p.ListZones(t.Context()); err == nil || !strings.Contains(err.Error(), "403 InvalidClientTokenId") {
		t.Error(err)
	}
}
