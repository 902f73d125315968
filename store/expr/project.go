package expr

import "github.com/touchline/touchline/store/attr"

// projection parses a whole projection: paths separated by commas.
func (p *parser) projection() error {
	for {
		at, err := p.path()
		if err != nil {
			return err
		}
		p.out.paths = append(p.out.paths, at)
		if !p.accept(tokComma) {
			_, err = p.expect(tokEnd)
			return err
		}
	}
}

// Projection selects the parts of an item to return. It may be used by several goroutines at once.
type Projection struct{ tree *tree }

// ParseProjection parses a ProjectionExpression. Like ParseFilter, it does not refuse unused parameters.
func ParseProjection(text string, params Params) (*Projection, error) {
	if err := params.Check(); err != nil {
		return nil, err
	}
	b := binder{params: params}
	return b.projection(text)
}

func (b *binder) projection(text string) (*Projection, error) {
	p, bound, err := b.bind(formProjection, text)
	if err != nil {
		return nil, err
	}
	c := checker{p, bound}
	if err := c.checkDefined(); err != nil {
		return nil, formProjection.wrapError(err)
	}
	t, err := plant(p.paths, bound.names)
	if err != nil {
		return nil, formProjection.wrapError(err)
	}
	return &Projection{tree: t}, nil
}

// Project returns an item with the existing parts that the projection names, which it shares with the given item. List elements keep
// their order and leave no holes: a[5], a[2] of a ten-element list is a list of two. If no part exists, the item is empty.
func (p *Projection) Project(it attr.Item) attr.Item { return p.tree.pickNames(it) }

// Attributes returns the names of the attributes that the projection uses, in the order of the text: enough to decide whether an index
// has them all.
func (p *Projection) Attributes() []string { return p.tree.attributes() }

// NestedNames returns the names of the attributes that the projection shows only in part. A nil Projection has none.
func (p *Projection) NestedNames() []string {
	if p == nil {
		return nil
	}
	return p.tree.nestedNames()
}

// Names returns the names of the attributes if the projection consists of whole attributes only, and reports whether it does. A nil
// Projection has none.
func (p *Projection) Names() (names []string, whole bool) {
	if p == nil {
		return nil, false
	}
	for _, sub := range p.tree.subs {
		if len(sub.subs) > 0 {
			return nil, false
		}
	}
	return p.tree.attributes(), true
}
