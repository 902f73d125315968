package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// untagResource takes tags from a table. Those that it does not have are no error.
type untagResource struct {
	taggedTable
	keys wire.Opt[[]string]
}

func (r *untagResource) members(m *wire.Member) {
	m.Text("ResourceArn", &r.Opt)
	list(m, "TagKeys", &r.keys, (*wire.Decoder).Text)
}

func (r *untagResource) run(c *call) error {
	if err := r.checkShape(); err != nil {
		return err
	}
	var model constraints
	model.required("tagKeys", r.keys.Set)
	if err := model.err(); err != nil {
		return err
	}
	if _, err := r.name(); err != nil {
		return err
	}
	if len(r.keys.V) == 0 {
		return errValidation("Atleast one Tag Key needs to be provided as Input.")
	}
	for _, key := range r.keys.V {
		if err := checkTagKey(wire.Opt[string]{V: key, Set: true}); err != nil {
			return err
		}
	}
	d, err := r.described(c, "Requested resource not found")
	if err != nil {
		return err
	}
	c.silent = true
	return c.api.store.UpdateTable(c, store.TableChange{Table: d.Spec.Name, Settings: func(s *store.TableSettings) error {
		for _, key := range r.keys.V {
			delete(s.Tags, key)
		}
		return nil
	}})
}
