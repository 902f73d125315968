package expr

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/store/attr"
)

// CodeOperand is the fault code of an update that finds a value of the wrong type in the item.
const CodeOperand = "operand_type"

// Update is an update with its parameters. It may be used by several goroutines at once.
type Update struct {
	actions []action
	tree    *tree // of the actions' paths
	binding
}

// ParseUpdate reads an UpdateExpression. About unused parameters see ParseFilter.
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
		return nil, formUpdate.refused(err)
	}
	u := &Update{actions: p.actions, binding: bound}
	if u.tree, err = plant(p.targets(), bound.names); err != nil {
		return nil, formUpdate.refused(err)
	}
	for _, check := range [...]func(*action) error{c.checkOperand, c.checkValueOf} {
		for i := range u.actions {
			if err := check(&u.actions[i]); err != nil {
				return nil, formUpdate.refused(err)
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

// checkOperand refuses what can be neither added nor deleted. It is named before anything that is wrong with a SET.
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

// checkValueOf refuses the right side of a SET that fails on every item.
func (c *checker) checkValueOf(a *action) error {
	if a.kind != actionSet {
		return nil
	}
	return c.check(&a.value)
}

func isSet(k attr.Kind) bool { return k == attr.KindSS || k == attr.KindNS || k == attr.KindBS }

// longName is the name of a type in the errors about ADD and DELETE.
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

// Attributes returns the names of the attributes that the update changes, whole or in part, in the order of the text.
func (u *Update) Attributes() []string { return u.tree.attributes() }

// Creates reports whether the update creates the item where there is none. One that only removes and deletes leaves nothing
// there, whatever its paths: "REMOVE a.b" on a missing item is no error. A nil Update creates an item of its key alone.
func (u *Update) Creates() bool {
	return u == nil || slices.ContainsFunc(u.actions, func(a action) bool {
		return a.kind == actionSet || a.kind == actionAdd
	})
}

// Nested returns the names of the attributes that the update changes in part or looks into. A nil Update has none.
func (u *Update) Nested() (names []string) {
	if u == nil {
		return nil
	}
	names = u.tree.nested()
	for i := range u.actions {
		names = appendNested(names, &u.actions[i].value, u.names)
	}
	return names
}

// Project returns the parts of an item that the update is about: UPDATED_OLD of the item before, UPDATED_NEW of the
// item after.
func (u *Update) Project(it attr.Item) attr.Item { return u.tree.pickNames(it) }

// Apply returns the item after the update. The given item is never changed, and shares all that the update leaves alone
// with the new one. Every right side is evaluated against the given item, whatever the order of the actions. To
// create an item, give one that has only the key; whether it may be created, Creates says. An error of kind Invalid means that this item does not fit the
// update: an operand is missing or of the wrong type, or there is nothing to put the value in.
func (u *Update) Apply(it attr.Item) (attr.Item, error) { return u.ApplyWithin(it, nil) }

// ApplyWithin is Apply with a budget; nil: none.
func (u *Update) ApplyWithin(it attr.Item, work *Work) (attr.Item, error) {
	results := make([]attr.Value, len(u.actions))
	s := scope{doc: Item(it), binding: &u.binding, work: work}
	size := 0
	for i := range u.actions {
		var err error
		if results[i], err = s.result(&u.actions[i]); err != nil {
			return nil, err
		}
		// The results lie beside each other in the item. Each may be as large as one can be, and there may be hundreds.
		if size += attr.SizeOf(results[i]); size > attr.MaxItemSize {
			return nil, tooLarge()
		}
	}
	return u.tree.editNames(it, results), nil
}
