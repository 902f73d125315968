package threefc

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// When a write is dropped because another node was first, people's later changes are not dropped with it; exports are.
func TestMergeLeavesWhatStandsBehindToAPerson(t *testing.T) {
	s := &Service{Handle: Rows("t")}
	later := []Refused{{Key: markerKey("g", "e")}}
	once := attr.Item{"pk": attr.S(pkOnce + "goal#k"), "sk": attr.S(skMeta), "requestHash": attr.S("h")}
	place := attr.Item{"pk": attr.S(pkGame + "g"), "sk": attr.S(skRoster + "red#p")}
	state := attr.Item{"pk": attr.S(pkGame + "g"), "sk": attr.S(skState)}
	invite := func(by string) attr.Item {
		it, err := encode(InviteKey("c"), Invite{AcceptedByUserID: &by})
		if by == "" {
			it, err = encode(InviteKey("c"), Invite{})
		}
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	same := func(row attr.Item) Refused { return Refused{Key: row, View: row, Remote: row} }
	again := same(place)
	again.Again = []store.WriteItem{{Delete: &store.DeleteItem{Key: place}}}
	for name, c := range map[string]struct {
		row              Refused
		alone, withLater bool
	}{
		"a key that was used":                   {same(once), true, false},
		"a roster's place":                      {same(place), true, false},
		"an export":                             {same(state), true, false},
		"a session of what was used":            {same(SignInKey("x")), true, true},
		"an invite that was accepted there too": {Refused{Key: InviteKey("c"), View: invite("a"), Remote: invite("b")}, true, false},
		"an invite that was changed there":      {Refused{Key: InviteKey("c"), View: invite("a"), Remote: invite("")}, false, false},
		"a removal of a partition's row":        {Refused{Key: gamePlayerKey("g", "p")}, true, false},
		"a removal of what is made again here":  {Refused{Key: gamePlayerKey("g", "p"), View: place, Again: again.Again}, true, false},
		"a removal of a league's invite":        {Refused{Key: InviteKey("c")}, true, false},
		"a removal of a league":                 {Refused{Key: leagueKey("l"), Remote: leagueKey("l")}, false, false},
	} {
		all := []Refused{c.row}
		if writes, ok := s.Merge(all, nil, nil); ok != c.alone || len(writes) > 0 {
			t.Errorf("%s: %t, %v", name, ok, writes)
		}
		if writes, ok := s.Merge(all, later, nil); ok != c.withLater || len(writes) > 0 {
			t.Errorf("%s, followed by other writes: %t, %v", name, ok, writes)
		}
	}
	tally := []Refused{{Key: gameTeamKey("g", "red"), Again: []store.WriteItem{{}}}}
	if _, ok := s.Merge([]Refused{{Key: gamePlayerKey("g", "p")}}, tally, nil); !ok {
		t.Error("a removal followed by an export was left to a person")
	}
	swept := []Refused{{Key: place, Again: again.Again}, {Key: tally[0].Key, Again: []store.WriteItem{{Delete: &store.DeleteItem{Key: tally[0].Key}}}}}
	if writes, ok := s.Merge(tally, swept, nil); !ok || len(writes) > 0 {
		t.Errorf("a tally of a game deleted afterwards was left to a person: %v", writes)
	}
	none := func(attr.Item) (attr.Item, error) { return nil, nil }
	if _, ok := s.Merge(tally, append(swept, later...), none); ok {
		t.Error("resolved although other writes followed")
	}
}

// The same claim or team name at two nodes takes effect once; a person decides between different ones.
func TestMergeOfTheSameSaidTwice(t *testing.T) {
	r := newRig(t)
	r.league()
	r.now = r.now.Add(time.Second)
	name := func(name string) func(tx *store.Tx) (Change, error) {
		return func(tx *store.Tx) (Change, error) { return r.PutSeasonTeam(tx, "s", name[:1], TeamName{Name: name}) }
	}
	claim := func(user, player string) func(tx *store.Tx) (Change, error) {
		return func(tx *store.Tx) (Change, error) { return r.Claim(tx, user, player) }
	}
	once := OnceKey("s", "k")
	for what, tt := range map[string]struct {
		ours, theirs func(tx *store.Tx) (Change, error)
		ok           bool
	}{
		"one name": {name("a Team"), name("a Team"), true}, "two names": {name("b Team"), name("b Side"), false},
		"one claim": {claim(boss, "r1"), claim(boss, "r1"), true}, "two claims": {claim(boss, "b1"), claim("x@example.org", "b1"), false},
	} {
		all := r.refused(tt.ours, func() { r.now = r.now.Add(time.Second); r.must(tt.theirs) })
		all = append([]Refused{{Key: once, View: once, Again: []store.WriteItem{r.Create(once)}}}, all...)
		if writes, ok := r.Merge(all, nil, r.get); ok != tt.ok || ok && (len(writes) != 1 || writes[0].Put == nil) {
			t.Errorf("%s: %t %v", what, ok, writes)
		}
	}
}

// For a game deleted elsewhere, an export is dropped, and a person decides about people's changes.
func TestMergeOfADeletedGame(t *testing.T) {
	s := &Service{Handle: Rows("t")}
	row := func(data string) attr.Item {
		return attr.Item{"pk": attr.S(pkGame + "g"), "sk": attr.S(skTeam + "red"), "data": attr.S(data)}
	}
	for name, c := range map[string]struct {
		data string
		ok   bool
	}{
		"a tally": {`{"name":"Red","scored":1,"conceded":2}`, true},
		"a name":  {`{"name":"Reds","scored":0,"conceded":0}`, false},
	} {
		if writes, ok := s.Merge([]Refused{{Key: row("{}"), Base: row(`{"name":"Red","scored":0,"conceded":0}`), View: row(c.data)}}, nil, nil); ok != c.ok || len(writes) > 0 {
			t.Errorf("%s: %t, %v", name, ok, writes)
		}
	}
}

// two returns a game changed at two nodes: Base is the common image, View this node's.
func two(t *testing.T, base Game, ours, theirs func(g *Game)) Refused {
	t.Helper()
	image := func(change func(g *Game)) attr.Item {
		g := base
		change(&g)
		it, err := encode(gameKey("g"), g)
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	r := Refused{Key: gameKey("g"), Base: image(func(*Game) {}), View: image(ours), Remote: image(theirs)}
	return r
}

// If another node was first to start a third, our start is merged with the rows of its key and with later changes to the game and their
// keys. The keys stay answered and no person is asked. A person decides about any other later write.
func TestMergeOfAStartWithItsKey(t *testing.T) {
	s := &Service{Handle: Rows("t")}
	once := func(name, hash string) attr.Item {
		return attr.Item{"pk": attr.S(pkOnce + name), "sk": attr.S(skMeta), "requestHash": attr.S(hash)}
	}
	did := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(minute string) string { return "2026-07-04T10:" + minute + ":00.000Z" }
	scheduled := Game{GameID: "g", Status: Scheduled, Thirds: []Third{}}
	first := func(g *Game) { did(g.start(1, at("00"))) }
	more := func(g *Game) {
		did(g.start(1, at("02")))
		did(g.finish(1, at("22")))
		did(g.start(2, at("25")))
	}
	key := func(name string, remote attr.Item) Refused {
		r := Refused{Key: key(pkOnce+name, skMeta), View: once(name, "h"), Remote: remote}
		r.Again = []store.WriteItem{{Put: &store.PutItem{Item: r.View}}}
		return r
	}
	place := func(remote string) Refused { // its entry in the session, which this node changed
		as := func(data string) attr.Item { return attr.Item{"data": attr.S(data)} }
		return Refused{Key: attr.Item{"pk": attr.S(pkSession + "d"), "sk": attr.S(pkGame + "g")}, Base: as("1"), View: as("2"), Remote: as(remote), Again: key("place", nil).Again}
	}
	for name, tt := range map[string]struct {
		ours    func(g *Game)
		with    []Refused
		behind  []Refused
		there   attr.Item // row of a key used at the other node
		written string    // keys and times of thirds
		ok      bool
	}{
		"one start each":                    {ours: first, with: []Refused{key("k", nil)}, written: "k", ok: true},
		"its key was used there":            {ours: first, with: []Refused{key("k", once("k", "h"))}, ok: true},
		"and more behind it":                {ours: more, with: []Refused{key("k", nil)}, behind: []Refused{{Key: gameKey("g")}, key("l", nil)}, written: "00-22 25- k l", ok: true},
		"its key used, and more behind it":  {ours: more, with: []Refused{key("k", once("k", "h"))}, behind: []Refused{key("l", nil)}, written: "00-22 25- l", ok: true},
		"and more behind it, one used":      {ours: more, with: []Refused{key("k", nil)}, behind: []Refused{key("l", nil), key("m", nil)}, there: once("l", "h"), written: "00-22 25- k m", ok: true},
		"and its place":                     {ours: first, with: []Refused{place("1")}, written: "place", ok: true},
		"and its place, changed there":      {ours: first, with: []Refused{place("3")}},
		"its key stands for something else": {ours: first, with: []Refused{key("k", once("k", "x"))}},
		"a team behind it":                  {ours: first, with: []Refused{key("k", nil)}, behind: []Refused{{Key: gameTeamKey("g", "red")}}},
	} {
		r := two(t, scheduled, tt.ours, first)
		get := func(k attr.Item) (attr.Item, error) {
			if tt.there == nil || !k["pk"].Equal(tt.there["pk"]) {
				return nil, nil
			}
			return tt.there, nil
		}
		writes, ok := s.Merge(append(tt.with, r), tt.behind, get)
		var got []string
		for _, w := range writes {
			if pk, once := strings.CutPrefix(w.Put.Item["pk"].Str(), pkOnce); once {
				got = append(got, pk)
				continue
			}
			g, err := decode[Game](w.Put.Item)
			did(err)
			for _, th := range g.Thirds {
				got = append(got, (*th.StartedAt)[14:16]+"-")
				if th.FinishedAt != nil {
					got[len(got)-1] += (*th.FinishedAt)[14:16]
				}
			}
		}
		if strings.Join(got, " ") != tt.written || ok != tt.ok {
			t.Errorf("%s: %t, %q", name, ok, got)
		}
	}
}

// refused returns the writes of the change mine as refused, because do, the other node's change, came first. The store keeps do's result.
func (r *rig) refused(mine func(tx *store.Tx) (Change, error), do func()) (all []Refused) {
	r.t.Helper()
	c := view(r, mine)
	all = r.entries(c)
	do()
	for i := range all {
		if row := r.row(all[i].Key); !attr.EqualItems(row, all[i].Base) { // a refusal shows the rows whose conditions failed
			all[i].Remote = row
		}
	}
	if _, err := r.try(func(*store.Tx) (Change, error) { return c, nil }); !fault.Is(err, fault.Conflict) {
		r.t.Fatalf("not refused: %v", err)
	}
	return all
}

func (r *rig) get(k attr.Item) (attr.Item, error) { return r.row(k), nil }

// entries returns the writes of a change as one transaction, with its checks at the first write.
func (r *rig) entries(c Change) (all []Refused) {
	r.t.Helper()
	var checks []store.WriteItem
	r.txns++
	for i := range c.Writes {
		w := &c.Writes[i]
		one := Refused{Txn: r.txns, Again: []store.WriteItem{*w}}
		switch {
		case w.Put != nil:
			one.Key, one.View = key(w.Put.Item["pk"].Str(), w.Put.Item["sk"].Str()), w.Put.Item
		case w.Delete != nil:
			one.Key = w.Delete.Key
		case w.Update != nil:
			one.Key = w.Update.Key
		default:
			checks = append(checks, *w)
			continue
		}
		one.Base = r.row(one.Key)
		all = append(all, one)
	}
	all[0].Again = append(all[0].Again, checks...)
	return all
}

// merged applies the resolution of a refusal.
func (r *rig) merged(all []Refused, behind ...Refused) {
	r.t.Helper()
	writes, ok := r.Merge(all, behind, r.get)
	if !ok {
		r.t.Fatal("left to a person")
	}
	r.must(func(*store.Tx) (Change, error) { return Change{Writes: writes}, nil })
}

// In earlier versions a session was deleted with its last game, in one transaction, and such transactions may still wait to be sent. If another
// node has created a game in the session meanwhile, only the game is deleted. Deleting a game already deleted at another node takes effect.
func TestLastGameDeletedWhileAnotherIsMade(t *testing.T) {
	r := newRig(t)
	r.league()
	r.now = r.now.Add(time.Second)
	withSession := func(tx *store.Tx, game string) (Change, error) {
		c, err := r.DeleteGame(tx, boss, game)
		session, sessionErr := r.Session(tx, "d")
		p := r.plan(tx)
		p.Write(p.Drop(sessionKey("s", "d")))
		p.remove(sessionMirror("d"), session.Stamps)
		c.Writes = append(c.Writes, p.Writes...)
		return c, errors.Join(err, sessionErr)
	}
	remove := func(tx *store.Tx) (Change, error) { return withSession(tx, "g") }
	asked := func(all []Refused) {
		t.Helper()
		if writes, ok := r.Merge(all, []Refused{{Key: gameTeamKey("g", "red")}}, r.get); ok {
			t.Errorf("later writes were dropped without asking a person: %v", writes)
		}
	}
	all := r.refused(remove, func() { r.game("h") })
	asked(all)
	r.merged(all)
	games := view(r, func(tx *store.Tx) ([]Board, error) { return r.SeasonGames(tx, "s") })
	if len(games) != 1 || games[0].GameID != "h" || r.row(sessionMirror("d")) == nil {
		t.Errorf("%d games; session %v", len(games), r.row(sessionMirror("d")))
	}
	remove = func(tx *store.Tx) (Change, error) { return withSession(tx, "h") }
	all = r.refused(remove, func() { r.must(remove) })
	asked(all)
	r.merged(all)
	if r.row(sessionMirror("d")) != nil || r.row(sessionKey("s", "d")) != nil {
		t.Error("the session of the last game was not removed")
	}
}

// Deleting a record in which another node creates a child is refused, and a person decides.
func TestDeletedWhileSomethingBegins(t *testing.T) {
	r := newRig(t)
	r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateLeague(tx, boss, League{LeagueID: "l", Name: "League"})
	})
	asked := func(remove, begin func(tx *store.Tx) (Change, error)) {
		t.Helper()
		r.now = r.now.Add(time.Second)
		if writes, ok := r.Merge(r.refused(remove, func() { r.must(begin) }), nil, r.get); ok {
			t.Errorf("no person was asked: %v", writes)
		}
	}
	asked(func(tx *store.Tx) (Change, error) { return r.DeleteLeague(tx, boss, "l") },
		func(tx *store.Tx) (Change, error) { return r.CreateSeason(tx, Season{LeagueID: "l", SeasonID: "s"}) })
	asked(func(tx *store.Tx) (Change, error) { return r.DeleteSeason(tx, boss, "s") },
		func(tx *store.Tx) (Change, error) { return r.CreateSession(tx, Session{SeasonID: "s", SessionID: "d"}) })
	asked(func(tx *store.Tx) (Change, error) { return r.DeleteSeason(tx, boss, "s") },
		func(tx *store.Tx) (Change, error) { return r.CreateGame(tx, Game{SessionID: "d", GameID: "g"}) })
}

