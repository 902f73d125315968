package dynamoapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// Who may reset: by default nobody, then this machine, then everybody, but never a web page of another origin.
func TestWhoMayReset(t *testing.T) {
	s := storetest.Open(t, store.TableSpec{Name: "users", Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}}, Policy: store.PolicyLocal})
	for name, c := range map[string]struct {
		access dynamoapi.ResetAccess
		method string
		from   string
		origin string
		want   int
		says   string
	}{
		"off":            {dynamoapi.ResetOff, http.MethodPost, "127.0.0.1:5", "", 403, `"Reset is off; touchline dynamodb --any-key turns it on"`},
		"here":           {dynamoapi.ResetFromLoopback, http.MethodPost, "127.0.0.1:5", "", 200, `{"TableNames":["users"]}`},
		"here, mapped":   {dynamoapi.ResetFromLoopback, http.MethodPost, "[::ffff:127.0.0.1]:5", "", 200, `{"TableNames":["users"]}`},
		"another's":      {dynamoapi.ResetFromLoopback, http.MethodPost, "172.17.0.1:5", "", 403, "--remote-reset lets others"},
		"everybody":      {dynamoapi.ResetFromAnywhere, http.MethodPost, "172.17.0.1:5", "", 200, `{"TableNames":["users"]}`},
		"a web page":     {dynamoapi.ResetFromAnywhere, http.MethodPost, "127.0.0.1:5", "https://evil.example", 403, `{"__type":"com.amazon.coral.service#AccessDeniedException"`},
		"another method": {dynamoapi.ResetFromAnywhere, http.MethodGet, "127.0.0.1:5", "", 405, `"message":"/_/reset answers POST only"`},
	} {
		r := httptest.NewRequest(c.method, "http://node:8000/_/reset", http.NoBody)
		r.RemoteAddr = c.from
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		dynamoapi.New(dynamoapi.Config{Store: s, Reset: c.access}).ServeHTTP(w, r)
		if w.Code != c.want || !strings.Contains(strings.ReplaceAll(w.Body.String(), `"Message"`, `"message"`), c.says) {
			t.Errorf("%s: %d %s, want %d %s", name, w.Code, w.Body, c.want, c.says)
		}
	}
}
