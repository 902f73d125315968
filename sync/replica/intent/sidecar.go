package intent

import (
	"maps"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// The attributes that we keep on an item in the cloud, beside the fence, which is the application's.
const (
	AttrLife  = "_c"
	AttrCount = "_n"
	AttrTime  = "_t"
	AttrHold  = "_u"
	AttrTurn  = "_r"
	AttrMark  = "_a_" // and the id of a node
	AttrFence = "_f"  // the application's own attribute: never stripped
)

// Sidecar is what we keep on an item in the cloud. The zero Sidecar is that of an item that no node of ours has touched.
// What a foreign writer has made of the attributes is kept as it is.
type Sidecar struct {
	Life  string                // _c: the write id that created it, or "~" and the one that first touched a foreign item
	Count uint64                // _n: our sends
	Marks map[string]attr.Value // _a_<node>: the last entry of each node
	Time  attr.Value            // _t: the time of policy newest, a number
	Hold  int64                 // _u: nodes do not delete this life before it, epoch milliseconds
	Turn  attr.Value            // _r: until when the others let a Put pass, a number: epoch milliseconds, and behind the point the Put's digits
}

// Reserved reports whether an attribute is ours on tables that send: applications may not use it.
func Reserved(name string) bool {
	switch name {
	case AttrLife, AttrCount, AttrTime, AttrHold, AttrTurn:
		return true
	}
	return strings.HasPrefix(name, AttrMark)
}

// Split takes an image of the cloud apart: the application's item, and our sidecar. No image gives no item. The image is
// not changed.
func Split(image attr.Item) (attr.Item, Sidecar) {
	var side Sidecar
	if image == nil {
		return nil, side
	}
	ours := 0
	for name := range image {
		if name != "" && name[0] == '_' && Reserved(name) {
			ours++
		}
	}
	if ours == 0 {
		return image, side
	}
	item := make(attr.Item, len(image)-ours)
	for name, v := range image {
		if !Reserved(name) {
			item[name] = v
			continue
		}
		side.take(name, v)
	}
	return item, side
}

func (s *Sidecar) take(name string, v attr.Value) {
	switch name {
	case AttrLife:
		s.Life = v.Str()
	case AttrCount:
		if n, ok := v.Int(); ok && n > 0 {
			s.Count = uint64(n)
		}
	case AttrTime:
		s.Time = v
	case AttrHold:
		s.Hold, _ = v.Int()
	case AttrTurn:
		s.Turn = v
	default:
		if s.Marks == nil {
			s.Marks = map[string]attr.Value{}
		}
		s.Marks[name[len(AttrMark):]] = v
	}
}

// Join puts the sidecar back on an item: what the cloud holds. The item is not changed.
func (s Sidecar) Join(item attr.Item) attr.Item {
	if item == nil {
		return nil
	}
	image := maps.Clone(item)
	if s.Life != "" {
		image[AttrLife] = attr.S(s.Life)
	}
	if s.Count != 0 {
		image[AttrCount] = attr.Int(int64(s.Count))
	}
	if !s.Time.IsZero() {
		image[AttrTime] = s.Time
	}
	if s.Hold != 0 {
		image[AttrHold] = attr.Int(s.Hold)
	}
	if !s.Turn.IsZero() {
		image[AttrTurn] = s.Turn
	}
	for node, mark := range s.Marks {
		image[AttrMark+node] = mark
	}
	return image
}

// IsZero reports whether the item carries nothing of ours.
func (s Sidecar) IsZero() bool {
	return s.Life == "" && s.Count == 0 && len(s.Marks) == 0 && s.Time.IsZero() && s.Hold == 0 && s.Turn.IsZero()
}
