package expr

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// contains reports whether a string has a piece, a set a member or a list an element.
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

// hasElement looks for a value in a list.
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

// maxNeedle is the longest piece that is searched for as a whole: so much the processor compares at once. The rest of a longer one
// is compared where its beginning was found. What strings.Index does with long pieces takes the length of the text times that
// of the piece where somebody has made both for it.
const maxNeedle = 31

// hasPiece looks for a piece in a text.
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
