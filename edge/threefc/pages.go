package threefc

import (
	"cmp"
	"slices"
	"strings"
)

// ListPage is the part of a list that a request asks for.
type ListPage struct {
	After string // what the page follows, as the list has named it; empty: the first page
	Limit int
}

// place is where an entry stands in its list, which is sorted by this text and the id.
type place struct{ by, id string }

// placed is an entry of a list that comes by pages.
type placed interface{ place() place }

func (a place) compare(b place) int {
	return cmp.Or(strings.Compare(a.by, b.by), strings.Compare(a.id, b.id))
}

// inOrder compares two entries of a list.
func inOrder[T placed](a, b T) int { return a.place().compare(b.place()) }

// cut returns the page's entries among all, which are in order, and the place of the last one if there are more. The page begins after the
// place of the one before, so entries that come and go meanwhile neither repeat nor hide others.
func cut[T placed](page ListPage, all []T) (part []T, next string) {
	if page.After != "" {
		id, by, _ := strings.Cut(page.After, "\n")
		at, found := slices.BinarySearchFunc(all, place{by, id}, func(one T, after place) int { return one.place().compare(after) })
		if found {
			at++
		}
		all = all[at:]
	}
	if len(all) <= page.Limit {
		return slices.Clone(all), ""
	}
	last := all[page.Limit-1].place()
	return slices.Clone(all[:page.Limit]), last.id + "\n" + last.by
}
