package dynamoapi

import (
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// The lengths of a table's name.
const (
	minTableName = 3
	maxTableName = 255
)

// managedTable is the TableName of an operation on a table as a whole. What is wrong with its length is said before the
// model's constraints, and alone.
type managedTable struct {
	wire.Opt[string]
	wrong error
}

// constrain checks the length, and reports whether the constraints of the request matter yet. The pattern is one of them.
func (t *managedTable) constrain() bool {
	switch n := len(t.V); {
	case !t.Set:
		t.wrong = errValidation("The parameter 'TableName' is required but was not present in the request")
	case strings.HasPrefix(t.V, "arn:"):
	case n < minTableName || n > maxTableName:
		t.wrong = errValidation("TableName must be at least 3 characters long and at most 255 characters long")
	}
	return t.wrong == nil
}

// constrainNew is constrain for the name of a table that is to be made, whose length is one of the model's constraints. What is
// wrong with the name is said alone.
func (t *managedTable) constrainNew(c *constraints) bool {
	if !t.Set {
		return t.constrain()
	}
	c.table("tableName", t.Opt)
	return len(c.found) == 0
}

// managed describes the table of such an operation.
func (c *call) managed(t *managedTable) (store.TableDescription, error) {
	if t.wrong != nil {
		return store.TableDescription{}, t.wrong
	}
	d, err := c.table(t.V)
	if err != nil {
		return d, errNoManagedTable(tableName(t.V))
	}
	return d, nil
}

func errNoManagedTable(name string) error {
	return refuse(ofModel+"ResourceNotFoundException", "Requested resource not found: Table: %s not found", name)
}
