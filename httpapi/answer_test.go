package httpapi_test

import (
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi"
)

// A table becomes a file; cells that a spreadsheet would run become text.
func TestCSV(t *testing.T) {
	w := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(w)
	if err := httpapi.CSV(c, "table.csv", [][]string{{"=SUM(A1)", "", "1"}, {"-1", "@x", `a,"b"`}}); err != nil {
		t.Fatal(err)
	}
	if got := w.Body.String(); got != "'=SUM(A1),,1\n'-1,'@x,\"a,\"\"b\"\"\"\n" {
		t.Errorf("%q", got)
	}
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="table.csv"` {
		t.Errorf("%q", got)
	}
}
