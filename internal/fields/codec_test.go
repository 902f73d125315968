package fields_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fields"
)

type place struct {
	name  string
	shirt uint8
}

type team struct {
	Points int64
	Name   string
	Since  time.Time
	Home   bool
	Places []place
	Added  uint64 // later
}

func (m *team) Fields(c *fields.Codec) {
	m.old(c)
	fields.Uint(c, 6, &m.Added)
	c.End()
}

func (m *team) old(c *fields.Codec) {
	c.Version(7)
	fields.Uint(c, 1, &m.Points)
	fields.Text(c, 2, &m.Name)
	c.Time(3, &m.Since)
	c.Flag(4, &m.Home)
	fields.List(c, 5, &m.Places, func(p *place) {
		fields.Text(c, 1, &p.name)
		c.End()
		fields.Number(c, &p.shirt)
	})
}

// older is a team before the last field was added.
type older struct{ team }

func (m *older) Fields(c *fields.Codec) {
	m.old(c)
	c.End()
}

func drawTeam(t *rapid.T) *team {
	m := &team{
		Points: rapid.Int64().Draw(t, "points"), Name: rapid.String().Draw(t, "name"), Home: rapid.Bool().Draw(t, "home"),
		Added: rapid.Uint64().Draw(t, "added"),
	}
	if rapid.Bool().Draw(t, "since") {
		m.Since = time.Unix(0, rapid.Int64().Draw(t, "ns")).UTC()
	}
	for range rapid.IntRange(0, 3).Draw(t, "places") {
		m.Places = append(m.Places, place{rapid.String().Draw(t, "player"), rapid.Uint8().Draw(t, "shirt")})
	}
	return m
}

// A record is read as it was written; cut short, with something behind it or of another version it is refused.
func TestCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTeam(t)
		b := fields.Encode(0, m)
		var got team
		if err := fields.Decode(b, &got); err != nil || !reflect.DeepEqual(&got, m) {
			t.Fatalf("%+v is read as %+v, %v", m, got, err)
		}
		for n := range b {
			if err := fields.Decode(b[:n], &team{}); err == nil {
				t.Fatalf("cut to %d of %d bytes it is read", n, len(b))
			}
		}
		if err := fields.Decode(append(b, 0), &team{}); err == nil {
			t.Fatal("with a byte behind it, it is read")
		}
		b[0]++
		if err := fields.Decode(b, &team{}); err == nil || err.Error() != "unknown version" {
			t.Fatalf("of the next version: %v", err)
		}
	})
}

// A field that was added is zero in what was written before, and what was written since is refused by who does not know it.
func TestCodecOfAnotherTime(t *testing.T) {
	m := &team{Name: "a", Home: true}
	var got team
	if err := fields.Decode(fields.Encode(0, &older{*m}), &got); err != nil || !reflect.DeepEqual(&got, m) {
		t.Errorf("%+v is read as %+v, %v", m, got, err)
	}
	m.Added = 5
	if err := fields.Decode(fields.Encode(0, m), &older{}); err == nil || err.Error() != "trailing data" {
		t.Errorf("read before the field was added: %v", err)
	}
}

// What is empty takes its version and its end.
func TestCodecOfNothing(t *testing.T) {
	if b := fields.Encode(0, &team{}); string(b) != "\x07\x00" {
		t.Errorf("%x", b)
	}
}

// A list that claims more elements than there are bytes is refused before it is made.
func TestCodecOfAnEndlessList(t *testing.T) {
	var m team
	if err := fields.Decode([]byte("\x07\x05\xff\xff\xff\xff\x0f\x00"), &m); err == nil || err.Error() != "cut short" || cap(m.Places) > 0 {
		t.Errorf("%d elements, %v", cap(m.Places), err)
	}
}
