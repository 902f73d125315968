package phone

import (
	"testing"
	"time"
)

// Quiet hours are the user's, in the user's time zone, and may pass midnight.
func TestQuietHours(t *testing.T) {
	night := Preference{QuietFrom: "22:00", QuietTo: "06:30", TimeZone: "Asia/Kolkata"}
	day := Preference{QuietFrom: "09:00", QuietTo: "17:00", TimeZone: "Europe/London"}
	for _, tc := range []struct {
		p    Preference
		at   string // UTC
		want bool
	}{
		{night, "2026-06-01T16:29:00Z", false}, // 21:59
		{night, "2026-06-01T16:30:00Z", true},
		{night, "2026-06-01T00:59:00Z", true}, // 6:29
		{night, "2026-06-01T01:00:00Z", false},
		{day, "2026-01-15T08:30:00Z", false},
		{day, "2026-06-15T08:30:00Z", true}, // summer time
		{day, "2026-06-15T16:00:00Z", false},
		{Preference{}, "2026-06-15T02:00:00Z", false},
		{Preference{QuietFrom: "22:00", QuietTo: "06:00", TimeZone: "none"}, "2026-06-15T02:00:00Z", false},
	} {
		at, err := time.Parse(time.RFC3339, tc.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := tc.p.Quiet(at); got != tc.want {
			t.Errorf("%+v at %s: %v", tc.p, tc.at, got)
		}
	}
}
