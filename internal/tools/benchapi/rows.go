package main

import (
	"context"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/tools/measure"
)

// measure measures what the selected rows need with all servers, and adds the rows.
func (b *bench) measure(ctx context.Context) error {
	for _, o := range operations {
		for _, clients := range [...]int{1, many} {
			w := workload{o, clients}
			if !b.needs(w) {
				continue
			}
			b.Say("%s, %d client(s) ...", o.what, clients)
			if err := b.run(ctx, w); err != nil {
				return err
			}
		}
		b.addRows(o.id)
	}
	b.measureMemory()
	if err := b.measureBare(ctx); err != nil {
		return err
	}
	b.comparePeaks()
	return b.measureStarts(ctx)
}

// needs reports whether a row needs a workload. Rows about memory need all of them.
func (b *bench) needs(w workload) bool {
	groups := []string{"peers/", "canned/"}
	if w.clients == 1 {
		groups = []string{"alone/", "memory/"}
	}
	return b.WantsGroup("resident") || slices.ContainsFunc(groups, func(group string) bool { return b.Wants(group + w.id) })
}

// addRows adds the rows about an operation.
func (b *bench) addRows(id string) {
	b.addBest("peers/", id)
	b.addPair("canned/", id, many, ours, cannedBytes)
	b.addPair("alone/", id, 1, ours, localDisk)
	b.addPair("memory/", id, 1, oursMemory, dynalite)
}

// addBest compares ours with the fastest of the peers.
func (b *bench) addBest(group, id string) {
	mine, ok := b.results.of(ours, id, many)
	if !ok {
		return
	}
	fastest, which := measure.Figure{}, ""
	for _, name := range peers {
		if theirs, ok := b.results.of(name, id, many); ok && theirs.Median > fastest.Median {
			fastest, which = theirs, name
		}
	}
	if which == "" {
		b.Missing(group+id, "there is no peer here")
		return
	}
	b.CompareWith(group+id, which, mine, fastest)
}

// addPair compares one of ours with one of the others, if there is a row for that.
func (b *bench) addPair(group, id string, clients int, mine, theirs string) {
	m, measured := b.results.of(mine, id, clients)
	if !measured || !b.Wants(group+id) {
		return
	}
	if t, ok := b.results.of(theirs, id, clients); ok {
		b.Compare(group+id, m, t)
	} else {
		b.Missing(group+id, firstLine(b.absent[theirs]))
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// measureMemory measures the resident memory of all servers.
func (b *bench) measureMemory() {
	for _, s := range b.servers {
		about := b.results.about(s.name)
		about.Memory, about.Start = measure.MemoryOf(s.pid), s.began.Seconds()*1e3
	}
	b.AloneMB("resident/file", b.results.about(ours).Memory.Resident)
	b.AloneMB("resident/memory", b.results.about(oursMemory).Memory.Resident)
}

// comparePeaks compares the most memory that ours and DynamoDB Local had in this run.
func (b *bench) comparePeaks() {
	const id = "local/memory"
	theirs := b.server(localDisk)
	if theirs == nil {
		b.Missing(id, firstLine(b.absent[localDisk]))
		return
	}
	b.Compare(id, measure.Exactly(measure.MemoryOf(b.server(ours).pid).Peak, "MB"), measure.Exactly(measure.MemoryOf(theirs.pid).Peak, "MB"))
}

// measureStarts stops ours in an orderly way and starts it again, a few times.
func (b *bench) measureStarts(ctx context.Context) error {
	for _, c := range []struct {
		id, name string
		start    func(context.Context) (*server, error)
	}{{"start/file", ours, b.startWithFile}, {"start/memory", oursMemory, b.startInMemory}} {
		if !b.Wants(c.id) {
			continue
		}
		var took []float64
		for range b.size.starts {
			s := b.server(c.name)
			s.stop()
			again, err := c.start(ctx)
			if err != nil {
				s.stop = func() {}
				return err
			}
			*s = *again
			took = append(took, again.began.Seconds()*1e3)
		}
		b.Alone(c.id, measure.FigureOf(took, "ms"))
		b.results.about(c.name).Start = measure.FigureOf(took, "ms").Median
	}
	return nil
}
