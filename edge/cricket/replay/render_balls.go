package replay

import (
	"sync"
	"time"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// pageSize is the size of a piece of rendered text; a ball takes about 1.3 KB.
const pageSize = 64 << 10

// ballPages caches the balls' JSON. A ball is rendered on first use and its bytes never change, so the balls at
// any moment are a prefix of the cache, and a reply is written from it without a copy.
type ballPages struct {
	m      *Match
	stamps []time.Time // updated_at of each ball; nil: when it was bowled
	ids    []int64     // id of each ball; nil: the first one
	mu     sync.Mutex

	pages   [][]byte
	scratch encoder
	cards   []card
	n       int // number of rendered balls
	ends    []ballEnd
	pairs   [][2]recording.Ref // the pair at the crease before each ball
}

type ballEnd struct{ page, at int }

// upto returns the first n balls, separated by commas, as pieces to be written one after the other. The pieces
// are shared: callers must not change them, and later balls are only appended.
func (p *ballPages) upto(n int) [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.n < n {
		p.add()
	}
	if n == 0 {
		return nil
	}
	end := p.ends[n-1]
	pieces := make([][]byte, 0, end.page+1)
	pieces = append(pieces, p.pages[:end.page]...)
	return append(pieces, p.pages[end.page][:end.at])
}

// ballPieces returns the balls of a view as pieces: the true ones, then those shown differently.
func (p *ballPages) ballPieces(v *view) [][]byte {
	prefix, tail := v.tail(p.m)
	pieces := p.upto(prefix)
	if len(tail) == 0 {
		return pieces
	}
	p.upto(v.Balls) // so that the pairs at the crease are known
	p.mu.Lock()
	defer p.mu.Unlock()
	var e encoder
	if prefix > 0 {
		e.b = append(e.b, ',')
	}
	for i := range tail {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		b := &tail[i]
		p.m.ball(&e, b, p.pairs[min(b.index, len(p.pairs)-1)])
	}
	return append(pieces, e.b)
}

func (p *ballPages) add() {
	b := p.m.balls[p.n]
	if p.stamps != nil {
		b.at = p.stamps[p.n]
	}
	if p.ids != nil {
		b.id = p.ids[p.n]
	}
	e := &p.scratch
	e.b = e.b[:0]
	if p.n > 0 {
		e.b = append(e.b, ',')
	}
	p.pairs = append(p.pairs, p.pair(&b))
	p.m.ball(e, &b, p.pairs[p.n])
	last := len(p.pages) - 1
	if last < 0 || len(p.pages[last])+len(e.b) > cap(p.pages[last]) {
		p.pages = append(p.pages, make([]byte, 0, pageSize))
		last++
	}
	p.pages[last] = append(p.pages[last], e.b...)
	p.ends = append(p.ends, ballEnd{last, len(p.pages[last])})
	p.n++
}

// pair returns the batters at the crease before a ball, in batting order.
func (p *ballPages) pair(b *ball) [2]recording.Ref {
	for len(p.cards) <= b.innings {
		p.cards = append(p.cards, card{})
	}
	c := &p.cards[b.innings]
	one, two := c.batter(b.d.Batter), c.batter(b.d.NonStriker)
	if one > two {
		one, two = two, one
	}
	return [2]recording.Ref{c.batting[one].who, c.batting[two].who}
}

func (m *Match) ball(e *encoder, b *ball, pair [2]recording.Ref) {
	ids := m.static.ids
	side := m.rec.Innings[b.innings].Team
	s := scoreOf(b.d)
	var out, catch, runOutBy recording.Ref
	if w := firstOut(b.d); w != nil {
		out = w.Out
		catch, runOutBy = helpers(w, b.d.Bowler)
	}
	e.b = append(e.b, '{')
	e.word("resource", "balls")
	e.id("id", b.id)
	e.id("fixture_id", m.id)
	e.id("team_id", m.static.teamIDs[side])
	e.raw("ball", b.label)
	e.word("scoreboard", scoreboard(b.innings+1))
	e.id("batsman_one_on_creeze_id", ids[pair[0]])
	e.id("batsman_two_on_creeze_id", ids[pair[1]])
	e.id("batsman_id", ids[b.d.Batter])
	e.id("bowler_id", ids[b.d.Bowler])
	e.idOrNull("batsmanout_id", ids[out])
	e.idOrNull("catchstump_id", ids[catch])
	e.idOrNull("runout_by_id", ids[runOutBy])
	e.id("score_id", s.id)
	e.json("batsman", m.player(b.d.Batter))
	e.json("bowler", m.player(b.d.Bowler))
	e.key("score")
	s.render(e)
	e.json("team", m.static.teams[side])
	e.writeTime("updated_at", b.at)
	e.closeBracket('}')
}

func (s *score) render(e *encoder) {
	e.b = append(e.b, '{')
	e.word("resource", "scores")
	e.id("id", s.id)
	e.word("name", s.name)
	e.int("runs", s.runs)
	e.bool("four", s.four)
	e.bool("six", s.six)
	e.int("bye", s.bye)
	e.int("leg_bye", s.legBye)
	e.int("noball", s.noBall)
	e.int("noball_runs", s.noBallRuns)
	e.bool("is_wicket", s.wicket)
	e.bool("ball", s.ball)
	e.bool("out", s.isOut)
	e.closeBracket('}')
}
