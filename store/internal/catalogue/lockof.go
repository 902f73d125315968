package catalogue

import (
	"strings"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// LockOf returns the name of the lock whose fence an item of the table carries: TableSpec.Lock with the attributes of the
// item, strings or numbers, in the places of their names in braces. It is empty if the table names no lock, or the item
// lacks one of the attributes.
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

// lockPart is an attribute as it stands in the name of a lock.
func lockPart(v attr.Value) string {
	if v.Kind() == attr.KindS || v.Kind() == attr.KindN {
		return v.Str()
	}
	return ""
}

// checkLock refuses a template that names no attribute where it has braces.
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
