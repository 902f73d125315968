package page

import (
	"fmt"
	"time"
)

// NodeView is the operator's strip.
type NodeView struct {
	Summary []string
	Groups  []StatGroup
}

// StatGroup is a few figures that belong together.
type StatGroup struct {
	Title string
	Stats []Stat
}

// NewNodeView works out the operator's strip.
func NewNodeView(n NodeStatus) NodeView {
	lease, fence, deadline := "none", "–", "–"
	if n.Lease.Key != "" {
		lease, fence = n.Lease.Key, fmt.Sprint(n.Lease.Fence)
		deadline = n.Lease.Deadline.UTC().Format("15:04:05")
	}
	return NodeView{
		Summary: []string{
			or(n.Role, "idle"),
			grouped(n.Feed.Polls) + " polls",
			grouped(n.Pushes.Sent) + " pushes",
			"journal " + position(n.Journal.Last),
			megabytes(n.MemoryBytes),
		},
		Groups: []StatGroup{
			{"Lease", []Stat{
				{"Role", or(n.Role, "idle")}, {"Key", lease}, {"Fence", fence}, {"Deadline", deadline},
				{"Cloud", cloudText(n.Cloud)},
			}},
			{"Feed", []Stat{
				{"Polls", grouped(n.Feed.Polls)}, {"Unchanged", grouped(n.Feed.Unchanged)},
				{"Failed", grouped(n.Feed.Failed)}, {"Last answer", or(n.Feed.LastAnswer, "–")},
				{"Age", ago(time.Duration(n.Feed.AgeSeconds * float64(time.Second)))},
			}},
			{"Pushes", []Stat{
				{"A minute", fmt.Sprintf("%.1f", n.Pushes.PerMinute)}, {"Sent", grouped(n.Pushes.Sent)},
				{"Accepted", grouped(n.Pushes.Accepted)}, {"Refused", grouped(n.Pushes.Refused)},
			}},
			{"Store", []Stat{
				{"Journal first", position(n.Journal.First)}, {"Journal last", position(n.Journal.Last)},
				{"Last commit", fmt.Sprintf("%.2f ms", n.Commits.LastMillis)},
				{"Writes a commit", fmt.Sprintf("%.1f", n.Commits.Members)},
				{"Refused for lack of room", grouped(n.Commits.Refused)},
			}},
			{"Process", []Stat{
				{"Version", or(n.Version, "devel")}, {"Up", ago(time.Duration(n.UptimeSeconds * float64(time.Second)))},
				{"Memory", megabytes(n.MemoryBytes)}, {"Goroutines", fmt.Sprint(n.Goroutines)},
				{"Streams", fmt.Sprint(n.Streams)},
				{"Clock", joined(or(n.Clock.Speed, "real"), n.Clock.Now.UTC().Format("15:04:05"))},
			}},
		},
	}
}

// position writes a sequence of the journal: where the file has been restored, its incarnation stands before it.
func position(seq uint64) string {
	const bits = 40 // of the number within an incarnation
	number := grouped(seq & (1<<bits - 1))
	if incarnation := seq >> bits; incarnation > 1 {
		return fmt.Sprintf("%d / %s", incarnation, number)
	}
	return number
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
