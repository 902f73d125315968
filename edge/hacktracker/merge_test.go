package hacktracker

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// Refused writes are resolved by the rules or left to a person.
func TestMerge(t *testing.T) {
	s := &Service{Rows("t")}
	with := func(row attr.Item, more attr.Item) attr.Item {
		out := attr.Item{"updatedAt": attr.S("1")}
		maps.Copy(out, row)
		maps.Copy(out, more)
		return out
	}
	once := with(key(prefixOnce+"ana#k", skMetadata), attr.Item{"requestHash": attr.S("h")})
	atBat := with(atBatKey("g", "x"), attr.Item{"result": attr.S("1B"), "createdAt": attr.S("1")})
	player := with(playerKey("t", "p"), attr.Item{"firstName": attr.S("Eve"), "playerNumber": attr.Int(12), "lastName": attr.S("Lee")})
	was := with(playerKey("t", "p"), attr.Item{"firstName": attr.S("Eve"), "playerNumber": attr.Int(3)})
	ours, theirs := with(jerseyKey("t", "12"), attr.Item{"playerId": attr.S("p")}), with(jerseyKey("t", "12"), attr.Item{"playerId": attr.S("q")})
	jersey := table.Refused{Key: jerseyKey("t", "12"), View: ours, Remote: theirs}
	game, started := with(gameKey("g"), attr.Item{"status": attr.S(Scheduled)}), with(gameKey("g"), attr.Item{"status": attr.S(InProgress), "location": attr.S("x")})
	live := table.Refused{Key: liveKey("t"), View: liveKey("t"), Remote: with(liveKey("t"), attr.Item{"gameId": attr.S("o")})}
	start := []table.Refused{{Key: gameKey("g"), Base: game, View: started, Remote: game}, live}
	over := func(was, row attr.Item, name string) table.Refused {
		return table.Refused{Key: s.KeyOf(row), Base: was, View: row, Again: []store.WriteItem{s.Put(row, s.IfSame(was, name)), s.Check(teamKey("t"), table.IfTrue(exists, nil))}}
	}
	taken := []table.Refused{start[0], over(live.Remote, with(liveKey("t"), attr.Item{"gameId": attr.S("g")}), "gameId")}
	ended := with(started, attr.Item{"status": attr.S(Final), "finalAt": attr.S("2")})
	released := table.Refused{Key: liveKey("t"), Base: with(liveKey("t"), attr.Item{"gameId": attr.S("g")})}
	let := table.Refused{Key: jerseyKey("t", "3"), Base: with(jerseyKey("t", "3"), attr.Item{"playerId": attr.S("p")})}
	run := func(tap string, there ...string) table.Refused {
		var list []attr.Value
		for _, one := range there {
			list = append(list, attr.S(one))
		}
		values := attr.Item{":taps": attr.L(attr.S(tap)), ":none": attr.L(), ":n": attr.Int(1)}
		return table.Refused{Key: gameKey("g"), Remote: with(game, attr.Item{"runKeys": attr.L(list...)}), Again: []store.WriteItem{
			s.Update(gameKey("g"), "SET runKeys = list_append(if_not_exists(runKeys, :none), :taps) ADD teamScore :n", table.IfTrue("", values)),
		}}
	}
	swept := table.Refused{Key: atBatKey("g", "x"), Base: atBat, Again: []store.WriteItem{s.Drop(atBatKey("g", "x"))}}
	for name, tt := range map[string]struct {
		all    []table.Refused
		later  []attr.Item // keys of rows updated by later writes
		ok     bool
		writes int
	}{
		"another node has done it":           {[]table.Refused{{Key: teamKey("t"), View: teamKey("t")}, {Key: key(prefixOnce+"ana#k", skMetadata), View: once, Remote: once}}, nil, true, 0},
		"and we have gone on with it":        {[]table.Refused{{Key: teamKey("t"), View: teamKey("t"), Remote: teamKey("t")}, {Key: key(prefixOnce+"ana#k", skMetadata), View: once, Remote: once}}, []attr.Item{teamKey("t")}, true, 1},
		"a user with a later name":           {[]table.Refused{{Key: userKey("ana"), View: userKey("ana"), Remote: userKey("ana")}}, []attr.Item{userKey("ana")}, true, 1},
		"an at-bat that was corrected twice": {[]table.Refused{{Key: atBatKey("g", "x"), View: atBat, Remote: atBat}}, []attr.Item{atBatKey("g", "x"), atBatKey("g", "x")}, true, 1},
		"an at-bat that was corrected":       {[]table.Refused{{Key: atBatKey("g", "x"), View: atBat, Remote: atBat}}, []attr.Item{atBatKey("g", "x")}, true, 1},
		"another request with the key":       {[]table.Refused{{Key: once, View: once, Remote: with(once, attr.Item{"requestHash": attr.S("i")})}}, nil, false, 0},
		"a user of another node":             {[]table.Refused{{Key: userKey("ana"), View: userKey("ana"), Remote: userKey("ana")}}, nil, true, 0},
		"an at-bat of another node":          {[]table.Refused{{Key: atBatKey("g", "x"), View: atBat, Remote: with(atBat, attr.Item{"createdAt": attr.S("2")})}}, nil, true, 0},
		"another at-bat":                     {[]table.Refused{{Key: atBatKey("g", "x"), View: atBat, Remote: with(atBat, attr.Item{"result": attr.S("K")})}}, nil, false, 0},
		"an at-bat of a game that is over":   {[]table.Refused{{Key: atBatKey("g", "x"), View: atBat}}, nil, false, 0},
		"a new player's number":              {[]table.Refused{{Key: playerKey("t", "p"), View: player}, jersey}, nil, true, 1},
		"the same, once":                     {[]table.Refused{{Key: key(prefixOnce+"ana#k", skMetadata), View: once}, {Key: playerKey("t", "p"), View: player}, jersey}, nil, true, 2},
		"a player's new number":              {[]table.Refused{{Key: playerKey("t", "p"), Base: was, View: player, Remote: was}, jersey}, nil, true, 1},
		"a new player with a user":           {[]table.Refused{{Key: playerKey("t", "p"), View: player}, jersey}, []attr.Item{memberKey("ana", "t")}, false, 0},
		"a new player who was renamed":       {[]table.Refused{{Key: playerKey("t", "p"), View: player}, jersey}, []attr.Item{playerKey("t", "p")}, true, 1},
		"a player of a deleted team":         {[]table.Refused{{Key: playerKey("t", "p"), View: player}, {Key: jerseyKey("t", "12"), View: ours}}, nil, false, 0},
		"a start":                            {start, nil, true, 1},
		"a game that was made as it starts":  {[]table.Refused{{Key: key(prefixOnce+"ana#k", skMetadata), View: once}, {Key: gameKey("g"), View: started}, live}, nil, true, 2},
		"a start where a marker was":         {taken, nil, true, 3},
		"a number where a marker was":        {[]table.Refused{{Key: playerKey("t", "p"), Base: was, View: player, Remote: was}, over(theirs, ours, "playerId")}, nil, true, 3},
		"a start of a game that is gone":     {[]table.Refused{{Key: gameKey("g"), Base: game, View: started}, live}, nil, false, 0},
		"two starts":                         {start, []attr.Item{gameKey("h")}, false, 0},
		"a number that was somebody's":       {[]table.Refused{jersey, {Key: playerKey("t", "p"), Base: was, View: player, Remote: was}}, nil, true, 1},
		"a run that was told elsewhere":      {[]table.Refused{run("b", "b", "c")}, nil, true, 0},
		"a run that nobody has told":         {[]table.Refused{run("b", "c")}, nil, false, 0},
		"an end that is told twice":          {[]table.Refused{{Key: gameKey("g"), Base: started, View: ended, Remote: with(ended, attr.Item{"finalAt": attr.S("1")})}, released}, nil, true, 1},
		"an end that goes on":                {[]table.Refused{{Key: gameKey("g"), Base: started, View: ended, Remote: ended}, released}, []attr.Item{gameKey("g")}, true, 1},
		"a game that both delete":            {[]table.Refused{released, {Key: deletedKey("g"), View: deletedKey("g"), Remote: deletedKey("g")}, {Key: gameKey("g"), Base: game}}, nil, true, 0},
		"a game that has ended since":        {[]table.Refused{released, {Key: deletedKey("g"), View: deletedKey("g")}, {Key: gameKey("g"), Base: started, Remote: ended}}, nil, true, 2},
		"a player whom both delete":          {[]table.Refused{let, {Key: playerKey("t", "p"), Base: was}}, nil, true, 0},
		"a player with another number since": {[]table.Refused{let, {Key: playerKey("t", "p"), Base: was, Remote: player}}, nil, true, 1},
		"a number whose last owner is there": {[]table.Refused{{Key: jerseyKey("t", "12"), View: ours}, let, {Key: playerKey("t", "p"), Base: was, View: player, Remote: was}}, nil, true, 2},
		"a number that both change":          {[]table.Refused{{Key: jerseyKey("t", "12"), View: ours}, let, {Key: playerKey("t", "p"), Base: was, View: player, Remote: was}}, nil, true, 2},
		"at-bats of a deleted game":          {[]table.Refused{swept, swept}, nil, true, 0},
		"a score":                            {[]table.Refused{{Key: gameKey("g"), Base: game, View: started}}, nil, false, 0},
	} {
		again(s, tt.all)
		var later []table.Refused
		for _, k := range tt.later {
			later = append(later, table.Refused{Key: k, Again: []store.WriteItem{s.Update(k, "SET place = :p", table.IfTrue(exists, attr.Item{":p": attr.S("x")}))}})
		}
		writes, ok := s.Merge(tt.all, later, nobody)
		if ok != tt.ok || len(writes) != tt.writes {
			t.Errorf("%s: %t, %d writes", name, ok, len(writes))
		}
	}
	merge := func(all ...table.Refused) []store.WriteItem {
		again(s, all)
		writes, _ := s.Merge(all, nil, nobody)
		return writes
	}
	if row := merge(table.Refused{Key: playerKey("t", "p"), View: player}, jersey)[0].Put.Item; row["numberRefused"].Text() != "12" || !row["playerNumber"].IsZero() {
		t.Errorf("%v", row)
	}
	undone := key(prefixGame+"g", prefixUndone+"x")
	corrected := s.Update(swept.Key, "SET place = :p", table.IfTrue(exists, attr.Item{":p": attr.S("x")}))
	there := s.Check(gameKey("g"), table.IfTrue(exists, nil))
	writes, ok := s.Merge([]table.Refused{{Key: swept.Key, View: atBat, Remote: atBat, Again: []store.WriteItem{s.Create(atBat)}}}, []table.Refused{
		{Key: swept.Key, Again: []store.WriteItem{corrected, there}}, swept, {Key: undone, Again: []store.WriteItem{s.Create(undone), there}},
	}, nobody)
	if !ok || len(writes) != 3 || writes[0].Delete == nil || writes[1].Put == nil || writes[2].Check == nil {
		t.Errorf("taken back: %t %+v", ok, writes)
	}
	if writes = merge(jersey, table.Refused{Key: playerKey("t", "p"), Base: was, View: player, Remote: was}); len(writes) != 1 || writes[0].Update.Key["SK"].Str() != "PLAYER#p" {
		t.Errorf("%+v", writes)
	}
	if row := merge(table.Refused{Key: gameKey("g"), View: started}, live)[0].Put.Item; row["status"].Str() != Scheduled || row["location"].Str() != "x" || row["startRefused"].Str() != "o" {
		t.Errorf("%v", row)
	}
	if writes = merge(taken...); len(writes) != 3 || writes[1].Put == nil || writes[1].Put.Condition != s.Create(taken[1].View).Put.Condition || writes[2].Check == nil {
		t.Errorf("a released marker: %+v", writes)
	}
	for _, name := range merge(start...)[0].Update.Names {
		if name == "status" {
			t.Error("the start was repeated")
		}
	}
}

