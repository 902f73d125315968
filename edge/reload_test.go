package edge

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi"
)

// The live keys are exactly those that a reload applies.
func TestLiveKeys(t *testing.T) {
	was := DefaultConfig()
	next := DefaultConfig()
	next.Auth.APIKey, next.Log.Level, next.DataDir = "a-key-for-this-test-alone", "debug", "/elsewhere"
	next.Apps[0].Settings.(*cricketapp.Settings).Mount = "/scores"
	next.HTTP = node.HTTPConfig{Rate: httpapi.RateConfig{PerMinute: 1, Burst: 2}, MaxStreams: 3, TrustedProxies: []string{"10.0.0.0/8"}, CORS: []string{"https://app.example"}, TLS: was.HTTP.TLS}
	live, rest := changedKeys(was, next)
	if !slices.Equal(live, liveKeys()) || !slices.Equal(rest, []string{"cricket.mount", "data_dir", "http.cors"}) {
		t.Errorf("live %v, the rest %v", live, rest)
	}
	live, rest = changedKeys(was.withLive(&next), next)
	if len(live) > 0 || len(rest) != 3 {
		t.Errorf("afterwards: live %v, the rest %v", live, rest)
	}
}
