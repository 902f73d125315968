package catalogue

import (
	"slices"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// CheckPaths refuses paths into key attributes of the table or one of its indexes, which are scalars.
func (t *Table) CheckPaths(looked []string) error {
	if len(looked) == 0 {
		return nil
	}
	for _, a := range t.Key.Attrs {
		if slices.Contains(looked, a.Name) {
			return errInsideKey("Key", a.Name)
		}
	}
	for _, local := range [...]bool{false, true} {
		for i := range t.Indexes {
			if ix := t.Indexes[i]; ix.Spec.Local == local {
				for _, a := range ix.Key.Attrs {
					if slices.Contains(looked, a.Name) {
						return errInsideKey("IndexKey", a.Name)
					}
				}
			}
		}
	}
	return nil
}

func errInsideKey(what, name string) error {
	return refusal.Invalid("Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: %s: %s", what, name)
}

// Missing returns the attributes of a projection that the index does not have.
func (ix *Index) Missing(t *Table, p *expr.Projection) (names []string) {
	if p == nil {
		return nil
	}
	for _, name := range p.Attributes() {
		if !ix.shows(t, name) {
			names = append(names, name)
		}
	}
	return names
}

// shows reports whether the index has an attribute.
func (ix *Index) shows(t *Table, name string) bool {
	if ix.Spec.Projection == ProjectAll || t.Key.Has(name) || ix.Key.Has(name) {
		return true
	}
	return ix.Spec.Projection == ProjectInclude && slices.Contains(ix.Spec.Include, name)
}

// Project returns the attributes of an item that the index has.
func (ix *Index) Project(t *Table, it attr.Item) attr.Item {
	out := attr.Item{}
	for name, v := range it {
		if ix.shows(t, name) {
			out[name] = v
		}
	}
	return out
}
