package catalogue

import (
	"strings"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// lockParts splits TableSpec.Lock, such as "match:{matchId}", into its prefix and the attribute whose value follows it.
func (t *TableSpec) lockParts() (prefix, name string) {
	prefix, name, _ = strings.Cut(t.Lock, "{")
	return prefix, strings.TrimSuffix(name, "}")
}

// LockOf returns the name of the lock whose fence an item of the table carries: for "match:{matchId}" and an item with matchId "m7" it
// returns "match:m7". It is empty if the table names no lock or the item's attribute is no string or number.
func (t *TableSpec) LockOf(it attr.Item) string {
	prefix, name := t.lockParts()
	v := it[name]
	if v.Kind() != attr.KindS && v.Kind() != attr.KindN || v.Str() == "" {
		return ""
	}
	return prefix + v.Str()
}

// checkLock refuses a lock that is not a prefix and one attribute in braces.
func (t TableSpec) checkLock() error {
	prefix, name := t.lockParts()
	if t.Lock == "" || t.Lock == prefix+"{"+name+"}" && name != "" && !strings.ContainsAny(prefix+name, "{}") {
		return nil
	}
	return refusal.Invalid("table %s: the lock %q is not a template such as match:{matchId}", t.Name, t.Lock)
}
