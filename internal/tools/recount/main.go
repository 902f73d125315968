// Command recount computes the figures of a softball game from its score sheet. It is independent: it shares no code with the scorebook,
// so that each verifies the other. Tests compare their figures.
//
//	go run ./internal/tools/recount edge/hacktracker/testdata/sheets/extras.sheet
//
// A sheet has the lineup, and a line for each inning: who batted, with what result, and after a slash the number of runs batted in. @2 is
// the place in the order of a player who is not in the lineup; ~ is a sacrifice hit in the air.
package main

import (
	"fmt"
	"io"
	"math/big"
	"os"
	"strconv"
	"strings"
)

func main() {
	for _, name := range os.Args[1:] {
		raw, err := os.ReadFile(name)
		if err == nil {
			err = recount(os.Stdout, string(raw))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "recount:", err)
			os.Exit(1)
		}
	}
}

// columns are a batter's figures.
const columns = "PA AB H 2B 3B HR RBI BB HBP K SF SH TB"

// counts has the columns that each result adds to, besides a plate appearance.
var counts = map[string]string{
	"1B": "AB H TB", "2B": "AB H 2B TB TB", "3B": "AB H 3B TB TB TB", "HR": "AB H HR TB TB TB TB", "BB": "BB", "HBP": "HBP", "K": "AB K",
	"SF": "SF", "SH": "SH", "SAC": "SH", "SAC~": "SF", "E": "AB", "FC": "AB", "OUT": "AB", "FO": "AB", "GO": "AB", "PO": "AB", "LO": "AB", "DP": "AB", "TP": "AB",
}

type figures map[string]int64

// game has the figures of a sheet.
type game struct {
	order   [][]string // the batters in each place of the order
	batters map[string]figures
	team    figures
	innings []string // runs batted in
}

// recount writes a line for each batter in batting order, one for the team, and the runs batted in by inning.
func recount(w io.Writer, sheet string) error {
	lines := strings.Split(strings.TrimSpace(sheet), "\n")
	g := game{batters: map[string]figures{}, team: figures{}}
	for name := range strings.FieldsSeq(strings.TrimPrefix(lines[0], "lineup")) {
		g.order = append(g.order, []string{name})
		g.batters[name] = figures{}
	}
	for _, line := range lines[1:] {
		before := g.team["RBI"]
		for entry := range strings.FieldsSeq(line) {
			if err := g.count(entry); err != nil {
				return err
			}
		}
		g.innings = append(g.innings, strconv.FormatInt(g.team["RBI"]-before, 10))
	}
	var out strings.Builder
	for _, place := range g.order {
		for _, name := range place {
			out.WriteString(name + " " + g.batters[name].String() + "\n")
		}
	}
	out.WriteString("team " + g.team.String() + "\nline " + strings.Join(g.innings, " ") + "\n")
	_, err := io.WriteString(w, out.String())
	return err
}

// count counts one plate appearance.
func (g *game) count(entry string) error {
	name, result, _ := strings.Cut(entry, ":")
	result, runs, _ := strings.Cut(result, "/")
	name, place, substitute := strings.Cut(name, "@")
	added, known := counts[result]
	if !known {
		return fmt.Errorf("no result: %s", entry)
	}
	if g.batters[name] == nil {
		at, err := strconv.Atoi(place)
		if err != nil || !substitute || at < 1 || at > len(g.order) {
			return fmt.Errorf("no place in the order: %s", entry)
		}
		g.batters[name] = figures{}
		g.order[at-1] = append(g.order[at-1], name)
	}
	rbi, err := strconv.ParseInt("0"+runs, 10, 64)
	if err != nil {
		return fmt.Errorf("no number of runs: %s", entry)
	}
	for _, total := range []figures{g.batters[name], g.team} {
		total["PA"]++
		total["RBI"] += rbi
		for column := range strings.FieldsSeq(added) {
			total[column]++
		}
	}
	return nil
}

// String formats the figures and their averages: AVG OBP SLG OPS ISO BABIP.
func (f figures) String() string {
	var out []string
	for column := range strings.FieldsSeq(columns) {
		out = append(out, strconv.FormatInt(f[column], 10))
	}
	onBase, slugging := divide(f["H"]+f["BB"]+f["HBP"], f["AB"]+f["BB"]+f["HBP"]+f["SF"]), divide(f["TB"], f["AB"])
	var both *big.Rat
	if onBase != nil && slugging != nil {
		both = new(big.Rat).Add(onBase, slugging)
	}
	for _, r := range []*big.Rat{
		divide(f["H"], f["AB"]), onBase, slugging, both, divide(f["TB"]-f["H"], f["AB"]), divide(f["H"]-f["HR"], f["AB"]-f["K"]-f["HR"]+f["SF"]),
	} {
		text := "---"
		if r != nil {
			text = strings.TrimPrefix(r.FloatString(3), "0")
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func divide(a, b int64) *big.Rat {
	if b == 0 {
		return nil
	}
	return big.NewRat(a, b)
}
