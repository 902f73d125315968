package attr

import "time"

// timeLayout is the format of stored times: always UTC and milliseconds, so the texts sort as the times do.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time returns the string that a time is stored as. It truncates to milliseconds.
func Time(t time.Time) Value { return S(t.UTC().Format(timeLayout)) }

// parseTime parses a stored time. Rows from other programs may have another fraction or an offset.
func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	return t.UTC(), err
}
