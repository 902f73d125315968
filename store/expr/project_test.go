package expr

import (
	"reflect"
	"slices"
	"testing"

	"github.com/touchline/touchline/store/attr"
)

func TestProjectShares(t *testing.T) {
	it := mustItem(t, `{"m":{"M":{"x":{"M":{"y":{"N":"1"}}},"z":{"N":"1"}}},"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"}]}}`)
	before := string(attr.Encode(nil, it))
	p, err := ParseProjection("l[2], m.#x, l[0], missing1.at1.all1", Params{Names: map[string]string{"#x": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	got := p.Project(it)
	if text := canonical(attr.AppendJSON(nil, got)); text !=
		`{"l":{"L":[{"N":"0"},{"N":"2"}]},"m":{"M":{"x":{"M":{"y":{"N":"1"}}}}}}` {
		t.Error(text)
	}
	x, y := it["m"].Map()["x"].Map(), got["m"].Map()["x"].Map()
	if reflect.ValueOf(x).Pointer() != reflect.ValueOf(y).Pointer() {
		t.Error("the part shown was copied")
	}
	if string(attr.Encode(nil, it)) != before {
		t.Error("the item was changed")
	}
	if _, whole := p.Names(); whole {
		t.Error("a projection of parts is taken for one of whole attributes")
	}
	if names := p.Attributes(); !slices.Equal(names, []string{"l", "m", "missing1"}) {
		t.Error(names)
	}
	if empty := p.Project(nil); empty == nil || len(empty) != 0 {
		t.Error(empty)
	}
}
