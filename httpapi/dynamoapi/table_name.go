package dynamoapi

import (
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Limits of a table name's length.
const (
	minTableName = 3
	maxTableName = 255
)

// managedTable is the TableName of an operation on tables. A missing name, or one of a wrong length, is reported before, and without,
// violations of the model.
type managedTable struct {
	ofTable
	wrong error
}

func (t *managedTable) members(m *wire.Member) { m.Text("TableName", &t.table) }

func (t *managedTable) constrain(c *constraints) {
	if t.checkLength() {
		c.table("tableName", t.table)
	}
}

// checkLength checks the length, and reports whether the other constraints, including the pattern, are to be checked.
func (t *managedTable) checkLength() bool {
	switch n := len(t.table.V); {
	case !t.table.Set:
		t.wrong = errValidation("The parameter 'TableName' is required but was not present in the request")
	case strings.HasPrefix(t.table.V, "arn:"):
	case n < minTableName || n > maxTableName:
		t.wrong = errValidation("TableName must be at least 3 characters long and at most 255 characters long")
	}
	return t.wrong == nil
}

// namedNew is named for the name of a new table, whose length is one of the model's constraints. Errors of the name are reported alone.
func (t *managedTable) namedNew(c *constraints) bool {
	if !t.table.Set {
		return t.checkLength()
	}
	c.table("tableName", t.table)
	return len(c.found) == 0
}

// describeManaged describes the operation's table.
func (c *call) describeManaged(t *managedTable) (store.TableDescription, error) {
	if t.wrong != nil {
		return store.TableDescription{}, t.wrong
	}
	d, err := c.table(t.table.V)
	if err != nil {
		return d, refuse(ofModel+"ResourceNotFoundException", "Requested resource not found: Table: %s not found", tableName(t.table.V))
	}
	return d, nil
}

// reservedPrefix is the prefix of the node's own tables.
const reservedPrefix = "touchline-"

// ownedTable returns the declaration of a table of the node or its applications.
func (a *API) ownedTable(name string) (spec store.TableSpec, ok bool) {
	for _, spec := range a.cfg.Owned {
		if spec.Name == name {
			return spec, true
		}
	}
	return spec, false
}

// refuseOwned refuses an operation that would take something away from an owned table.
func (a *API) refuseOwned(name, what string) error {
	if _, ok := a.ownedTable(name); !ok {
		return nil
	}
	return refuse(ofCoral+"AccessDeniedException", "Table: %s belongs to an application of this node: %s", name, what)
}

// refuseReserved refuses to create a table with a reserved name, whether or not the node has such a table.
func (a *API) refuseReserved(name string) error {
	if len(a.cfg.Owned) > 0 && strings.HasPrefix(name, reservedPrefix) {
		return errReserved()
	}
	return nil
}

// refuseHidden is refuseReserved for a conflict with an existing internal table, which nobody may see.
func (c *call) refuseHidden(name string, err error) error {
	if f, _ := c.api.store.Describe(name); f.Spec.Internal && fault.Is(err, fault.Conflict) {
		return errReserved()
	}
	return err
}

func errReserved() error {
	return refuse(ofCoral+"AccessDeniedException", "Table names that begin with %s are reserved for the node", reservedPrefix)
}

// checkOwned refuses to remove the protection or a declared index of an owned table.
func (r *updateTable) checkOwned(c *call, before store.TableDescription) error {
	spec, ok := c.api.ownedTable(before.Spec.Name)
	if !ok {
		return nil
	}
	if r.protected.Set && !r.protected.V {
		return c.api.refuseOwned(spec.Name, "its deletion protection stays on")
	}
	for _, u := range r.updates.V {
		for _, ix := range spec.Indexes {
			if u.remove.Set && u.remove.V.name.V == ix.Name {
				return c.api.refuseOwned(spec.Name, "index "+ix.Name+" stays")
			}
		}
	}
	return nil
}
