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

// constrain leaves everything to run: the service looks at the ARN first.
func (t *taggedTable) constrain(*constraints) {}

func (t *taggedTable) touches(operation string, visit func(action, table string)) {
	visit(operation, t.V)
}

// checkShape refuses what is no ARN of a table. What belongs to another service the caller may not see.
func (t *taggedTable) checkShape() error {
	parts := strings.SplitN(t.V, ":", 6)
	switch {
	case !t.Set:
		return errValidation("Invalid TableArn")
	case parts[0] != "arn" || len(parts) == 1:
		return errWrong("ARNs must start with 'arn:': %s", t.V)
	case len(parts) < 6 || parts[2] != "dynamodb" || parts[3] == "" || !isAccount(parts[4]):
		return errAccessDenied()
	}
	of, ok := strings.CutPrefix(parts[5], "table/")
	switch _, sub, _ := strings.Cut(of, "/"); {
	case !ok || strings.HasPrefix(sub, "backup/"):
		return errWrong("Provided Arn is not a DynamoDB resource arn: %s", t.V)
	case strings.HasPrefix(sub, "index/"):
		return errWrong("Invalid resource arn provided, only table or stream is accepted. Provided resource arn: %s", t.V)
	}
	return nil
}

func errAccessDenied() error { return refuse(ofCoral+"AccessDeniedException", "Access is denied") }

// name returns the table's name.
func (t *taggedTable) name() (string, error) {
	name, ok := tableOfARN(t.V)
	if !ok {
		return "", errValidation("Invalid TableArn: Invalid ResourceArn provided as input %s", t.V)
	}
	return name, nil
}

// isOwn reports whether the ARN is of the API's own account. One that was not configured is nobody's: tables of any
// account are found under it, and of those that are not there nobody says so.
func (t *taggedTable) isOwn(c *call) bool {
	return c.api.cfg.Account != noAccount && strings.Contains(t.V, ":"+c.api.cfg.Account+":")
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
