package hacktracker

import (
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/store"
)

// teamCSV is a team's statistics as a table, with the columns that other scorebooks export.
func (a *api) teamCSV(r *call) error {
	all, err := httpapi.Read(r.Context, func(tx *store.Tx) (hacktracker.TeamStats, error) {
		return a.Service.TeamStats(tx, r.user, r.id("team"), r.Query("seasonId"))
	})
	if err != nil {
		return err
	}
	r.Header("Content-Type", "text/csv; charset=utf-8")
	r.Header("Content-Disposition", `attachment; filename="stats.csv"`)
	r.Header("Cache-Control", "private, no-cache")
	w := csv.NewWriter(r.Writer)
	_ = w.Write(strings.Split("Number,Player,GP,PA,AB,AVG,OBP,SLG,OPS,H,1B,2B,3B,HR,RBI,BB,K,HBP,SF,SH,TB,ISO,BABIP", ","))
	for i := range all.Players {
		p := &all.Players[i]
		row := []string{"", safe(p.Name)}
		if p.Number != nil {
			row[0] = strconv.Itoa(*p.Number)
		}
		row = append(row, numbers(p.Games, p.PA, p.AB)...)
		row = append(row, p.AVG.String(), p.OBP.String(), p.SLG.String(), p.OPS.String())
		row = append(row, numbers(p.H, p.H-p.Doubles-p.Triples-p.HR, p.Doubles, p.Triples, p.HR, p.RBI, p.BB, p.K, p.HBP, p.SF, p.SH, p.TB)...)
		_ = w.Write(append(row, p.ISO.String(), p.BABIP.String()))
	}
	w.Flush()
	return w.Error()
}

func numbers(all ...int) (out []string) {
	for _, n := range all {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// safe keeps a spreadsheet from taking a name for a formula.
func safe(name string) string {
	if strings.ContainsAny(name[:min(1, len(name))], "=+-@") {
		return "'" + name
	}
	return name
}
