package expr

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/store/attr"
)

// CodeOperand is the fault code of an update that meets a value of the wrong type in the item.
const CodeOperand = "operand_type"

// Update is an update with its parameters. It may be used by several goroutines at once.
type Update struct {
	actions []action
	tree    *tree // of the paths of the actions
	binding
}

// ParseUpdate parses an UpdateExpression. Like ParseFilter, it does not refuse unused parameters.
func ParseUpdate(text string, params Params) (*Update, error) {
	if err := params.Check(); err != nil {
		return nil, err
	}
	b := binder{params: params}
	return b.update(text)
}

func (b *binder) update(text string) (*Update, error) {
	p, bound, err := b.bind(formUpdate, text)
	if err != nil {
		return nil, err
	}
	c := checker{p, bound}
	if err := c.checkDefined(); err != nil {
		return nil, formUpdate.wrapError(err)
	}
	u := &Update{actions: p.actions, binding: bound}
	if u.tree, err = plant(p.targets(), bound.names); err != nil {
		return nil, formUpdate.wrapError(err)
	}
	for _, check := range [...]func(*action) error{c.checkOperand, c.checkValueOf} {
		for i := range u.actions {
			if err := check(&u.actions[i]); err != nil {
				return nil, formUpdate.wrapError(err)
			}
		}
	}
	return u, nil
}

// targets returns the paths that the actions change.
func (p *parsed) targets() []path {
	paths := make([]path, len(p.actions))
	for i := range p.actions {
		paths[i] = p.actions[i].path
	}
	return paths
}

// checkOperand refuses operands that can be neither added nor deleted, such as a string. Like DynamoDB, it is checked before the SETs.
func (c *checker) checkOperand(a *action) error {
	if a.kind != actionAdd && a.kind != actionDelete {
		return nil
	}
	k := c.kind(&a.value)
	if isSet(k) || a.kind == actionAdd && isNumber(k) {
		return nil
	}
	return refuse("Incorrect operand type for operator or function; operator: %s, operand type: %s, "+
		"typeSet: ALLOWED_FOR_%s_OPERAND", a.kind, longName(k), a.kind)
}

// checkValueOf refuses the right side of a SET that fails for every item, such as ":string + :n".
func (c *checker) checkValueOf(a *action) error {
	if a.kind != actionSet {
		return nil
	}
	return c.check(&a.value)
}

func isSet(k attr.Kind) bool { return k == attr.KindSS || k == attr.KindNS || k == attr.KindBS }

// longName returns the name of a type in errors about ADD and DELETE.
func longName(k attr.Kind) string {
	return cmp.Or(map[attr.Kind]string{
		attr.KindS:    "STRING",
		attr.KindN:    "NUMBER",
		attr.KindB:    "BINARY",
		attr.KindBool: "BOOLEAN",
		attr.KindL:    "LIST",
		attr.KindM:    "MAP",
	}[k], k.String())
}

// Attributes returns the names of the attributes that the update changes, in whole or in part, in the order of the text.
func (u *Update) Attributes() []string { return u.tree.attributes() }

// Creates reports whether the update creates a missing item. One that only removes and deletes does not, whatever its paths: "REMOVE a.b"
// on a missing item is no error. A nil Update creates an item with only its key.
func (u *Update) Creates() bool {
	return u == nil || slices.ContainsFunc(u.actions, func(a action) bool {
		return a.kind == actionSet || a.kind == actionAdd
	})
}

// NestedNames returns the names of the attributes that the update changes in part or reads a part of. A nil Update has none.
func (u *Update) NestedNames() (names []string) {
	if u == nil {
		return nil
	}
	names = u.tree.nestedNames()
	for i := range u.actions {
		names = appendNested(names, &u.actions[i].value, u.names)
	}
	return names
}

// Project returns the parts of an item that the update names: UPDATED_OLD for the item before, UPDATED_NEW for the item after.
func (u *Update) Project(it attr.Item) attr.Item { return u.tree.pickNames(it) }

// Apply returns the item after the update. It does not change the given item; both share everything that the update leaves alone. Every
// right side is evaluated on the given item, whatever the order of the actions: "SET a = b, b = a" swaps two attributes. To create an
// item, pass one with only the key; Creates reports whether that is allowed. An error of kind Invalid means that this item does not fit
// the update: an operand is missing or has the wrong type, or there is no map or list to put the value in.
func (u *Update) Apply(it attr.Item) (attr.Item, error) { return u.ApplyWithin(it, nil) }

// ApplyWithin is Apply with a budget; nil: no limit.
func (u *Update) ApplyWithin(it attr.Item, work *Work) (attr.Item, error) {
	results := make([]attr.Value, len(u.actions))
	s := scope{doc: Item(it), binding: &u.binding, work: work}
	size := 0
	for i := range u.actions {
		var err error
		if results[i], err = s.result(&u.actions[i]); err != nil {
			return nil, err
		}
		// All results end up in one item. Each may be as large as an item, and there may be hundreds.
		if size += attr.SizeOf(results[i]); size > attr.MaxItemSize {
			return nil, tooLarge()
		}
	}
	return u.tree.editNames(it, results), nil
}
