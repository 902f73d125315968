package nodes

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/internal/testrig/faultproxy"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/lease"
)

// Local starts a node with DynamoDB Local, which counts what is written.
func Local(t *testing.T, o Options) (f *Fleet, client *dynamo.Client) {
	t.Helper()
	f, client, _ = local(t, o)
	f.dynamo("a", node.DefaultCloud(), client)
	return f, client
}

// TwoLocal starts two nodes with one DynamoDB Local, each behind a network of its own. The client is not behind one.
func TwoLocal(t *testing.T, o Options) (f *Fleet, client *dynamo.Client) {
	t.Helper()
	f, client, s := local(t, o)
	for _, name := range []string{"a", "b"} {
		f.doors[name] = faultproxy.Start(t, s.Addr, 0)
		f.dynamo(name, eager(), f.client(f.doors[name].URL()))
	}
	return f, client
}

// local starts a DynamoDB Local with the tables of an application, and no node.
func local(t *testing.T, o Options) (f *Fleet, client *dynamo.Client, s *ddblocal.Server) {
	t.Helper()
	for name, value := range map[string]string{ //nolint:gosec // DynamoDB Local takes any
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret-of-the-test", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "HTTP_PROXY": "", "HTTPS_PROXY": "",
	} {
		t.Setenv(name, value)
	}
	s = ddblocal.Start(t)
	f = begin(t, o)
	client = f.client(s.URL)
	for _, spec := range append(node.Schema([]*app.App{o.App()}).Tables, syncTable()) {
		if spec.Policy == store.PolicyLocal {
			continue
		}
		if err := client.Create(t.Context(), spec, false); err != nil {
			t.Fatal(err)
		}
	}
	return f, client, s
}

// eager returns the configuration of a cloud that is polled as often as possible, because the test waits in real time.
func eager() node.CloudConfig {
	c := node.DefaultCloud()
	c.Poll.Live, c.Poll.Tables = time.Second, time.Second
	return c
}

func (f *Fleet) client(url string) *dynamo.Client {
	f.T.Helper()
	client, err := dynamo.New(f.T.Context(), dynamo.Config{Endpoint: url, Region: "eu-west-1", Prefix: "t-", Deadline: time.Minute})
	if err != nil {
		f.T.Fatal(err)
	}
	return client
}

func (f *Fleet) dynamo(name string, c node.CloudConfig, client *dynamo.Client) {
	f.T.Helper()
	c.Region = "eu-west-1"
	f.serve(name, &node.Cloud{Config: c, Name: "local", Items: client, Locks: func(table string) lease.Table { return client.Locks(table) }})
}

// Drained waits until the cloud has everything that was written at the nodes.
func (f *Fleet) Drained() {
	f.T.Helper()
	f.Until("the cloud has everything", func() bool {
		for at := range f.Base {
			var st struct{ Waiting int }
			if err := json.Unmarshal([]byte(f.Want(at, Boss, http.MethodGet, "/_/api/sync", "")), &st); err != nil || st.Waiting > 0 {
				return false
			}
		}
		return true
	})
}
