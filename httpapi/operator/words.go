package operator

import (
	"fmt"
	"time"
)

// Problems collects what a person should look at, in plain words, the worst first.
type Problems struct {
	At  time.Time // the node's
	All []string
}

// Add adds a sentence.
func (p *Problems) Add(format string, args ...any) {
	p.All = append(p.All, fmt.Sprintf(format, args...))
}

// Clock writes an instant as seen from another: the time of day, and the day where it is not today.
func Clock(t, now time.Time) string {
	if t.IsZero() {
		return "–"
	}
	t, now = t.UTC(), now.UTC()
	if t.YearDay() != now.YearDay() || t.Year() != now.Year() {
		return t.Format("2 Jan 15:04")
	}
	return t.Format("15:04:05")
}

// Ago writes how long ago something was.
func Ago(seconds float64) string {
	if seconds < 120 {
		return fmt.Sprintf("%.0f s ago", seconds)
	}
	return fmt.Sprintf("%.0f min ago", seconds/60)
}

// Count writes a number of things.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
