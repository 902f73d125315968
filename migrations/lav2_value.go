package migrations

import (
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// This file reads values whose types nobody has written down.

// find returns the first of the attributes that the row has, and that is not NULL.
func find(row attr.Item, names []string) (attr.Value, bool) {
	for _, name := range names {
		if v, ok := row[name]; ok && v.Kind() != attr.KindNull {
			return v, true
		}
	}
	return attr.Value{}, false
}

// textOf returns a string, a number or a truth as text; "" for anything else.
func textOf(row attr.Item, names []string) string {
	v, _ := find(row, names)
	return scalar(v)
}

func scalar(v attr.Value) string {
	switch v.Kind() {
	case attr.KindS, attr.KindN:
		return strings.TrimSpace(v.Str())
	case attr.KindBool:
		return strconv.FormatBool(v.Bool())
	}
	return ""
}

// timeOf reads RFC 3339, and epochs in seconds or milliseconds, as numbers or as text; the zero time for anything else.
func timeOf(row attr.Item, names []string) time.Time {
	text := textOf(row, names)
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC()
	}
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || n <= 0 || n >= 1e14:
		return time.Time{}
	case n >= 1e11:
		return time.UnixMilli(int64(n)).UTC()
	}
	return time.Unix(int64(n), 0).UTC()
}

func wholeOf(v attr.Value) (int64, bool) {
	n, err := strconv.ParseInt(scalar(v), 10, 64)
	return n, err == nil
}

// member returns the first of the members of a map.
func member(it attr.Item, names ...string) attr.Value {
	v, _ := find(it, names)
	return v
}
