package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// updateTimeToLive says which attribute of a table's items is their expiry.
type updateTimeToLive struct {
	table     managedTable
	spec      bool // TimeToLiveSpecification is there
	attribute wire.Opt[string]
	enabled   wire.Opt[bool]
}

func (r *updateTimeToLive) field(d *wire.Decoder, name string) error {
	switch name {
	case "TableName":
		return d.OptText(&r.table.Opt)
	case "TimeToLiveSpecification":
		r.spec = true
		return d.Field("TimeToLiveSpecification", func(name string) error {
			switch name {
			case "AttributeName":
				return d.OptText(&r.attribute)
			case "Enabled":
				return d.Bool(&r.enabled)
			}
			return d.Skip()
		})
	}
	return d.Skip()
}

func (r *updateTimeToLive) constrain(c *constraints) {
	if !r.table.constrain() {
		return
	}
	c.table("tableName", r.table.Opt)
	if c.required("timeToLiveSpecification", r.spec) {
		c.required("timeToLiveSpecification.enabled", r.enabled.Set)
		if c.required("timeToLiveSpecification.attributeName", r.attribute.Set) {
			c.length("timeToLiveSpecification.attributeName", r.attribute, 1, 255)
		}
	}
}

func (r *updateTimeToLive) touches(visit func(action, table string)) {
	visit("UpdateTimeToLive", r.table.V)
}

func (r *updateTimeToLive) run(c *call) error {
	d, err := c.managed(&r.table)
	if err != nil {
		return err
	}
	want := r.attribute.V
	switch have := d.Spec.TTL; {
	case r.enabled.V && have == want:
		return errValidation("TimeToLive is already enabled")
	case !r.enabled.V && have == "":
		return errValidation("TimeToLive is already disabled")
	case have != "" && have != want:
		return errValidation("TimeToLive is active on a different AttributeName: current AttributeName is %s", have)
	}
	if !r.enabled.V {
		want = ""
	}
	if err := c.api.refuseOwned(d.Spec.Name, "the expiry of its items stays as it is"); err != nil {
		return err
	}
	if err := c.api.store.UpdateTable(c, store.TableChange{Table: d.Spec.Name, TTL: &want}); err != nil {
		return err
	}
	c.out.Name("TimeToLiveSpecification")
	c.out.Begin()
	c.out.Name("Enabled")
	c.out.Bool(r.enabled.V)
	c.out.NamedText("AttributeName", r.attribute.V)
	c.out.End()
	return nil
}