func nobody(attr.Item) (attr.Item, error) { return nil, nil }

// again sets the writes from which the refused rows result, where missing.
func again(s *Service, all []table.Refused) {
	for i := range all {
		switch r := &all[i]; {
		case r.Again != nil:
		case r.View == nil:
			r.Again = []store.WriteItem{s.Delete(r.Key, table.IfTrue(exists, nil))}
		case r.Base == nil:
			r.Again = []store.WriteItem{s.Create(r.View)}
		default:
			r.Again = s.rest(r.Base, r.View)
		}
	}
}

// A refused at-bat counts if its game was in progress when it happened, or is now; also if the at-bat makes a refused start good.
func TestMergeOfAtBats(t *testing.T) {
	s := &Service{Rows("t")}
	row := atBatKey("g", "x")
	row["createdAt"], row["updatedAt"] = attr.S("2"), attr.S("2")
	corrected := s.Update(atBatKey("g", "x"), "SET rbis = :n", table.IfTrue(exists, attr.Item{":n": attr.Int(2)}))
	for name, tt := range map[string]struct {
		game  attr.Item
		later []store.WriteItem
		first string // kind of the first write; empty: a person is asked
	}{
		"on":                        {attr.Item{"status": attr.S(InProgress)}, nil, "at-bat"},
		"on until later":            {attr.Item{"status": attr.S(Final), "finalAt": attr.S("3")}, nil, "at-bat"},
		"over":                      {attr.Item{"status": attr.S(Final), "finalAt": attr.S("1")}, nil, ""},
		"not begun":                 {attr.Item{"status": attr.S(Scheduled)}, nil, ""},
		"gone":                      {nil, nil, ""},
		"a start that was refused":  {attr.Item{"status": attr.S(Scheduled), "startRefused": attr.S("o")}, nil, "game"},
		"refused, and corrected":    {attr.Item{"status": attr.S(Scheduled), "startRefused": attr.S("o")}, []store.WriteItem{corrected}, "game"},
		"corrected twice":           {attr.Item{"status": attr.S(InProgress)}, []store.WriteItem{corrected, corrected}, "at-bat"},
		"taken back, and not begun": {attr.Item{"status": attr.S(Scheduled)}, []store.WriteItem{corrected, s.Drop(atBatKey("g", "x"))}, "nothing"},
	} {
		var later []table.Refused
		for _, one := range tt.later {
			later = append(later, table.Refused{Key: atBatKey("g", "x"), Again: []store.WriteItem{one}})
		}
		writes, ok := s.Merge([]table.Refused{{Key: atBatKey("g", "x"), View: row, Again: []store.WriteItem{s.Create(row)}}}, later, func(attr.Item) (attr.Item, error) { return tt.game, nil })
		got := ""
		if ok && writes == nil {
			got = "nothing"
		}
		for i := range writes {
			switch w := &writes[i]; {
			case w.Update != nil && i == 0:
				got = "game"
			case w.Put != nil && i == 0:
				got = "at-bat"
			}
			if p := writes[i].Put; p != nil && (p.Item["rbis"].Text() == "2") != (len(later) > 0) {
				t.Errorf("%s: %v", name, p.Item)
			}
		}
		if got != tt.first || ok != (tt.first != "") {
			t.Errorf("%s: %q %t", name, got, ok)
		}
	}
}

