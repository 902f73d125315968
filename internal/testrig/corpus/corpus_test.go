package corpus

import (
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	args, err := parse("string(\"a\\\"(b)\")\n[]byte(\"\\xff\\n\")\nbyte('\\u00e9')\nbyte('0')\nuint32(7)\nint64(-7)")
	want := []any{`a"(b)`, []byte{0xff, '\n'}, byte(0xe9), byte('0'), uint32(7), int64(-7)}
	if err != nil || !reflect.DeepEqual(args, want) {
		t.Errorf("got %#v, %v", args, err)
	}
	for _, bad := range []string{"", "string", "string(x)", "int(1)", "byte('ab')", "uint32(-1)"} {
		if args, err := parse(bad); err == nil {
			t.Errorf("%q is %v", bad, args)
		}
	}
}
