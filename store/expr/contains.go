package expr

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// contains reports whether a string has a substring, a set a member or a list an element. Binary values work like strings.
func (s *scope) contains(v, part attr.Value) (bool, error) {
	switch {
	case v.Kind() == attr.KindL:
		return s.hasElement(v.List(), part)
	case v.Kind() == attr.KindS && part.Kind() == attr.KindS, v.Kind() == attr.KindB && part.Kind() == attr.KindB:
		return s.hasPiece(v.Text(), part.Text())
	case v.Kind() == attr.KindSS && part.Kind() == attr.KindS, v.Kind() == attr.KindNS && part.Kind() == attr.KindN,
		v.Kind() == attr.KindBS && part.Kind() == attr.KindB:
		members := v.Members()
		if err := s.work.Spend(len(members) * perLook); err != nil {
			return false, err
		}
		return slices.Contains(members, part.Text()), nil
	}
	return false, nil
}

// hasElement searches a list for a value.
func (s *scope) hasElement(list []attr.Value, part attr.Value) (bool, error) {
	if err := s.work.Spend(len(list) * perLook); err != nil {
		return false, err
	}
	for i := range list {
		if list[i].Kind() != part.Kind() {
			continue
		}
		if equal, err := s.compare(opEqual, list[i], part); equal || err != nil {
			return equal, err
		}
	}
	return false, nil
}

// maxNeedle is the longest needle for strings.Index: the processor compares that much at once. For a longer one, the search is for its
// first bytes, and the rest is compared at each hit. Within strings.Index, a long needle and a text crafted for it can take the product
// of their lengths, which the budget could not see.
const maxNeedle = 31

// hasPiece searches a text for a substring.
func (s *scope) hasPiece(text, piece string) (bool, error) {
	head := piece[:min(len(piece), maxNeedle)]
	for len(text) >= len(piece) {
		at := strings.Index(text, head)
		searched := at
		if at < 0 {
			searched = len(text)
		}
		if err := s.work.Spend(1 + searched + len(piece)/perUnit); err != nil {
			return false, err
		}
		switch {
		case at < 0:
			return false, nil
		case strings.HasPrefix(text[at:], piece):
			return true, nil
		}
		text = text[at+1:]
	}
	return false, nil
}
