package dynamoapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// taggedTable is the ResourceArn of the operations on tags.
type taggedTable struct {
	wire.Opt[string]
}

// constrain does nothing: the service checks the ARN first, in run.
func (t *taggedTable) constrain(*constraints) {}

func (t *taggedTable) touches(operation string, visit func(action, table string)) {
	visit(operation, t.V)
}

// checkShape refuses what is not a table's ARN. For ARNs of other services it denies access.
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
	path, ok := strings.CutPrefix(parts[5], "table/")
	switch _, sub, _ := strings.Cut(path, "/"); {
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

// change applies a change of tags. check checks the operation's other member, and missing is its message for a missing table.
func (t *taggedTable) change(
	c *call, member string, set bool, check func() error, missing string, change func(*store.TableSettings) error,
) error {
	if err := t.checkShape(); err != nil {
		return err
	}
	var model constraints
	model.require(member, set)
	if err := model.err(); err != nil {
		return err
	}
	name, err := t.name()
	if err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	d, err := c.table(name)
	if err != nil {
		return refuse(ofModel+"ResourceNotFoundException", "%s", missing)
	}
	c.silent = true
	return c.api.store.UpdateTable(c, store.TableChange{Table: d.Spec.Name, Settings: change})
}

const noTagged = "Requested resource not found: ResourcArn: %s not found" // the service's own spelling

// tagResource adds tags to a table, or changes their values.
type tagResource struct {
	taggedTable
	tags wire.Opt[[]tag]
}

func (r *tagResource) members(m *wire.Member) {
	m.Text("ResourceArn", &r.Opt)
	list(m, "Tags", &r.tags, wire.Objects("Tag", (*tag).members))
}

func (r *tagResource) run(c *call) error {
	check := func() error {
		if len(r.tags.V) == 0 {
			return errValidation("Atleast one Tag needs to be provided as Input.")
		}
		return checkTags(r.tags.V)
	}
	return r.change(c, "tags", r.tags.Set, check, fmt.Sprintf(noTagged, r.V), func(s *store.TableSettings) error {
		for _, t := range r.tags.V {
			s.Tags[t.key.V] = t.value.V
		}
		if len(s.Tags) > maxTags {
			return errTooManyTags()
		}
		return nil
	})
}

// untagResource removes tags from a table. Tags that it does not have are ignored.
type untagResource struct {
	taggedTable
	keys wire.Opt[[]string]
}

func (r *untagResource) members(m *wire.Member) {
	m.Text("ResourceArn", &r.Opt)
	list(m, "TagKeys", &r.keys, (*wire.Decoder).Text)
}

func (r *untagResource) run(c *call) error {
	check := func() error {
		if len(r.keys.V) == 0 {
			return errValidation("Atleast one Tag Key needs to be provided as Input.")
		}
		for _, key := range r.keys.V {
			if err := checkTagKey(wire.Opt[string]{V: key, Set: true}); err != nil {
				return err
			}
		}
		return nil
	}
	return r.change(c, "tagKeys", r.keys.Set, check, "Requested resource not found", func(s *store.TableSettings) error {
		for _, key := range r.keys.V {
			delete(s.Tags, key)
		}
		return nil
	})
}

// listTagsOfResource lists the tags of a table, sorted by key. A table has at most 50, so one answer has all of them and never a
// NextToken. If a request has one, it is the key to continue after.
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
	d, err := c.table(name)
	if err != nil { // a missing table is not mentioned
		return errAccessDenied()
	}
	c.out.NamedArray("Tags")
	for _, key := range slices.Sorted(maps.Keys(d.Settings.Tags)) {
		if !r.after.Set || key > r.after.V {
			c.out.TextObject("Key", key, "Value", d.Settings.Tags[key])
		}
	}
	c.out.EndArray()
	return nil
}
