package page

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// NodeView is the operator's strip.
type NodeView struct {
	Summary []string
	Groups  []StatGroup
}

// StatGroup is a group of related figures.
type StatGroup struct {
	Title string
	Stats []Stat
}

const feedGroup = "Feed"

// NewNodeView returns the content of the operator's strip.
func NewNodeView(n NodeStatus) NodeView {
	lease, fence, deadline := "none", "–", "–"
	if n.Lease.Key != "" {
		lease, fence = n.Lease.Key, fmt.Sprint(n.Lease.Fence)
		deadline = n.Lease.Deadline.UTC().Format("15:04:05")
	}
	return NodeView{
		Summary: []string{
			cmp.Or(n.Role, "idle"),
			groupDigits(n.Feed.Polls) + " polls",
			groupDigits(n.Pushes.Sent) + " pushes",
			"journal " + position(n.Journal.Last),
			megabytes(n.MemoryBytes),
		},
		Groups: []StatGroup{
			{"Lease", []Stat{
				{"Role", cmp.Or(n.Role, "idle")}, {"Key", lease}, {"Fence", fence}, {"Deadline", deadline},
				{"Cloud", cloudText(n.Cloud)},
			}},
			{feedGroup, []Stat{
				{"Polls", groupDigits(n.Feed.Polls)}, {"Unchanged", groupDigits(n.Feed.Unchanged)},
				{"Failed", groupDigits(n.Feed.Failed)}, {"Last answer", cmp.Or(n.Feed.LastAnswer, "–")},
				{"Age", ago(time.Duration(n.Feed.AgeSeconds * float64(time.Second)))},
			}},
			{"Pushes", []Stat{
				{"A minute", fmt.Sprintf("%.1f", n.Pushes.PerMinute)}, {"Sent", groupDigits(n.Pushes.Sent)},
				{"Accepted", groupDigits(n.Pushes.Accepted)}, {"Refused", groupDigits(n.Pushes.Refused)},
			}},
			{"Store", []Stat{
				{"Journal first", position(n.Journal.First)}, {"Journal last", position(n.Journal.Last)},
				{"Last commit", fmt.Sprintf("%.2f ms", n.Commits.LastMillis)},
				{"Writes a commit", fmt.Sprintf("%.1f", n.Commits.Shared)},
			}},
			{"Process", []Stat{
				{"Version", cmp.Or(n.Version, "devel")}, {"Up", ago(time.Duration(n.UptimeSeconds * float64(time.Second)))},
				{"Memory", megabytes(n.MemoryBytes)}, {"Goroutines", fmt.Sprint(n.Goroutines)},
				{"Streams", fmt.Sprint(n.Streams)},
				{"Clock", joinTexts(cmp.Or(n.Clock.Speed, "real"), n.Clock.Now.UTC().Format("15:04:05"))},
			}},
		},
	}
}

// position formats a journal sequence; after a restore of the file its incarnation comes first.
func position(seq uint64) string {
	const bits = 40 // of the sequence within an incarnation
	number := groupDigits(seq & (1<<bits - 1))
	if incarnation := seq >> bits; incarnation > 1 {
		return fmt.Sprintf("%d / %s", incarnation, number)
	}
	return number
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }

// reads adds the endpoint from which this node reads the page's match, and the time of the next read.
func (v *NodeView) reads(in *Input) {
	for _, r := range in.Node.Feed.Reads {
		if r.MatchID != in.Display.MatchID {
			continue
		}
		next := "–"
		if !r.NextAt.IsZero() {
			next = r.NextAt.UTC().Format("15:04:05")
		}
		i := slices.IndexFunc(v.Groups, func(g StatGroup) bool { return g.Title == feedGroup })
		v.Groups[i].Stats = append(v.Groups[i].Stats, Stat{"This match is read from", r.Endpoint}, Stat{"Next", next})
	}
}
