package sportmonks

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"strconv"
	"time"
	"unique"

	"github.com/touchline/touchline/edge/cricket"
)

// decoder turns a reply into snapshots, using what it remembers of the last reply to the same request. It keeps
// no old body: of every ball and match it keeps length and hash. If the same bytes are at the same place again,
// it reuses what was decoded before, without even searching for the end of the element.
type decoder struct {
	seed   maphash.Seed
	scores *scores
	odd    *oddities
	now    time.Time
	header []byte // scratch: a fixture's text without its balls
}

// memory is what is remembered of the last reply to a request.
type memory struct {
	etag      string
	body      span
	fixtures  []known
	snapshots []cricket.Snapshot
	skipped   []error
	header    []byte // the decoder's scratch
	used      uint64 // for eviction: the turn in which it was last put back
}

// known is a decoded match. Its snapshot is shared with readers and never changed.
type known struct {
	span
	snap  cricket.Snapshot
	balls *knownBalls
}

// knownBalls are the balls of a match as in the reply, each with the length and hash of its text.
type knownBalls struct {
	spans   []span
	balls   []cricket.Ball
	named   []named
	partial bool // some came without a score object
}

// named holds the names of a ball's batter and bowler, shared, because a match has thousands of balls and some thirty players.
type named [2]unique.Handle[cricket.Name]

// span identifies a text by length and hash. The zero span matches nothing: its text was not remembered.
type span struct {
	size int
	hash uint64
}

func (d *decoder) span(b []byte) span { return span{size: len(b), hash: maphash.Bytes(d.seed, b)} }

// isAt reports whether the remembered text is at this place.
func (s span) isAt(d *decoder, b []byte, at int) bool {
	return s.size > 0 && at+s.size <= len(b) && d.span(b[at:at+s.size]) == s
}

// reply is a decoded body.
type reply struct {
	fixtures []known
	skipped  []error // rows that could not be decoded
	rows     int     // in a list of other things than matches
	meta     wireMeta
	next     string // address of the next page
}

var errNoData = errors.New(`no "data"`)

// reply decodes a body: a list of fixtures or a single one. last is the memory of the same request.
func (d *decoder) reply(b []byte, last []known) (*reply, error) {
	r := &reply{}
	err := r.envelope(b, func(at int) (int, error) { return d.data(r, b, at, last) })
	if err != nil {
		return nil, err
	}
	return r, nil
}

// envelope decodes what surrounds the rows of a body, and calls data with their place.
func (r *reply) envelope(b []byte, data func(at int) (end int, err error)) error {
	seen := false
	end, err := eachField(b, 0, func(name []byte, at int) (int, error) {
		switch string(name) {
		case `"data"`:
			seen = true
			return data(at)
		case `"meta"`:
			var m one[wireMeta] // [] if there are no pages
			end, err := decodeAt(b, at, &m)
			r.meta = m.value
			return end, err
		case `"links"`:
			var l one[wireLinks]
			end, err := decodeAt(b, at, &l)
			r.next = string(l.value.Next)
			return end, err
		}
		return valueEnd(b, at)
	})
	switch {
	case err != nil:
		return err
	case space(b, end) != len(b):
		return errSyntax
	case !seen:
		return errNoData
	}
	return nil
}

func (d *decoder) data(r *reply, b []byte, at int, last []known) (end int, err error) {
	if at >= len(b) {
		return 0, errTruncated
	}
	switch b[at] {
	case '[':
		i := -1
		return eachElement(b, at, func(at int) (int, error) {
			i++
			return d.element(r, b, at, last, i)
		})
	case '{':
		k, end, err := d.fixture(b, at, last)
		r.fixtures = append(r.fixtures, k)
		return end, err
	}
	return valueEnd(b, at)
}

// element decodes match i of a list, or reuses it from the last reply. A match that cannot be decoded is
// skipped: it must not affect the others.
func (d *decoder) element(r *reply, b []byte, at int, last []known, i int) (end int, err error) {
	if i < len(last) && last[i].isAt(d, b, at) {
		k := last[i]
		k.snap.ReadAt = d.now
		r.fixtures = append(r.fixtures, k)
		return at + k.size, nil
	}
	k, end, err := d.fixture(b, at, last)
	if err == nil {
		if k.balls == nil || !k.balls.partial {
			k.span = d.span(b[at:end])
		}
		r.fixtures = append(r.fixtures, k)
		return end, nil
	}
	end, broken := valueEnd(b, at)
	if broken != nil {
		return 0, broken
	}
	r.skipped = append(r.skipped, err)
	return end, nil
}

