package dynamoapi

import (
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// taggedTable is the ResourceArn of the operations on tags.
type taggedTable struct {
	wire.Opt[string]
}

// checkShape refuses what is not an ARN at all. The service takes it for something that the caller may not see.
func (t *taggedTable) checkShape(c *call, operation string) error {
	if !t.Set {
		return errValidation("Invalid TableArn")
	}
	parts := strings.SplitN(t.V, ":", 6)
	if len(parts) == 6 && strings.Contains(parts[5], "/") && !strings.Contains(t.V, "::") {
		return nil
	}
	what := t.V
	if what == "" {
		what = "*"
	}
	return refuse(ofCoral+"AccessDeniedException", "User: arn:aws:iam::%s:root is not authorized to perform: dynamodb:%s on resource: %s",
		c.api.cfg.Account, operation, what)
}

// name gives the table's name.
func (t *taggedTable) name() (string, error) {
	name, ok := tableOfARN(t.V)
	if !ok {
		return "", errValidation("Invalid TableArn: Invalid ResourceArn provided as input %s", t.V)
	}
	return name, nil
}

// described describes the table. The texts of the operations differ.
func (t *taggedTable) described(c *call, format string, args ...any) (store.TableDescription, error) {
	name, err := t.name()
	if err != nil {
		return store.TableDescription{}, err
	}
	d, err := c.table(name)
	if err != nil {
		return d, refuse(ofModel+"ResourceNotFoundException", format, args...)
	}
	return d, nil
}

const noTagged = "Requested resource not found: ResourcArn: %s not found" // the service's own spelling
