package tape

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// field is one keyword of the header: how its lines are written and read. A keyword that lists has one line a value.
type field struct {
	key  string
	many bool
	must bool
	get  func(m *Match) []string
	set  func(m *Match, v string) error
}

// headerFields are the keywords in the order in which they are written.
func headerFields() []field {
	return slices.Concat(
		[]field{
			text("id", true, func(m *Match) *string { return &m.ID }, digits),
			text("why", false, func(m *Match) *string { return &m.Why }),
			text("type", true, func(m *Match) *string { return &m.Type }, oneOf("T20", "IT20", "ODI", "ODM", "Test", "MDM")),
			text("gender", true, func(m *Match) *string { return &m.Gender }, oneOf("male", "female")),
			text("sides", true, func(m *Match) *string { return &m.Sides }, oneOf("international", "club")),
			text("event", true, func(m *Match) *string { return &m.Event.Name }),
			number("number", func(m *Match) *int { return &m.Event.Number }),
			text("group", false, func(m *Match) *string { return &m.Event.Group }),
			text("stage", false, func(m *Match) *string { return &m.Event.Stage }),
			text("season", true, func(m *Match) *string { return &m.Season }),
			list("date", func(m *Match) *[]string { return &m.Dates }, date),
			text("venue", true, func(m *Match) *string { return &m.Venue }),
			text("city", false, func(m *Match) *string { return &m.City }),
			number("balls-per-over", func(m *Match) *int { return &m.BallsPerOver }),
			number("overs", func(m *Match) *int { return &m.Overs }),
		},
		[]field{
			list("umpire", func(m *Match) *[]string { return &m.Umpires }),
			list("tv-umpire", func(m *Match) *[]string { return &m.TVUmpires }),
			list("reserve-umpire", func(m *Match) *[]string { return &m.Reserves }),
			list("referee", func(m *Match) *[]string { return &m.Referees }),
		},
		outcomeFields(),
	)
}

func outcomeFields() []field {
	return []field{
		text("winner", false, func(m *Match) *string { return &m.Outcome.Winner }),
		number("by-runs", func(m *Match) *int { return &m.Outcome.Runs }),
		number("by-wickets", func(m *Match) *int { return &m.Outcome.Wickets }),
		number("by-innings", func(m *Match) *int { return &m.Outcome.Innings }),
		text("result", false, func(m *Match) *string { return &m.Outcome.Result }, oneOf("tie", "draw", "no result")),
		text("method", false, func(m *Match) *string { return &m.Outcome.Method }),
		text("eliminator", false, func(m *Match) *string { return &m.Outcome.Eliminator }),
		text("bowl-out", false, func(m *Match) *string { return &m.Outcome.BowlOut }),
	}
}

type check func(v string) error

func text(key string, must bool, at func(*Match) *string, checks ...check) field {
	return field{
		key: key, must: must,
		get: func(m *Match) []string {
			if *at(m) == "" {
				return nil
			}
			return []string{*at(m)}
		},
		set: func(m *Match, v string) error {
			*at(m) = v
			return all(v, checks)
		},
	}
}

func number(key string, at func(*Match) *int) field {
	return field{
		key: key,
		get: func(m *Match) []string {
			if *at(m) == 0 {
				return nil
			}
			return []string{strconv.Itoa(*at(m))}
		},
		set: func(m *Match, v string) (err error) {
			*at(m), err = count(v)
			return err
		},
	}
}

func list(key string, at func(*Match) *[]string, checks ...check) field {
	return field{
		key: key, many: true,
		get: func(m *Match) []string { return *at(m) },
		set: func(m *Match, v string) error {
			*at(m) = append(*at(m), v)
			return all(v, checks)
		},
	}
}

func all(v string, checks []check) error {
	for _, c := range checks {
		if err := c(v); err != nil {
			return err
		}
	}
	return nil
}

func oneOf(words ...string) check {
	return func(v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("%q is not one of %s", v, strings.Join(words, ", "))
		}
		return nil
	}
}

func digits(v string) error {
	if _, err := count(v); err != nil {
		return err
	}
	return nil
}

func date(v string) error {
	if _, err := time.Parse(time.DateOnly, v); err != nil {
		return fmt.Errorf("%q is not a date", v)
	}
	return nil
}

// count reads a whole number from 1 as the writer writes it: no sign, no leading zero.
func count(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n <= 0 || strconv.Itoa(n) != v {
		return 0, fmt.Errorf("%q is not a whole number from 1", v)
	}
	return n, nil
}

// overs reads "50" or "7.3".
func overs(v string) error {
	whole, part, dot := strings.Cut(v, ".")
	if whole != "0" {
		if _, err := count(whole); err != nil {
			return fmt.Errorf("%q is not a number of overs", v)
		}
	}
	if dot && (len(part) != 1 || part[0] < '1' || part[0] > '9') {
		return fmt.Errorf("%q is not a number of overs", v)
	}
	return nil
}

var errValue = errors.New("the line has no value")

// checkHeader looks at what only the whole header tells.
func checkHeader(m *Match) error {
	if len(m.Dates) == 0 || !slices.IsSorted(m.Dates) {
		return errors.New("a match needs its dates, in order")
	}
	if m.BallsPerOver == 0 || m.BallsPerOver > 9 {
		return errors.New("a match needs balls-per-over, nine at most")
	}
	if m.MultiDay() != (m.Overs == 0) {
		return errors.New("overs belong to limited-overs matches, and only to them")
	}
	named := []string{m.Outcome.Winner, m.Outcome.Eliminator, m.Outcome.BowlOut}
	named = slices.DeleteFunc(named, func(s string) bool { return s == "" })
	if len(named) > 1 || (len(named) == 0 && m.Outcome.Result == "") {
		return errors.New("a match needs one outcome: a winner or a result")
	}
	for _, name := range named {
		if m.TeamIndex(name) < 0 {
			return fmt.Errorf("%q is neither team", name)
		}
	}
	return nil
}
