package hacktracker

import "time"

// Bases holds the player on each base; empty if there is none.
type Bases struct {
	First  string `json:"first,omitempty"`
	Second string `json:"second,omitempty"`
	Third  string `json:"third,omitempty"`
}

// State is the state of a game after its at-bats.
type State struct {
	Inning   int        `json:"inning"`
	Outs     int        `json:"outs"`
	Batter   *Slot      `json:"batter"`          // who is up; nil without a lineup
	Next     []Slot     `json:"next"`            // the next two batters
	Bases    *Bases     `json:"bases,omitempty"` // nil if the scoring does not determine them
	Runs     int        `json:"runs"`            // batted in
	Mismatch []string   `json:"mismatch"`        // at-bats whose device sent a different inning, outs or batting order
	Doubles  [][]string `json:"possibleDoubles"` // pairs of at-bats that look like one scored twice
	Innings  []int      `json:"-"`               // of each at-bat, as derived
}

// doubleWithin is how far apart in time two scorers may record the same plate appearance.
const doubleWithin = time.Minute

// Replay sorts at-bats and derives inning, outs and batter from them. Three outs end an inning; surplus outs of a double play do not
// carry over to the next. Each at-bat advances the lineup by one, whoever batted. The values that devices sent are only compared:
//
//	lineup a b c    a:1B  b:DP  c:K  a:BB    ->  inning 2, nobody out, b is up, a on first
func Replay(lineup []Slot, all []AtBat) State {
	Sort(all)
	st := State{Inning: 1, Mismatch: []string{}, Doubles: [][]string{}, Next: []Slot{}, Bases: &Bases{}}
	for i := range all {
		a := &all[i]
		if a.Inning != st.Inning || a.Outs != st.Outs || len(lineup) > 0 && a.BattingOrder != lineup[i%len(lineup)].BattingOrder {
			st.Mismatch = append(st.Mismatch, a.ID)
		}
		st.Innings = append(st.Innings, st.Inning)
		st.Runs += a.RBIs
		st.Bases = advance(st.Bases, a)
		st.Outs += outsOf[a.Result]
		if st.Outs >= 3 {
			st.Inning, st.Outs, st.Bases = st.Inning+1, 0, &Bases{}
		}
	}
	if n := len(lineup); n > 0 {
		st.Batter = new(lineup[len(all)%n])
		st.Next = append(st.Next, lineup[(len(all)+1)%n], lineup[(len(all)+2)%n])
	}
	st.Doubles = append(st.Doubles, doubles(all)...)
	return st
}

// advance moves the runners where a result determines it; it returns nil if it does not. There is no stealing in slow-pitch, so a
// strikeout moves nobody.
func advance(b *Bases, a *AtBat) *Bases {
	to, isHit := map[string]Bases{Single: {First: a.PlayerID}, Double: {Second: a.PlayerID}, Triple: {Third: a.PlayerID}, HomeRun: {}}[a.Result]
	switch {
	case a.Result == HomeRun:
		return &to
	case b == nil, a.Result == Strikeout:
		return b
	case a.Result == Walk, a.Result == HitByP:
		return forceRunners(*b, a.PlayerID)
	case isHit && *b == Bases{}:
		return &to
	case outsOf[a.Result] == 1 && *b == Bases{}:
		return b
	}
	return nil
}

// forceRunners puts a batter on first and moves up the runners who are forced.
func forceRunners(b Bases, batter string) *Bases {
	if b.First != "" {
		if b.Second != "" {
			b.Third = b.Second
		}
		b.Second = b.First
	}
	b.First = batter
	return &b
}

// doubles finds at-bats with the same batter, inning and result that were scored within a minute of each other. Each is compared with the
// nearest earlier one, so there are fewer pairs than at-bats, however many look the same.
func doubles(all []AtBat) (out [][]string) {
	type appearance struct {
		player, result string
		inning         int
	}
	last := map[appearance]*AtBat{}
	for i := range all {
		a := &all[i]
		same := appearance{a.PlayerID, a.Result, a.Inning}
		if earlier := last[same]; earlier != nil && a.orderTime()-earlier.orderTime() <= doubleWithin.Milliseconds() {
			out = append(out, []string{earlier.ID, a.ID})
		}
		last[same] = a
	}
	return out
}
