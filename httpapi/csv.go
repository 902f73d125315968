package httpapi

import (
	"bytes"
	"encoding/csv"
	"strings"

	"github.com/gin-gonic/gin"
)

// CSV answers with a table as a file download. Cells that a spreadsheet would run as a formula are marked as text.
func CSV(c *gin.Context, name string, rows [][]string) error {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, row := range rows {
		for i, cell := range row {
			if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r") {
				row[i] = "'" + cell
			}
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	return download(c, name, "text/csv; charset=utf-8", out.Bytes())
}
