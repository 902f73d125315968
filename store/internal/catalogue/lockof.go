package catalogue

import (
	"strings"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// LockOf returns the name of the lock whose fence an item of the table carries: TableSpec.Lock with names in braces replaced by the
// item's attributes, strings or numbers. For "match:{matchId}" and an item with matchId "m7" it returns "match:m7". It is empty if the
// table names no lock or the item lacks one of the attributes.
func (t *TableSpec) LockOf(it attr.Item) string {
	var b strings.Builder
	rest := t.Lock
	for {
		before, behind, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, _ := strings.Cut(behind, "}")
		text := lockPart(it[name])
		if text == "" {
			return ""
		}
		b.WriteString(text)
		rest = after
	}
}

// lockPart returns an attribute as a part of a lock's name.
func lockPart(v attr.Value) string {
	if v.Kind() == attr.KindS || v.Kind() == attr.KindN {
		return v.Str()
	}
	return ""
}

// checkLock refuses a template with invalid braces.
func (t TableSpec) checkLock() error {
	rest := t.Lock
	for rest != "" {
		before, behind, found := strings.Cut(rest, "{")
		name, after, closed := strings.Cut(behind, "}")
		switch {
		case strings.Contains(before, "}"), found && (!closed || name == "" || strings.Contains(name, "{")):
			return refusal.Invalid("table %s: the lock %q is not a template such as match:{matchId}", t.Name, t.Lock)
		case !found:
			return nil
		}
		rest = after
	}
	return nil
}
