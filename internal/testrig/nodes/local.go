package nodes

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/lease"
)

// Local starts a node over DynamoDB Local, which counts what is written.
func Local(t *testing.T, o Options) (f *Fleet, client *dynamo.Client) {
	t.Helper()
	for name, value := range map[string]string{ //nolint:gosec // DynamoDB Local takes any
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret-of-the-test", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "HTTP_PROXY": "", "HTTPS_PROXY": "",
	} {
		t.Setenv(name, value)
	}
	s := ddblocal.Start(t)
	client, err := dynamo.New(t.Context(), dynamo.Config{
		Endpoint: s.URL, Region: "eu-west-1", Prefix: "t-", Deadline: time.Minute, Dial: s.Client.Transport.(*http.Transport).DialContext,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range append(node.Schema([]*app.App{o.App()}).Tables, syncTable()) {
		if spec.Policy == store.PolicyLocal {
			continue
		}
		if err := client.Create(t.Context(), spec, false); err != nil {
			t.Fatal(err)
		}
	}
	f = begin(t, o)
	c := node.DefaultCloud()
	c.Region = "eu-west-1"
	f.serve("a", &node.Cloud{Config: c, Name: "local", Items: client, Locks: func(table string) lease.Table { return client.Locks(table) }})
	return f, client
}

// Drained waits until the cloud has everything that was written at "a".
func (f *Fleet) Drained() {
	f.T.Helper()
	f.Until("the cloud has everything", func() bool {
		var st struct{ Waiting int }
		return json.Unmarshal([]byte(f.Want("a", Boss, http.MethodGet, "/_/api/sync", "")), &st) == nil && st.Waiting == 0
	})
}
