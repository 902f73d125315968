package node_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
)

// clients is two nodes whose clients use a table that no application reads, so that nothing of it arrives by itself.
type clients struct {
	*nodes.Pair
	t    *testing.T
	apis []*dynamoapi.API
}

func newClients(t *testing.T) *clients {
	t.Helper()
	wrk := store.TableSpec{
		Name: "wrk", Policy: store.PolicyIntent, Why: "a client made it",
		Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}},
	}
	a := &app.App{
		Schema: func() migrations.Schema { return app.OneTable(wrk) },
		Cloud:  func() app.Cloud { return app.Cloud{} },
	}
	f := &clients{t: t}
	f.Pair = nodes.NewPair(t, a, 1, func(err error) {
		if err != nil {
			t.Error(err)
		}
	})
	for _, half := range f.Nodes {
		half.Consumer = func(*store.Tx, []store.Record) error { return nil }
		f.apis = append(f.apis, dynamoapi.New(dynamoapi.Config{Store: half.Store, Policy: store.PolicyIntent, Cloud: half.Sync}))
	}
	f.Pass(5 * time.Second)
	return f
}

// do sends a request to a node, 0 or 1, and returns the answer or the error.
func (f *clients) do(at int, operation, format string, args ...any) string {
	f.t.Helper()
	out, err := f.apis[at].Do(f.t.Context(), operation, fmt.Appendf(nil, format, args...))
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func (f *clients) sent() {
	f.t.Helper()
	f.Pass(2 * time.Second)
}

func (f *clients) quiet() {
	f.t.Helper()
	f.Pass(time.Minute)
	for i, half := range f.Nodes {
		st, err := half.Sync.Status(f.t.Context())
		if err != nil || st.Waiting > 0 || st.Conflicts.Open > 0 {
			f.t.Errorf("node %d: %d waiting, %d conflicts, %v", i, st.Waiting, st.Conflicts.Open, err)
		}
	}
}

// Items that the first node made are judged as the cloud has them at the second, by each kind of write and of consistent read.
func TestWritesAreJudgedByTheCloudsItems(t *testing.T) {
	const exists, absent = `"ConditionExpression":"attribute_exists(id)"`, `"ConditionExpression":"attribute_not_exists(id)"`
	for _, tt := range []struct {
		name, operation, body string
		want                  string // part of the answer
	}{
		{"update", "UpdateItem", `{"TableName":"wrk","Key":{"id":{"S":"x"}},"UpdateExpression":"SET n = n + :one","ExpressionAttributeValues":{":one":{"N":"1"}},"ReturnValues":"ALL_NEW",` + exists + `}`, `"n":{"N":"8"}`},
		{"update without a condition", "UpdateItem", `{"TableName":"wrk","Key":{"id":{"S":"x"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}},"ReturnValues":"ALL_NEW"}`, `"n":{"N":"8"}`},
		{"put", "PutItem", `{"TableName":"wrk","Item":{"id":{"S":"x"}},` + absent + `}`, "conditional request failed"},
		{"put that returns", "PutItem", `{"TableName":"wrk","Item":{"id":{"S":"x"}},"ReturnValues":"ALL_OLD"}`, `"n":{"N":"7"}`},
		{"put by the name's ARN", "PutItem", `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/wrk","Item":{"id":{"S":"x"}},` + absent + `}`, "conditional request failed"},
		{"put with a legacy condition", "PutItem", `{"TableName":"wrk","Item":{"id":{"S":"x"}},"Expected":{"id":{"Exists":false}}}`, "conditional request failed"},
		{"delete", "DeleteItem", `{"TableName":"wrk","Key":{"id":{"S":"x"}},"ReturnValues":"ALL_OLD",` + exists + `}`, `"n":{"N":"7"}`},
		{"transaction", "TransactWriteItems", `{"TransactItems":[
			{"Update":{"TableName":"wrk","Key":{"id":{"S":"x"}},"UpdateExpression":"SET n = n - :one","ExpressionAttributeValues":{":one":{"N":"1"}},"ConditionExpression":"n >= :one"}},
			{"Update":{"TableName":"wrk","Key":{"id":{"S":"y"}},"UpdateExpression":"SET n = n + :one","ExpressionAttributeValues":{":one":{"N":"1"}},` + exists + `}}]}`, "{}"},
		{"condition check", "TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"TableName":"wrk","Key":{"id":{"S":"x"}},` + exists + `}},{"Put":{"TableName":"wrk","Item":{"id":{"S":"z"}}}}]}`, "{}"},
		{"transaction of a create", "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"wrk","Item":{"id":{"S":"x"}},` + absent + `}}]}`, "ConditionalCheckFailed"},
		{"PartiQL insert", "ExecuteStatement", `{"Statement":"INSERT INTO wrk VALUE {'id':'x'}"}`, "Duplicate primary key"},
		{"PartiQL update", "ExecuteStatement", `{"Statement":"UPDATE wrk SET n = n + 1 WHERE id = 'x' RETURNING ALL NEW *"}`, `"n":{"N":"8"}`},
		{"PartiQL batch", "BatchExecuteStatement", `{"Statements":[{"Statement":"DELETE FROM wrk WHERE id = 'x' RETURNING ALL OLD *"}]}`, `"n":{"N":"7"}`},
		{"PartiQL transaction", "ExecuteTransaction", `{"TransactStatements":[{"Statement":"UPDATE wrk SET n = n + 1 WHERE id = 'x' AND n = 7"},{"Statement":"EXISTS(SELECT * FROM wrk WHERE id = 'y' AND n = 7)"}]}`, "{"},
		{"consistent read", "GetItem", `{"TableName":"wrk","Key":{"id":{"S":"x"}},"ConsistentRead":true}`, `"n":{"N":"7"}`},
		{"consistent batch", "BatchGetItem", `{"RequestItems":{"wrk":{"Keys":[{"id":{"S":"x"}}],"ConsistentRead":true}}}`, `"n":{"N":"7"}`},
		{"transaction of reads", "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"wrk","Key":{"id":{"S":"x"}}}}]}`, `"n":{"N":"7"}`},
		{"PartiQL batch of reads", "BatchExecuteStatement", `{"Statements":[{"Statement":"SELECT * FROM wrk WHERE id = 'x'","ConsistentRead":true}]}`, `"n":{"N":"7"}`},
		{"PartiQL read", "ExecuteStatement", `{"Statement":"SELECT * FROM wrk WHERE id = 'x'","ConsistentRead":true}`, `"n":{"N":"7"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newClients(t)
				for _, id := range []string{"x", "y"} {
					f.do(0, "PutItem", `{"TableName":"wrk","Item":{"id":{"S":%q},"n":{"N":"6"}}}`, id)
				}
				f.sent()
				f.do(1, "GetItem", `{"TableName":"wrk","Key":{"id":{"S":"x"}},"ConsistentRead":true}`) // the second node has it as it was then
				for _, id := range []string{"x", "y"} {
					f.do(0, "PutItem", `{"TableName":"wrk","Item":{"id":{"S":%q},"n":{"N":"7"}}}`, id)
				}
				f.sent()
				if got := f.do(1, tt.operation, "%s", tt.body); !strings.Contains(got, tt.want) {
					t.Errorf("%s, want %s", got, tt.want)
				}
				f.quiet()
			})
		})
	}
}

// Two nodes transfer between the same accounts, one after the other: none is refused, and nothing is lost. Without the cloud a node goes
// on with what it has.
func TestTransfersAtTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newClients(t)
		const accounts, each = 5, 100
		for i := range accounts {
			f.do(0, "PutItem", `{"TableName":"wrk","Item":{"id":{"S":"%d"},"n":{"N":"%d"}}}`, i, each)
		}
		f.sent()
		transfer := func(at, from, to int) string {
			return f.do(at, "TransactWriteItems", `{"TransactItems":[
				{"Update":{"TableName":"wrk","Key":{"id":{"S":"%d"}},"UpdateExpression":"SET n = n - :n","ExpressionAttributeValues":{":n":{"N":"1"}},"ConditionExpression":"n >= :n"}},
				{"Update":{"TableName":"wrk","Key":{"id":{"S":"%d"}},"UpdateExpression":"SET n = n + :n","ExpressionAttributeValues":{":n":{"N":"1"}},"ConditionExpression":"attribute_exists(id)"}}]}`, from, to)
		}
		for i := range 60 {
			if got := transfer(i%2, i%accounts, (i+1)%accounts); got != "{}" {
				t.Errorf("transfer %d: %s", i, got)
			}
			f.sent()
		}
		sum := 0
		for _, row := range f.Rows(nil) {
			n, ok := row["n"].Int()
			if !ok {
				t.Fatal(row)
			}
			sum += int(n)
		}
		if sum != accounts*each {
			t.Errorf("%d in all accounts", sum)
		}
		f.quiet()
		f.Nodes[1].Link.SetMode(simcloud.NoDNS)
		if got := transfer(1, 0, 1); got != "{}" {
			t.Errorf("without the cloud: %s", got)
		}
	})
}

// A table that no rule reads is named in the status.
func TestStatusNamesTablesThatAreOnlySent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newClients(t)
		st, err := f.Nodes[0].Sync.Status(t.Context())
		if err != nil || strings.Join(st.SendsOnly, " ") != "wrk" {
			t.Errorf("%q, %v", st.SendsOnly, err)
		}
	})
}

// A node that may write to such a table and not read it judges by what it has. It says so, in words, and is ready all the same.
func TestRefusedReadsOfClientsTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newClients(t)
		const exists = `{"TableName":"wrk","Key":{"id":{"S":"x"}},"UpdateExpression":"SET n = :n","ExpressionAttributeValues":{":n":{"N":"1"}},"ConditionExpression":"attribute_exists(id)"}`
		says := func(when string, at int, want string) {
			t.Helper()
			got, err := f.Nodes[at].Sync.Standing(t.Context())
			if err != nil || got != want {
				t.Errorf("%s, node %d: %q, want %q, %v", when, at, got, want, err)
			}
		}
		f.do(0, "PutItem", `{"TableName":"wrk","Item":{"id":{"S":"x"}}}`)
		f.sent()
		f.Nodes[1].Link.DenyReads("wrk", true)
		if got := f.do(1, "UpdateItem", exists); !strings.Contains(got, "conditional request failed") {
			t.Errorf("the node cannot know of the item: %s", got)
		}
		f.do(1, "PutItem", `{"TableName":"wrk","Item":{"id":{"S":"y"}}}`)
		f.Pass(80 * time.Second)
		says("after 80 seconds", 1, "")
		f.Pass(2*time.Minute + 30*time.Second)
		says("after almost four minutes", 0, "")
		says("after almost four minutes", 1, "Requests that depend on what others write to wrk are judged without it; Query refused for 3 minutes: "+
			"this node may not read them (docs/cloud.md has the policy).")
		f.quiet()
		f.Nodes[1].Link.DenyReads("wrk", false)
		if got := f.do(1, "UpdateItem", exists); strings.Contains(got, "failed") {
			t.Error(got)
		}
		f.quiet()
		says("when it may read again", 1, "")
	})
}
