package node

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store/storetest"
)

func TestHTTPLimits(t *testing.T) {
	c := HTTPConfig{CORS: []string{"https://a"}, Rate: httpapi.RateConfig{PerMinute: 7, Burst: 3}, MaxStreams: 5}.Limits(9)
	if c.Rate != (httpapi.RateConfig{PerMinute: 7, Burst: 3}) || c.MaxStreams != 5 || c.MaxConnections != 9 {
		t.Errorf("%+v", c)
	}
}

// Fetched keys are stored unchanged.
func TestKeyStore(t *testing.T) {
	k := keyStore{storetest.Open(t, migrations.WithNode().Tables...)}
	if set, err := k.LoadKeys(t.Context(), "https://a"); err != nil || set.Body != nil {
		t.Errorf("%+v, %v", set, err)
	}
	want := auth.KeySet{Issuer: "https://a", Body: []byte(`{"keys":[]}`), Discovery: []byte(`{}`), ETag: `"x"`, FetchedAt: time.Date(2026, 6, 9, 10, 0, 0, 0, time.UTC)}
	for _, tag := range []string{`"old"`, `"x"`, ""} {
		want.ETag = tag
		if err := k.SaveKeys(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		got, err := k.LoadKeys(t.Context(), "https://a")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	if set, err := k.LoadKeys(t.Context(), "https://b"); err != nil || set.Body != nil {
		t.Errorf("another issuer: %+v, %v", set, err)
	}
}
