package pickem

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/store"
)

// writeCSV answers with a table. A cell that a spreadsheet would run as a formula is marked as text.
func writeCSV(c *gin.Context, rows [][]string) error {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, row := range rows {
		for i, cell := range row {
			if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t") {
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
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, "text/csv; charset=utf-8", out.Bytes())
	return nil
}

// getEventCSV has everybody's picks from the lock on, before it nobody's.
func (a *api) getEventCSV(c *gin.Context, user string) error {
	var card pickem.Card
	err := httpapi.View(c, func(tx *store.Tx) (err error) {
		card, err = a.Service.Event(tx, c.Param("id"), user)
		return err
	})
	if err != nil {
		return err
	}
	t := grid(&card)
	return writeCSV(c, append([][]string{t.Heads}, t.Rows...))
}

func (a *api) getStandingsCSV(c *gin.Context, _ string) error {
	rows := [][]string{{"rank", "userId", "name", "points", "mcorrect", "eplayed"}}
	err := httpapi.View(c, func(tx *store.Tx) error {
		year, err := yearAsked(c, tx)
		if err != nil {
			return err
		}
		all, err := a.Service.Standings(tx, year)
		for i := range all {
			st := &all[i]
			rows = append(rows, []string{strconv.Itoa(st.Rank), st.User, st.Name, strconv.Itoa(st.Points), strconv.Itoa(st.Correct), strconv.Itoa(st.Played)})
		}
		return err
	})
	if err != nil {
		return err
	}
	return writeCSV(c, rows)
}

// postCard puts the matches of a CSV file on a card, all or none: pickem.ParseMatch has the columns.
func (a *api) postCard(c *gin.Context) error {
	r := csv.NewReader(c.Request.Body)
	r.FieldsPerRecord = 5
	rows, err := r.ReadAll()
	if err != nil {
		return bind.Invalid("card", "is not a CSV file with five columns: %v", err)
	}
	if len(rows) > 0 && strings.EqualFold(rows[0][0], "name") {
		rows = rows[1:]
	}
	return created(c, func(tx *store.Tx) (out pickem.Card, err error) {
		for i, row := range rows {
			m, err := pickem.ParseMatch(row)
			if err != nil {
				return out, bind.Invalid("card", "has no whole number of points in match %d", i+1)
			}
			if _, err := a.Service.AddMatch(tx, c.Param("id"), m); err != nil {
				return out, err
			}
		}
		return card(a.Service.Event(tx, c.Param("id"), ""))
	})
}
