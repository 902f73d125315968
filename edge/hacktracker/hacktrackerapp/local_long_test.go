//go:build long

package hacktrackerapp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/intent"
)

// newLocal is a node over DynamoDB Local.
func newLocal(t *testing.T) (f *fleet, client *dynamo.Client) {
	t.Helper()
	for name, value := range map[string]string{
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
	tables := append(node.Schema([]*app.App{New()}).Tables, store.TableSpec{
		Name: "touchline-sync", Key: store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}},
	})
	for _, spec := range tables {
		if spec.Policy == store.PolicyLocal {
			continue
		}
		if err := client.Create(t.Context(), spec, false); err != nil {
			t.Fatal(err)
		}
	}
	issuer, err := auth.NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	f = &fleet{t: t, issuer: issuer, base: map[string]string{}}
	c := node.DefaultCloud()
	c.Region = "eu-west-1"
	f.serve("a", &node.Cloud{Config: c, Name: "local", Items: client, Locks: func(table string) lease.Table { return client.Locks(table) }})
	return f, client
}

// drained waits until the cloud has everything.
func (f *fleet) drained() {
	f.t.Helper()
	f.until("the cloud has everything", func() bool {
		var st struct{ Waiting int }
		return json.Unmarshal([]byte(f.want("a", "boss", "GET", "/_/api/sync", "")), &st) == nil && st.Waiting == 0
	})
}

// What an action costs, as DynamoDB Local counts it. An at-bat is a transaction of three, its row, the check of its game, its proof, at
// two units each, and its index entry, which in a transaction counts two as well. A game is its row and its proof, and two index entries.
func TestWriteUnits(t *testing.T) {
	f, client := newLocal(t)
	var team, player, game, atBat string
	for _, a := range []struct {
		name string
		most float64
		do   func()
	}{
		{"a team with its owner", 17, func() { team = f.made("a", "/teams", `{"name":"Bad News","teamType":"MANAGED"}`, "teamId") }},
		{"a player with a number", 4, func() {
			player = f.made("a", "/teams/"+team+"/players", `{"firstName":"Abe","playerNumber":12}`, "playerId")
		}},
		{"a game", 8, func() { game = f.made("a", "/games", fmt.Sprintf(`{"teamId":%q}`, team), "gameId") }},
		{"its start", 10, func() {
			f.want("a", "ana", "PATCH", mount+"/games/"+game, fmt.Sprintf(`{"status":"IN_PROGRESS","lineup":[{"playerId":%q,"battingOrder":1}]}`, player))
		}},
		{"an at-bat", 8, func() {
			atBat = f.made("a", "/games/"+game+"/atbats", fmt.Sprintf(`{"playerId":%q,"result":"1B","inning":1,"outs":0,"battingOrder":1}`, player), "atBatId")
		}},
		{"an at-bat with everything", 8, func() {
			f.made("a", "/games/"+game+"/atbats", fmt.Sprintf(`{"playerId":%q,"result":"HR","inning":1,"outs":0,"battingOrder":1,
				"hitLocation":{"x":0.25,"y":0.5},"hitType":"line_drive","rbis":2}`, player), "atBatId")
		}},
		{"its correction", 2, func() { f.want("a", "ana", "PUT", mount+"/games/"+game+"/atbats/"+atBat, `{"result":"2B"}`) }},
		{"runs", 3, func() { f.want("a", "ana", "PATCH", mount+"/games/"+game, `{"teamScore":2}`) }},
		{"taking it back", 3, func() { f.want("a", "ana", "DELETE", mount+"/games/"+game+"/atbats/"+atBat, "") }},
	} {
		before := client.Usage().WriteUnits
		a.do()
		f.drained()
		used := client.Usage().WriteUnits - before
		t.Logf("%s: %v write units", a.name, used)
		if used == 0 || used > a.most {
			t.Errorf("%s: %v write units, at most %v", a.name, used, a.most)
		}
	}
}