// If a refused transaction ends a game, its marker goes to the game now in progress. The marker of another game refuses a start.
func TestMergeOfMarkers(t *testing.T) {
	s := &Service{Rows("t")}
	marker := func(game, at string) attr.Item {
		row := liveKey("t")
		row["gameId"], row["createdAt"] = attr.S(game), attr.S(at)
		return row
	}
	game := func(id, status string) attr.Item {
		row := gameKey(id)
		row["gameId"], row["status"] = attr.S(id), attr.S(status)
		return row
	}
	end := table.Refused{Key: gameKey("g"), Base: game("g", InProgress), View: game("g", Final), Remote: game("g", InProgress)}
	start := []table.Refused{
		{Key: gameKey("h"), Again: s.rest(game("h", Scheduled), game("h", InProgress))},
		{Key: liveKey("t"), Again: []store.WriteItem{s.Create(marker("h", "1"))}},
	}
	put := []store.WriteItem{s.Put(marker("h", "1"), s.IfSame(marker("g", "1"), "gameId"))}
	for name, tt := range map[string]struct {
		remote, other string // the marker's game in the cloud, and the status of the other game
		again         []store.WriteItem
		later         []table.Refused
		taken, gone   bool // whether the marker is
		refused       bool // whether the start is
	}{
		"an end behind a restart":             {remote: "g", other: Scheduled, gone: true},
		"and a start behind it":               {remote: "g", other: Scheduled, later: start, taken: true},
		"another one has started":             {remote: "o", other: Scheduled, later: start, refused: true},
		"it is left to one that is on":        {remote: "g", other: InProgress, again: put, taken: true},
		"it is left to one that is over":      {remote: "g", other: Final, again: put, gone: true},
		"it is left, and another has it":      {remote: "o", other: InProgress, again: put},
		"it is left, and is gone":             {other: InProgress, again: put, taken: true},
		"it is left to one over, and is gone": {other: Final, again: put},
	} {
		live := table.Refused{Key: liveKey("t"), Base: marker("g", "1"), Again: tt.again}
		if tt.remote != "" {
			live.Remote = marker(tt.remote, "2")
		}
		all := []table.Refused{end, live}
		again(s, all)
		writes, ok := s.Merge(all, tt.later, func(k attr.Item) (attr.Item, error) {
			if k["SK"].Str() == skLive {
				return live.Remote, nil
			}
			return game(GameOf(k), tt.other), nil
		})
		var ended, taken, gone, refused bool
		for _, w := range writes {
			switch {
			case w.Delete != nil:
				gone = true
			case w.Put != nil:
				taken = tt.remote == "" && w.Put.Item["gameId"].Str() == "h"
			case w.Update != nil && w.Update.Key["SK"].Str() == skLive: // only if no other game has it by then
				taken = strings.Contains(w.Update.Condition, "gameId")
			case w.Update != nil && GameOf(w.Update.Key) == "g":
				ended = true
			case w.Update != nil:
				refused = slices.Contains(slices.Collect(maps.Values(w.Update.Names)), "startRefused")
			}
		}
		if !ok || !ended || taken != tt.taken || gone != tt.gone || refused != tt.refused {
			t.Errorf("%s: %t, ended %t, taken %t, gone %t, refused %t: %+v", name, ok, ended, taken, gone, refused, writes)
		}
	}
}
