package operator

import (
	"fmt"
	"time"
)

// Problems collects what needs attention, in plain words, worst first.
type Problems struct {
	At  time.Time // time of the node's clock
	All []string
}

// Add adds a sentence.
func (p *Problems) Add(format string, args ...any) {
	p.All = append(p.All, fmt.Sprintf(format, args...))
}

// Clock formats a time: only the time of day if it is on the same day as now.
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

// Ago formats how long ago something was.
func Ago(seconds float64) string {
	if seconds < 120 {
		return fmt.Sprintf("%.0f s ago", seconds)
	}
	return fmt.Sprintf("%.0f min ago", seconds/60)
}

// Span formats a duration in its two most significant units.
func Span(seconds float64) string {
	s := int(seconds)
	switch minutes := s / 60; {
	case s < 120:
		return fmt.Sprintf("%d s", s)
	case minutes < 120:
		return fmt.Sprintf("%d min", minutes)
	case minutes < 48*60:
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	default:
		return fmt.Sprintf("%d d %d h", minutes/60/24, minutes/60%24)
	}
}

// Size formats a number of bytes.
func Size(bytes int64) string {
	if bytes < 1e9 {
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}

// Count formats a number of things: "1 item", "2 items".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
