package attr

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// plans caches the results of planOf by struct type.
var plans sync.Map //nolint:gochecknoglobals // a cache: reflect.Type to *plan

// plan says how a struct type maps to an item.
type plan struct {
	fields []planField
}

type planField struct {
	name      string
	index     []int // more than one for a field of an embedded struct
	omitEmpty bool
}

// planOf returns the plan of a struct type.
func planOf(t reflect.Type) (*plan, error) {
	if p, ok := plans.Load(t); ok {
		return p.(*plan), nil
	}
	p := &plan{}
	if err := p.add(t, nil); err != nil {
		return nil, err
	}
	plans.Store(t, p)
	return p, nil
}

// add adds the fields of a struct; those of embedded structs count as its own. A field hides embedded ones with the same name.
func (p *plan) add(t reflect.Type, index []int) error {
	var embedded []reflect.StructField
	own := len(p.fields)
	for f := range t.Fields() {
		tag := f.Tag.Get("dynamodbav")
		if tag == "-" {
			continue
		}
		if f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct && f.Type != timeType && f.Type != valueType {
			embedded = append(embedded, f)
			continue
		}
		if f.Anonymous && tag == "" && f.Type.Kind() == reflect.Pointer {
			return fmt.Errorf("%s embeds a pointer, which needs a name of its own", t)
		}
		if !f.IsExported() {
			continue
		}
		field, err := readTag(t, f, tag)
		if err != nil {
			return err
		}
		field.index = append(append([]int(nil), index...), f.Index...)
		if i := p.find(field.name); i >= own {
			return fmt.Errorf("two fields of %s are named %q", t, field.name)
		} else if i < 0 {
			p.fields = append(p.fields, field)
		}
	}
	for _, f := range embedded {
		if err := p.add(f.Type, append(append([]int(nil), index...), f.Index...)); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) find(name string) int {
	for i := range p.fields {
		if p.fields[i].name == name {
			return i
		}
	}
	return -1
}

// readTag parses `dynamodbav:"name,omitempty"`. An unknown option is an error, because ignoring it would silently not do what it asks
// for.
func readTag(t reflect.Type, f reflect.StructField, tag string) (planField, error) {
	name, options, _ := strings.Cut(tag, ",")
	field := planField{name: name}
	if name == "" {
		field.name = f.Name
	}
	switch options {
	case "":
	case "omitempty":
		field.omitEmpty = true
	default:
		return planField{}, fmt.Errorf("field %s of %s: unknown option in tag %q", f.Name, t, tag)
	}
	return field, nil
}
