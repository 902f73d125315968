package dynamoapi

import (
	"maps"
	"slices"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
)

// listTagsOfResource lists the tags of a table by their keys. There are 50 at most: one answer has them all, and never a
// NextToken. One that is given is the key behind which to go on, so that a client may page if it likes.
type listTagsOfResource struct {
	taggedTable
	after wire.Opt[string]
}

func (r *listTagsOfResource) members(m *wire.Member) {
	m.Text("ResourceArn", &r.Opt)
	m.Text("NextToken", &r.after)
}

func (r *listTagsOfResource) run(c *call) error {
	if err := r.checkShape(); err != nil {
		return err
	}
	name, err := r.name()
	if err != nil {
		return err
	}
	if _, err := c.table(name); err != nil && !r.isOwn(c) {
		return errAccessDenied()
	}
	d, err := r.described(c, noTagged, r.V)
	if err != nil {
		return err
	}
	c.out.NamedArray("Tags")
	for _, key := range slices.Sorted(maps.Keys(d.Settings.Tags)) {
		if r.after.Set && key <= r.after.V {
			continue
		}
		c.out.Begin()
		c.out.NamedText("Key", key)
		c.out.NamedText("Value", d.Settings.Tags[key])
		c.out.End()
	}
	c.out.EndArray()
	return nil
}
