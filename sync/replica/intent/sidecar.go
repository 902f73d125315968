package intent

import (
	"maps"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// Attributes that we keep on an item in the cloud. The fence is the application's own.
const (
	AttrLife  = "_c"
	AttrCount = "_n"
	AttrTime  = "_t"
	AttrHold  = "_u"
	AttrTurn  = "_r"
	AttrMark  = "_a_" // followed by the id of a node
	AttrFence = "_f"  // the application's own attribute: never stripped
)

// Sidecar holds the attributes we keep on an item in the cloud. The zero Sidecar belongs to an item that none of our nodes touched.
// If a foreign writer changed these attributes, its values are kept.
type Sidecar struct {
	Life  string                // _c: the write id that created the item, or "~" and the one that first touched a foreign item
	Count uint64                // _n: number of our sends
	Marks map[string]attr.Value // _a_<node>: the last entry of each node
	Time  attr.Value            // _t: time of policy newest, a number
	Hold  int64                 // _u: nodes do not delete this life before then, epoch milliseconds
	Turn  attr.Value            // _r: until when other nodes let a Put pass: epoch milliseconds, then after the point the Put's digits
}

// IsReserved reports whether an attribute name is ours on tables that send. Applications may not use it.
func IsReserved(name string) bool {
	switch name {
	case AttrLife, AttrCount, AttrTime, AttrHold, AttrTurn:
		return true
	}
	return strings.HasPrefix(name, AttrMark)
}

// Split separates a cloud image into the application's item and our sidecar. It returns a nil item for a nil image, and does not
// change the image.
func Split(image attr.Item) (attr.Item, Sidecar) {
	var side Sidecar
	if image == nil {
		return nil, side
	}
	ours := 0
	for name := range image {
		if name != "" && name[0] == '_' && IsReserved(name) {
			ours++
		}
	}
	if ours == 0 {
		return image, side
	}
	item := make(attr.Item, len(image)-ours)
	for name, v := range image {
		if !IsReserved(name) {
			item[name] = v
			continue
		}
		side.readAttribute(name, v)
	}
	return item, side
}

func (s *Sidecar) readAttribute(name string, v attr.Value) {
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

// Join returns the item as stored in the cloud, with the sidecar. It does not change its argument.
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

// IsZero reports whether the item carries none of our attributes.
func (s Sidecar) IsZero() bool {
	return s.Life == "" && s.Count == 0 && len(s.Marks) == 0 && s.Time.IsZero() && s.Hold == 0 && s.Turn.IsZero()
}
