package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/touchline/touchline/internal/tools/measure"
)

// results holds the measurements of all servers, by name.
type results map[string]*standing

// standing holds the measurements of one server.
type standing struct {
	Rates  map[string]measure.Figure `json:"rates"` // by operation id, slash, number of clients
	Memory measure.Memory            `json:"memoryMB"`
	Start  float64                   `json:"startMillis,omitempty"` // from exec to the first answer
}

func (r results) about(name string) *standing {
	if r[name] == nil {
		r[name] = &standing{Rates: map[string]measure.Figure{}}
	}
	return r[name]
}

func load(id string, clients int) string { return fmt.Sprintf("%s/%d", id, clients) }

func (r results) of(name, id string, clients int) (measure.Figure, bool) {
	rate, ok := r.about(name).Rates[load(id, clients)]
	return rate, ok
}

// report is the output of the program.
type report struct {
	measure.Report

	LeftOut map[string]string `json:"leftOut,omitempty"` // reasons, by name
	Figures results           `json:"figures"`
}

func (b *bench) report() report {
	return report{Report: b.Report(), LeftOut: b.absent, Figures: b.results}
}

// all has the servers in the order of the tables.
var all = [...]string{cannedBytes, ours, oursMemory, dynalite, localMemory, localDisk}

// WriteText writes the tables.
func (r report) WriteText(w io.Writer) error {
	if err := r.Report.WriteText(w); err != nil {
		return err
	}
	for _, name := range all {
		if why := r.LeftOut[name]; why != "" {
			_, _ = fmt.Fprintf(w, "left out: %s: %s\n", name, firstLine(why))
		}
	}
	return r.writeRates(w)
}

// writeRates writes a line for each server, with a column for each operation, its memory and its start.
func (r report) writeRates(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(t, "\nrequests a second, one client / %d\t", many)
	for _, o := range operations {
		_, _ = fmt.Fprintf(t, "%s\t", o.id)
	}
	_, _ = fmt.Fprintln(t, "memory\tof its own\tstart")
	for _, name := range all {
		about := r.Figures.about(name)
		if len(about.Rates) == 0 {
			continue
		}
		line := []string{name}
		for _, o := range operations {
			line = append(line, r.cell(name, o.id))
		}
		_, _ = fmt.Fprintln(t, strings.Join(append(line, about.columns()...), "\t"))
	}
	return t.Flush()
}

func (r report) cell(name, id string) string {
	sides := make([]string, 0, 2)
	for _, clients := range [...]int{1, many} {
		if rate, ok := r.Figures.of(name, id, clients); ok {
			sides = append(sides, measure.Number(rate.Median))
		} else {
			sides = append(sides, "-")
		}
	}
	return strings.Join(sides, " / ")
}

// columns returns the columns for memory and start time.
func (s *standing) columns() []string {
	out := []string{"-", "-", "-"}
	if s.Memory.Resident > 0 {
		out[0], out[1] = fmt.Sprintf("%.0f MB", s.Memory.Resident), fmt.Sprintf("%.0f MB", s.Memory.Anonymous)
	}
	if s.Start > 0 {
		out[2] = fmt.Sprintf("%.0f ms", s.Start)
	}
	return out
}
