package replay

import (
	"encoding/json"
	"strconv"
	"time"
)

// encoder writes JSON directly: a reply is requested thousands of times per match, and most of its time would be
// reflection. Commas are added automatically.
type encoder struct{ b []byte }

func (e *encoder) comma() {
	if n := len(e.b); n > 0 && e.b[n-1] != '{' && e.b[n-1] != '[' && e.b[n-1] != ':' {
		e.b = append(e.b, ',')
	}
}

// key starts a member. Keys need no escaping.
func (e *encoder) key(k string) {
	e.comma()
	e.b = append(e.b, '"')
	e.b = append(e.b, k...)
	e.b = append(e.b, '"', ':')
}

func (e *encoder) open(k string, bracket byte) {
	if k == "" {
		e.comma()
	} else {
		e.key(k)
	}
	e.b = append(e.b, bracket)
}

func (e *encoder) closeBracket(bracket byte) { e.b = append(e.b, bracket) }

func (e *encoder) text(k, v string) {
	e.key(k)
	quoted, err := json.Marshal(v)
	if err != nil {
		quoted = []byte(`""`) // a string always has a JSON form
	}
	e.b = append(e.b, quoted...)
}

// word writes a string that needs no escaping.
func (e *encoder) word(k, v string) {
	e.key(k)
	e.b = append(e.b, '"')
	e.b = append(e.b, v...)
	e.b = append(e.b, '"')
}

// textOrNull writes null for the empty string.
func (e *encoder) textOrNull(k, v string) {
	if v == "" {
		e.null(k)
		return
	}
	e.text(k, v)
}

func (e *encoder) int(k string, v int) { e.id(k, int64(v)) }

func (e *encoder) id(k string, v int64) {
	e.key(k)
	e.b = strconv.AppendInt(e.b, v, 10)
}

// idOrNull writes null for 0.
func (e *encoder) idOrNull(k string, v int64) {
	if v == 0 {
		e.null(k)
		return
	}
	e.id(k, v)
}

func (e *encoder) bool(k string, v bool) {
	e.key(k)
	e.b = strconv.AppendBool(e.b, v)
}

func (e *encoder) null(k string) { e.raw(k, "null") }

// raw writes a value that is already JSON: a number as text, such as 12.4.
func (e *encoder) raw(k, v string) {
	e.key(k)
	e.b = append(e.b, v...)
}

// json writes a rendered object, null for none.
func (e *encoder) json(k string, v []byte) {
	e.key(k)
	if v == nil {
		v = []byte("null")
	}
	e.b = append(e.b, v...)
}

// overs writes legal balls as a number of overs: 20, 7.3.
func (e *encoder) overs(k string, legal, perOver int) {
	e.key(k)
	e.b = strconv.AppendInt(e.b, int64(legal/perOver), 10)
	if legal%perOver != 0 {
		e.b = append(e.b, '.')
		e.b = strconv.AppendInt(e.b, int64(legal%perOver), 10)
	}
}

func (e *encoder) writeTime(k string, t time.Time) {
	e.key(k)
	e.b = append(e.b, '"')
	e.b = t.UTC().AppendFormat(e.b, "2006-01-02T15:04:05.000000Z")
	e.b = append(e.b, '"')
}
