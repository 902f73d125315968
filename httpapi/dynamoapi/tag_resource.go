package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// tagResource gives a table tags, or other values to those it has.
type tagResource struct {
	taggedTable
	tags wire.Opt[[]tag]
}

func (r *tagResource) members(m *wire.Member) {
	m.Text("ResourceArn", &r.Opt)
	list(m, "Tags", &r.tags, wire.Objects("Tag", (*tag).members))
}

func (r *tagResource) run(c *call) error {
	if err := r.checkShape(); err != nil {
		return err
	}
	var model constraints
	model.required("tags", r.tags.Set)
	if err := model.err(); err != nil {
		return err
	}
	if _, err := r.name(); err != nil {
		return err
	}
	if len(r.tags.V) == 0 {
		return errValidation("Atleast one Tag needs to be provided as Input.")
	}
	if err := checkTags(r.tags.V); err != nil {
		return err
	}
	d, err := r.described(c, noTagged, r.V)
	if err != nil {
		return err
	}
	c.silent = true
	return c.api.store.UpdateTable(c, store.TableChange{Table: d.Spec.Name, Settings: func(s *store.TableSettings) error {
		for _, t := range r.tags.V {
			s.Tags[t.key.V] = t.value.V
		}
		if len(s.Tags) > maxTags {
			return errTooManyTags()
		}
		return nil
	}})
}
