package expr

import "github.com/touchline/touchline/store/attr"

// projection reads a whole projection: paths with commas.
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

// Projection says which parts of an item to show. It may be used by several goroutines at once.
type Projection struct{ tree *tree }

// ParseProjection reads a ProjectionExpression. About unused parameters see ParseFilter.
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
		return nil, formProjection.refused(err)
	}
	t, err := plant(p.paths, bound.names)
	if err != nil {
		return nil, formProjection.refused(err)
	}
	return &Projection{tree: t}, nil
}

// Project returns an item with the parts that the projection names and that exist; it shares them with the given item.
// Elements of a list keep their order and close up. Nothing there: an empty item.
func (p *Projection) Project(it attr.Item) attr.Item { return p.tree.pickNames(it) }

// Attributes returns the names of the attributes that the projection looks at, in the order of the text: enough to
// know whether an index has them all.
func (p *Projection) Attributes() []string { return p.tree.attributes() }

// Nested returns the names of the attributes of which the projection names parts only. A nil Projection is of none.
func (p *Projection) Nested() []string {
	if p == nil {
		return nil
	}
	return p.tree.nested()
}

// Names returns the names of the attributes, and whether the projection is of whole attributes only. A nil Projection is
// of none.
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
