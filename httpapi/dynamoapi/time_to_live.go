package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// updateTimeToLive sets which attribute of a table's items is their expiry.
type updateTimeToLive struct {
	managedTable
	spec wire.Opt[expirySpec]
}

// expirySpec is TimeToLiveSpecification.
type expirySpec struct {
	attribute wire.Opt[string]
	enabled   wire.Opt[bool]
}

func (r *updateTimeToLive) members(m *wire.Member) {
	r.managedTable.members(m)
	wire.Object(m, "TimeToLiveSpecification", "TimeToLiveSpecification", &r.spec, (*expirySpec).members)
}

func (s *expirySpec) members(m *wire.Member) {
	m.Text("AttributeName", &s.attribute)
	m.Bool("Enabled", &s.enabled)
}

func (r *updateTimeToLive) constrain(c *constraints) {
	if !r.checkLength() {
		return
	}
	c.table("tableName", r.table)
	if c.require("timeToLiveSpecification", r.spec.Set) {
		c.require("timeToLiveSpecification.enabled", r.spec.V.enabled.Set)
		c.require("timeToLiveSpecification.attributeName", r.spec.V.attribute.Set)
		c.length("timeToLiveSpecification.attributeName", r.spec.V.attribute, 1, 255)
	}
}

func (r *updateTimeToLive) run(c *call) error {
	d, err := c.describeManaged(&r.managedTable)
	if err != nil {
		return err
	}
	want := r.spec.V.attribute.V
	switch have := d.Spec.TTL; {
	case r.spec.V.enabled.V && have == want:
		return errValidation("TimeToLive is already enabled")
	case !r.spec.V.enabled.V && have == "":
		return errValidation("TimeToLive is already disabled")
	case have != "" && have != want:
		return errValidation("TimeToLive is active on a different AttributeName: current AttributeName is %s", have)
	}
	if !r.spec.V.enabled.V {
		want = ""
	}
	if err := c.api.refuseOwned(d.Spec.Name, "the expiry of its items stays as it is"); err != nil {
		return err
	}
	if err := c.api.store.UpdateTable(c, store.TableChange{Table: d.Spec.Name, TTL: &want}); err != nil {
		return err
	}
	c.out.NamedObject("TimeToLiveSpecification")
	c.out.NamedBool("Enabled", r.spec.V.enabled.V)
	c.out.NamedText("AttributeName", r.spec.V.attribute.V)
	c.out.End()
	return nil
}

// describeTimeToLive returns which attribute of a table's items is their expiry.
type describeTimeToLive struct{ managedTable }

func (r *describeTimeToLive) run(c *call) error {
	d, err := c.describeManaged(&r.managedTable)
	if err != nil {
		return err
	}
	c.out.NamedObject("TimeToLiveDescription")
	if d.Spec.TTL == "" {
		c.out.NamedText("TimeToLiveStatus", "DISABLED")
	} else {
		c.out.NamedText("TimeToLiveStatus", "ENABLED")
		c.out.NamedText("AttributeName", d.Spec.TTL)
	}
	c.out.End()
	return nil
}
