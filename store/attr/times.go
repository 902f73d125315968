package attr

import "time"

// timeLayout is how a time is written: always UTC, always milliseconds, so that texts order as the times do.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time makes the string that a time is stored as. What is below a millisecond is cut off.
func Time(t time.Time) Value { return S(t.UTC().Format(timeLayout)) }

// parseTime reads a stored time. Rows that others wrote may have it with another fraction or an offset.
func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	return t.UTC(), err
}
