package route53

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/libdns/libdns"

	"github.com/touchline/touchline/internal/clock"
)

// fake is as much of Route 53's API as the provider asks: two pages of zones, and record sets of which an UPSERT replaces a whole
// one and a DELETE has to name it as it is.
type fake struct {
	t       *testing.T
	sets    map[string][]string // values by name
	pending int                 // answers PENDING so often
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if who := r.Header.Get("Authorization"); !strings.Contains(who, "Credential=AKID/") || !strings.Contains(who, "/us-east-1/route53/aws4_request") {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `<ErrorResponse><Error><Code>InvalidClientTokenId</Code><Message>no</Message></Error></ErrorResponse>`)
		return
	}
	switch path := r.Method + " " + r.URL.Path; {
	case path == "GET /2013-04-01/hostedzone" && r.FormValue("marker") == "":
		fmt.Fprint(w, `<ListHostedZonesResponse><HostedZones><HostedZone><Id>/hostedzone/ZPRIVATE</Id><Name>private.example.</Name><Config><PrivateZone>true</PrivateZone></Config></HostedZone>`+
			`<HostedZone><Id>/hostedzone/Z1</Id><Name>example.org.</Name></HostedZone></HostedZones><IsTruncated>true</IsTruncated><NextMarker>Z2</NextMarker></ListHostedZonesResponse>`)
	case path == "GET /2013-04-01/hostedzone":
		fmt.Fprint(w, `<ListHostedZonesResponse><HostedZones><HostedZone><Id>/hostedzone/Z2</Id><Name>other.example.</Name></HostedZone></HostedZones></ListHostedZonesResponse>`)
	case path == "GET /2013-04-01/hostedzone/Z1/rrset": // the first set at or behind the name
		out := `<ResourceRecordSet><Name>zzz.example.org.</Name><Type>TXT</Type></ResourceRecordSet>`
		if values, ok := f.sets[r.FormValue("name")]; ok {
			set, _ := xml.Marshal(recordSet{Name: r.FormValue("name"), Type: "TXT", TTL: 60, Values: values})
			out = strings.ReplaceAll(string(set), "recordSet", "ResourceRecordSet")
		}
		fmt.Fprint(w, `<ListResourceRecordSetsResponse><ResourceRecordSets>`+out+`</ResourceRecordSets></ListResourceRecordSetsResponse>`)
	case path == "POST /2013-04-01/hostedzone/Z1/rrset/":
		f.change(w, r)
	case path == "GET /2013-04-01/change/C1":
		status := "INSYNC"
		if f.pending--; f.pending > 0 {
			status = "PENDING"
		}
		fmt.Fprint(w, `<GetChangeResponse><ChangeInfo><Id>/change/C1</Id><Status>`+status+`</Status></ChangeInfo></GetChangeResponse>`)
	default:
		f.t.Errorf("it was asked %s", path)
		w.WriteHeader(http.StatusNotFound)
	}
}

func (f *fake) change(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var c changeRequest
	if err := xml.Unmarshal(raw, &c); err != nil || !strings.Contains(string(raw), `xmlns="https://route53.amazonaws.com/doc/2013-04-01/"`) {
		f.t.Errorf("%s: %v", raw, err)
	}
	if strings.Count(string(raw), "<Change>") != 1 || c.Set.Type != "TXT" || c.Set.TTL != 60 {
		f.t.Errorf("%s", raw)
	}
	switch {
	case c.Action == "UPSERT":
		f.sets[c.Set.Name] = c.Set.Values
	case c.Action == "DELETE" && slices.Equal(f.sets[c.Set.Name], c.Set.Values):
		delete(f.sets, c.Set.Name)
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `<ErrorResponse><Error><Code>InvalidChangeBatch</Code><Message>not found</Message></Error></ErrorResponse>`)
		return
	}
	fmt.Fprint(w, `<ChangeResourceRecordSetsResponse><ChangeInfo><Id>/change/C1</Id><Status>PENDING</Status></ChangeInfo></ChangeResourceRecordSetsResponse>`)
}

// leap is a clock on which every wait is over at once.
type leap struct {
	clock.Clock
	waited int
}

func (l *leap) Wait(ctx context.Context, _ time.Time, _ *clock.Signal) error {
	l.waited++
	return ctx.Err()
}

func rig(t *testing.T, key string) (*Provider, *fake, *leap) {
	f, l := &fake{t: t, sets: map[string][]string{}, pending: 3}, &leap{Clock: clock.Real()}
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	return &Provider{Endpoint: srv.URL, Credentials: credentials.NewStaticCredentialsProvider(key, "secret", ""), Clock: l, HTTP: srv.Client()}, f, l
}

// Two values of one name, as a name and its wildcard have them, come and go each by itself; what others have put there stays.
func TestRecords(t *testing.T) {
	p, f, l := rig(t, "AKID")
	ctx := t.Context()
	zones, err := p.ListZones(ctx)
	if err != nil || len(zones) != 2 || zones[0].Name != "example.org." || zones[1].Name != "other.example." {
		t.Fatal(zones, err)
	}
	const name = "_acme-challenge.scores.example.org."
	f.sets[name] = []string{`"somebody's"`}
	txt := func(text string) []libdns.Record {
		return []libdns.Record{libdns.TXT{Name: "_acme-challenge.scores", Text: text, TTL: time.Minute}}
	}
	want := func(values ...string) {
		t.Helper()
		if !slices.Equal(f.sets[name], values) {
			t.Errorf("%q, want %q", f.sets[name], values)
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
	if _, err := p.DeleteRecords(ctx, "example.org.", txt("somebody's")); err != nil || len(f.sets) != 0 {
		t.Error(f.sets, err)
	}
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
