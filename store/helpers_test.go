package store_test

import (
	"errors"
	"maps"

	"github.com/touchline/touchline/store/expr"
)

var errMember = errors.New("this member fails")

func withName(p expr.Params, placeholder, name string) expr.Params {
	p.Names = maps.Clone(p.Names)
	if p.Names == nil {
		p.Names = map[string]string{}
	}
	p.Names[placeholder] = name
	return p
}
