package dynamo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// operation returns a request's operation.
func operation(r *http.Request) string {
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return op
}

func TestTransactionsProbe(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   bool
		fails  bool
	}{
		{"DynamoDB", refuse("ValidationException", "Member must have length greater than or equal to 1"), true, false},
		{"IAM first", refuse("AccessDeniedException", "no"), true, false},
		{"Alternator", refuse("UnknownOperationException", "Unsupported operation TransactWriteItems"), false, false},
		{"in trouble", amazon(500, `{"__type":"InternalServerError"}`), false, true},
		{"throttled", refuse("ThrottlingException", ""), false, true},
		{"expired", refuse("ExpiredTokenException", ""), false, true},
		{"a portal", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.answer)
			got, err := client(t, s.URL).Transactions(t.Context())
			if got != tt.want || (err != nil) != tt.fails {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// If a server never returns the item of a failed condition, the item is read. A server that has returned one is trusted when it
// returns none.
func TestOldImages(t *testing.T) {
	var tells atomic.Bool
	var reads atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case operation(r) == "GetItem":
			reads.Add(1)
			amazon(200, `{"Item":{"pk":{"S":"a"},"n":{"N":"7"}}}`)(w, r)
		case tells.Load():
			amazon(400, `{"__type":"ConditionalCheckFailedException","Item":{"pk":{"S":"a"},"n":{"N":"8"}}}`)(w, r)
		default:
			amazon(400, `{"__type":"ConditionalCheckFailedException"}`)(w, r)
		}
	})
	c := client(t, s.URL)
	ask := func(want attr.Item, wantReads int64) {
		t.Helper()
		_, err := c.Write(t.Context(), intent.Call{
			Op: store.OpUpdate, Table: "events", Key: item("a"), Update: "SET n = :n", Condition: "n = :n",
		})
		e, _ := err.(*intent.Error) //nolint:errorlint // Write gives nothing else
		if e == nil || e.Class != intent.ConditionFailed || !attr.EqualItems(e.Old, want) || reads.Load() != wantReads {
			t.Errorf("%v with %v after %d reads", err, e.Old, reads.Load())
		}
	}
	ask(item("a", "n", num("7")), 1)
	tells.Store(true)
	ask(item("a", "n", num("8")), 1)
	tells.Store(false)
	ask(nil, 1)
}

// The read that replaces an old image may fail; then nothing is known of the item.
func TestOldImageUnreadable(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if operation(r) == "GetItem" {
			amazon(500, "{}")(w, r)
			return
		}
		amazon(400, `{"__type":"ConditionalCheckFailedException"}`)(w, r)
	})
	_, err := client(t, s.URL).Write(t.Context(), intent.Call{Op: store.OpDelete, Table: "events", Key: item("a"), Condition: "x = x"})
	if e, _ := err.(*intent.Error); e == nil || e.Class != intent.Unknown { //nolint:errorlint // as above
		t.Errorf("%v", err)
	}
}

// What every write and read requests, as sent.
func TestRequests(t *testing.T) {
	var got map[string]any
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = nil
		if err := json.Unmarshal(body, &got); err != nil {
			t.Error(err)
		}
		amazon(200, "{}")(w, r)
	})
	c := client(t, s.URL)
	for _, op := range []store.Op{store.OpPut, store.OpUpdate, store.OpDelete} {
		if _, err := c.Write(t.Context(), intent.Call{Op: op, Table: "events", Key: item("a"), Item: item("a"), Update: "SET n = n"}); err != nil {
			t.Fatal(err)
		}
		if got["TableName"] != "t-events" || got["ReturnValuesOnConditionCheckFailure"] != "ALL_OLD" {
			t.Errorf("%v: %v", op, got)
		}
		if _, there := got["ConditionExpression"]; there {
			t.Errorf("%v: an empty condition in %v", op, got)
		}
	}
	if _, err := c.Get(t.Context(), "events", item("a")); err != nil || got["ConsistentRead"] != true {
		t.Errorf("%v, %v", got, err)
	}
	for name, r := range map[string]remote.Reading{
		"Query": {Table: "events", KeyCondition: "pk = :p", Params: expr.Params{Values: attr.Item{":p": attr.S("a")}}},
		"Scan":  {Table: "events"},
	} {
		for _, consistent := range []bool{true, false} {
			r.Consistent = consistent
			if _, err := c.Read(t.Context(), r); err != nil || got["ConsistentRead"] != consistent {
				t.Errorf("%s, consistent: %v: %v, %v", name, consistent, got, err)
			}
		}
	}
	err := c.Transact(t.Context(), []intent.Call{{Table: "events", Key: item("a"), Condition: "attribute_exists(pk)"}}, "T1")
	if err != nil || got["ClientRequestToken"] != "T1" || strings.Count(fmt.Sprint(got), "ALL_OLD") != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// After keys have expired, the next request fetches new ones.
func TestCredentialsAreRenewed(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Authorization"), "Credential=FIRST/") {
			refuse("ExpiredTokenException", "The security token included in the request is expired")(w, r)
			return
		}
		amazon(200, "{}")(w, r)
	})
	var asked atomic.Int64
	giver := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		id := "FIRST"
		if asked.Add(1) > 1 {
			id = "SECOND"
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"AccessKeyId":%q,"SecretAccessKey":"s","Token":"t","Expiration":%q}`, id, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", giver.URL+"/creds")
	c := client(t, s.URL)
	if e := write(t, c); e == nil || e.Class != intent.Credentials {
		t.Fatalf("%v", e)
	}
	if e := write(t, c); e != nil {
		t.Errorf("with new keys: %v", e)
	}
	if e := write(t, c); e != nil || asked.Load() != 2 {
		t.Errorf("%v; keys were asked for %d times", e, asked.Load())
	}
}

// A server that refuses a signature's time also sends its own: the next request is signed with it.
func TestWrongClock(t *testing.T) {
	server := time.Now().Add(-3 * time.Hour).UTC()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", server.Format(http.TimeFormat))
		at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		if err != nil || at.Sub(server).Abs() > 15*time.Minute {
			refuse("InvalidSignatureException", "Signature expired: 20261009T120000Z is now earlier than ...")(w, r)
			return
		}
		amazon(200, "{}")(w, r)
	})
	c := client(t, s.URL)
	if e := write(t, c); e == nil || e.Class != intent.Credentials {
		t.Fatalf("%v", e)
	}
	if e := write(t, c); e != nil {
		t.Errorf("after the answer has shown the time: %v", e)
	}
	if off := c.Skew() + 3*time.Hour; off.Abs() > 5*time.Second {
		t.Errorf("skew %v", c.Skew())
	}
}

// An endless answer is aborted before it fills the memory.
func TestEndlessAnswer(t *testing.T) {
	chunk := bytes.Repeat([]byte(" "), 1<<20)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	if e := write(t, client(t, s.URL, deadline(time.Minute))); e == nil || e.Class != intent.Unknown {
		t.Errorf("%v", e)
	}
}