// For a game changed at two nodes, what holds in the cloud is not undone, and a person decides about contradictions.
func TestMergeOfAGamesMembers(t *testing.T) {
	s := &Service{Handle: Rows("t")}
	start, end := "2026-07-04T10:00:00.000Z", "2026-07-04T10:20:00.000Z"
	started := func(g *Game) { _ = g.start(1, end) }
	ended := []Third{{1, &start, &end}, {2, &start, &end}, {3, &start, &end}}
	scheduled, live, over := Game{GameID: "g", Status: Scheduled, Thirds: []Third{}}, Game{GameID: "g", Status: Live, Thirds: []Third{}}, Game{GameID: "g", Status: Live, Thirds: ended}
	for name, tt := range map[string]struct {
		base         Game
		ours, theirs func(g *Game)
		want         string // status, the first third and whether there is a result
	}{
		"back to scheduled, started there": {live, func(g *Game) { g.Status = Scheduled }, started, "asked"},
		"started, back to scheduled there": {live, started, func(g *Game) { g.Status = Scheduled }, "live 20- false"},
		"another length, started there":    {scheduled, func(g *Game) { g.ThirdLengthMinutes = 30 }, started, "asked"},
		"an end before the start there":    {scheduled, func(g *Game) { _ = g.start(1, start); _ = g.finish(1, start) }, started, "live 20-20 false"},
		"another length there":             {scheduled, started, func(g *Game) { g.ThirdLengthMinutes = 30 }, "live 20- false"},
		"a finish, and another time there": {over, func(g *Game) { g.Status, g.FinishedAt, g.Result = Finished, &end, &Result{} }, func(g *Game) { g.GameStartTs = start }, "finished 00-20 true"},
		"another time, and a finish there": {over, func(g *Game) { g.GameStartTs = start }, func(g *Game) { g.Status, g.FinishedAt, g.Result = Finished, &end, &Result{} }, "finished 00-20 true"},
		"two times":                        {scheduled, func(g *Game) { g.GameStartTs = start }, func(g *Game) { g.GameStartTs = end }, "asked"},
		"two finishes": {over, func(g *Game) { g.Status, g.FinishedAt, g.Result = Finished, &start, &Result{ComputedAt: start} },
			func(g *Game) { g.Status, g.FinishedAt, g.Result = Finished, &end, &Result{ComputedAt: end} }, "theirs"},
		"a whole game, called live there": {scheduled, func(g *Game) { g.Status, g.Thirds, g.FinishedAt, g.Result = Finished, ended, &end, &Result{} },
			func(g *Game) { g.Status = Live }, "finished 00-20 true"},
	} {
		r := two(t, tt.base, tt.ours, tt.theirs)
		r.View["updatedAt"], r.Remote["updatedAt"] = attr.S("2"), attr.S("1")
		writes, ok := s.Merge([]Refused{r}, nil, func(attr.Item) (attr.Item, error) { return nil, nil })
		got := map[bool]string{true: "theirs", false: "asked"}[ok]
		if ok && len(writes) == 1 {
			if at := writes[0].Put.Item["updatedAt"].Str(); at != "2" {
				t.Errorf("%s: changed at %s", name, at)
			}
			g, err := decode[Game](writes[0].Put.Item)
			if err != nil {
				t.Fatal(err)
			}
			th := g.third(1)
			got = g.Status + " " + (*th.StartedAt)[14:16] + "-"
			if th.FinishedAt != nil {
				got += (*th.FinishedAt)[14:16]
			}
			got += " " + strconv.FormatBool(g.Result != nil)
		}
		if got != tt.want || len(writes) > 1 {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// If one node creates a team's row by naming the team and another by its tallies, the name stays; a person decides between two names.
func TestMergeOfATeamMadeTwice(t *testing.T) {
	r := newRig(t)
	r.league()
	r.must(func(tx *store.Tx) (Change, error) { return r.PutSeasonTeam(tx, "s", "red", TeamName{Name: "Season"}) })
	image := func(name string) attr.Item {
		color := defaultTeams["red"][1]
		it, err := encode(gameTeamKey("g", "red"), GameTeam{GameID: "g", TeamID: "red", Name: name, Color: &color})
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	for _, tt := range []struct{ ours, theirs, want string }{
		{"Reds", "Season", "Reds"}, {"Reds", "Red", "Reds"}, {"Season", "Reds", "theirs"}, {"Red", "Reds", "theirs"}, {"Red", "Season", "theirs"}, {"Reds", "Rouges", "asked"},
	} {
		writes, ok := r.Merge([]Refused{{Key: gameTeamKey("g", "red"), View: image(tt.ours), Remote: image(tt.theirs)}}, nil, r.get)
		got := map[bool]string{true: "theirs", false: "asked"}[ok]
		if len(writes) == 1 {
			row, _ := decode[GameTeam](writes[0].Put.Item)
			got = row.Name
		}
		if got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}
