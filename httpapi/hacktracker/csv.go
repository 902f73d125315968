package hacktracker

import (
	"strconv"
	"strings"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fraction"
)

// teamCSV is a team's statistics as a table, with the columns that other scorebooks export.
func (a *api) teamCSV(r *call) error {
	stats, err := httpapi.Read(r.Context, in(a, r, func(b *hacktracker.Book, r *call) hacktracker.TeamStats {
		return b.TeamStats(r.id("team"), r.Query("seasonId"))
	}))
	if err != nil {
		return err
	}
	rows := [][]string{strings.Split("Number,Player,GP,PA,AB,AVG,OBP,SLG,OPS,H,1B,2B,3B,HR,RBI,BB,K,HBP,SF,SH,TB,ISO,BABIP", ",")}
	for i := range stats.Players {
		p := &stats.Players[i]
		row := []string{hacktracker.Shirt(p.Number), p.Name}
		row = append(row, numbers(p.Games, p.PA, p.AB)...)
		row = append(row, averages(p.AVG, p.OBP, p.SLG, p.OPS)...)
		row = append(row, numbers(p.H, p.H-p.Doubles-p.Triples-p.HR, p.Doubles, p.Triples, p.HR, p.RBI, p.BB, p.K, p.HBP, p.SF, p.SH, p.TB)...)
		rows = append(rows, append(row, averages(p.ISO, p.BABIP)...))
	}
	return httpapi.CSV(r.Context, "stats.csv", rows)
}

// averages are cells of averages: those that are not known are empty.
func averages(all ...fraction.Fraction) (out []string) {
	for _, f := range all {
		out = append(out, strings.TrimLeft(f.String(), "-"))
	}
	return out
}

func numbers(all ...int) (out []string) {
	for _, n := range all {
		out = append(out, strconv.Itoa(n))
	}
	return out
}