// fixture decodes the match at this place: its balls one by one, the rest with encoding/json.
func (d *decoder) fixture(b []byte, at int, last []known) (known, int, error) {
	var k known
	d.header = append(d.header[:0], '{')
	var before *knownBalls
	end, err := eachField(b, at, func(name []byte, at int) (int, error) {
		d.odd.field("fixture", name)
		if string(name) == `"balls"` {
			end, balls, err := d.ballList(b, at, before)
			k.balls = balls
			return end, err
		}
		end, err := valueEnd(b, at)
		if err != nil {
			return 0, err
		}
		switch string(name) {
		case `"id"`:
			before = ballsOf(last, b[at:end])
		case `"runs"`, `"scoreboards"`, `"batting"`, `"bowling"`, `"lineup"`:
			d.odd.first(string(name[1:len(name)-1]), b, at)
		}
		if len(d.header) > 1 {
			d.header = append(d.header, ',')
		}
		d.header = append(append(append(d.header, name...), ':'), b[at:end]...)
		return end, nil
	})
	if err != nil {
		return k, 0, err
	}
	var w wireFixture
	d.header = append(d.header, '}')
	if err := json.Unmarshal(d.header, &w); err != nil {
		return k, 0, err
	}
	if w.ID <= 0 {
		return k, 0, errNoID
	}
	k.snap = d.snapshot(&w, k.balls)
	k.snap.Raw = bytes.Clone(d.header)
	d.odd.match(&k.snap)
	return k, end, nil
}

var errNoID = errors.New("a match without an id")

// ballsOf returns the remembered balls of the match with this id. Balls are recognised only by their bytes:
// another match's would cost time, but could not be mistaken for this one's.
func ballsOf(last []known, id []byte) *knownBalls {
	for i := range last {
		if last[i].snap.MatchID == string(bytes.Trim(id, `"`)) {
			return last[i].balls
		}
	}
	return nil
}

// ballList decodes the include at this place. It never returns nil: an include without balls is an empty list,
// while a reply without the include, because balls were not requested, has none.
func (d *decoder) ballList(b []byte, at int, before *knownBalls) (end int, balls *knownBalls, err error) {
	w := &ballWalk{decoder: d, out: &knownBalls{balls: []cricket.Ball{}}}
	if before != nil {
		w.old = *before
		w.out.balls = make([]cricket.Ball, 0, len(before.balls)+4)
		w.out.spans = make([]span, 0, len(before.spans)+4)
		w.out.named = make([]named, 0, len(before.named)+4)
	}
	list := includeStart(b, at)
	if list < 0 {
		end, err = valueEnd(b, at)
		return end, w.out, err
	}
	end, err = eachElement(b, list, func(at int) (int, error) { return w.step(b, at) })
	if err == nil && list != at {
		end, err = valueEnd(b, at)
	}
	return end, w.out, err
}

// ballWalk walks along the balls of a reply and those of the previous one.
type ballWalk struct {
	*decoder
	old  knownBalls
	next int // index in old of the ball expected next
	out  *knownBalls
}

// ballWindow is how far apart an inserted, deleted or revised ball may set two replies.
const ballWindow = 32

func (w *ballWalk) step(b []byte, at int) (end int, err error) {
	if w.next < len(w.old.spans) && w.old.spans[w.next].isAt(w.decoder, b, at) {
		w.visitBall(w.next)
		return at + w.old.spans[w.next-1].size, nil
	}
	if end, err = valueEnd(b, at); err != nil {
		return 0, err
	}
	text := w.span(b[at:end])
	for i := w.next; i < min(w.next+ballWindow, len(w.old.spans)); i++ {
		if w.old.spans[i] == text {
			w.visitBall(i)
			return end, nil
		}
	}
	return end, w.fresh(b[at:end], text)
}

func (w *ballWalk) visitBall(i int) {
	w.out.balls = append(w.out.balls, w.old.balls[i])
	w.out.spans = append(w.out.spans, w.old.spans[i])
	w.out.named = append(w.out.named, w.old.named[i])
	w.next = i + 1
}

func (w *ballWalk) fresh(element []byte, text span) error {
	var ball wireBall
	if err := json.Unmarshal(element, &ball); err != nil {
		return err
	}
	w.odd.object("balls", element, 0)
	if !ball.Score.is {
		text, w.out.partial = span{}, true // the catalogue may know more next time
	}
	w.out.balls = append(w.out.balls, w.ball(&ball))
	w.out.spans = append(w.out.spans, text)
	w.out.named = append(w.out.named, named{nameHandle(&ball.Batter), nameHandle(&ball.Bowler)})
	return nil
}

func nameHandle(p *one[wirePlayer]) unique.Handle[cricket.Name] { return unique.Make(nameOf(&p.value)) }

// decodeAt decodes the value at this place and returns its end.
func decodeAt(b []byte, at int, into any) (end int, err error) {
	end, err = valueEnd(b, at)
	if err != nil {
		return 0, err
	}
	return end, json.Unmarshal(b[at:end], into)
}

func idText(n number) string { return strconv.FormatInt(int64(n), 10) }
