package hacktracker

import (
	"maps"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// What the cloud has refused is decided as the rules say, or left to a person.
func TestMerge(t *testing.T) {
	s := &Service{Table: "t"}
	with := func(row attr.Item, more attr.Item) attr.Item {
		out := attr.Item{}
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
	live := table.Refused{Key: liveKey("t"), View: liveKey("t"), Remote: liveKey("t")}
	start := []table.Refused{{Key: gameKey("g"), Base: game, View: started}, live}
	ended := with(started, attr.Item{"status": attr.S(Final), "finalAt": attr.S("2")})
	released := table.Refused{Key: liveKey("t"), Base: with(liveKey("t"), attr.Item{"gameId": attr.S("g")})}
	let := table.Refused{Key: jerseyKey("t", "3"), Base: with(jerseyKey("t", "3"), attr.Item{"playerId": attr.S("p")})}
	runs := func(taps ...string) attr.Item {
		list := make([]attr.Value, 0, len(taps))
		for _, tap := range taps {
			list = append(list, attr.S(tap))
		}
		return with(game, attr.Item{"teamScore": attr.Int(int64(len(taps))), "runKeys": attr.L(list...)})
	}
	other := table.Refused{Key: playerKey("t", "q"), Base: was, View: was}
	swept := table.Refused{Key: atBatKey("g", "x"), Base: atBat, Again: []store.WriteItem{s.drop(atBatKey("g", "x"))}}
	for name, tt := range map[string]struct {
		all    []table.Refused
		later  []attr.Item // keys of what is updated behind it
		ok     bool
		writes int
	}{
		"another node has done it":           {[]table.Refused{{Key: teamKey("t"), View: teamKey("t")}, {Key: key(prefixOnce+"ana#k", skMetadata), View: once, Remote: once}}, nil, true, 0},
		"and we have gone on with it":        {[]table.Refused{{Key: key(prefixOnce+"ana#k", skMetadata), View: once, Remote: once}}, []attr.Item{teamKey("t")}, true, 1},
		"a user with a later name":           {[]table.Refused{{Key: userKey("ana"), View: userKey("ana"), Remote: userKey("ana")}}, []attr.Item{userKey("ana")}, true, 1},
		"an at-bat that was corrected twice": {[]table.Refused{{Key: atBatKey("g", "x"), View: atBat, Remote: atBat}}, []attr.Item{atBatKey("g", "x"), atBatKey("g", "x")}, false, 0},
		"an at-bat that was corrected":       {[]table.Refused{{Key: atBatKey("g", "x"), View: atBat, Remote: atBat}}, []attr.Item{atBatKey("g", "x")}, true, 1},
		"another request with the key":       {[]table.Refused{{Key: once, View: once, Remote: with(once, attr.Item{"requestHash": attr.S("i")})}}, nil, false, 0},
		"a user of another node":             {[]table.Refused{{Key: userKey("ana"), View: userKey("ana"), Remote: userKey("ana")}}, nil, true, 0},
		"an at-bat of another node":          {[]table.Refused{{Key: atBatKey("g", "x"), View: atBat, Remote: with(atBat, attr.Item{"createdAt": attr.S("2")})}}, nil, true, 0},
		"another at-bat":                     {[]table.Refused{{Key: atBatKey("g", "x"), View: atBat, Remote: with(atBat, attr.Item{"result": attr.S("K")})}}, nil, false, 0},
		"an at-bat of a game that is over":   {[]table.Refused{{Key: atBatKey("g", "x"), View: atBat}}, nil, false, 0},
		"a new player's number":              {[]table.Refused{{Key: playerKey("t", "p"), View: player}, jersey}, nil, true, 1},
		"the same, once":                     {[]table.Refused{{Key: key(prefixOnce+"ana#k", skMetadata), View: once}, {Key: playerKey("t", "p"), View: player}, jersey}, nil, true, 2},
		"a player's new number":              {[]table.Refused{{Key: playerKey("t", "p"), Base: was, View: player}, jersey}, nil, true, 1},
		"a new player with a user":           {[]table.Refused{{Key: playerKey("t", "p"), View: player}, jersey}, []attr.Item{memberKey("ana", "t")}, false, 0},
		"a new player who was renamed":       {[]table.Refused{{Key: playerKey("t", "p"), View: player}, jersey}, []attr.Item{playerKey("t", "p")}, true, 1},
		"a player of a deleted team":         {[]table.Refused{{Key: playerKey("t", "p"), View: player}, {Key: jerseyKey("t", "12"), View: ours}}, nil, false, 0},
		"a start":                            {start, nil, true, 1},
		"a game that was made as it starts":  {[]table.Refused{{Key: key(prefixOnce+"ana#k", skMetadata), View: once}, {Key: gameKey("g"), View: started}, live}, nil, true, 2},
		"the same with at-bats":              {[]table.Refused{{Key: gameKey("g"), View: started}, live}, []attr.Item{atBatKey("g", "x")}, false, 0},
		"a number that was somebody's":       {[]table.Refused{jersey, other, {Key: playerKey("t", "p"), Base: was, View: player}}, nil, true, 1},
		"a run that was told elsewhere":      {[]table.Refused{{Key: gameKey("g"), Base: runs("a"), View: runs("a", "b"), Remote: runs("b", "c")}}, nil, true, 0},
		"a run of a game that is gone":       {[]table.Refused{{Key: gameKey("g"), Base: runs("a"), View: runs("a", "b")}}, nil, false, 0},
		"a run that nobody has told":         {[]table.Refused{{Key: gameKey("g"), Base: runs("a"), View: runs("a", "b"), Remote: runs("c")}}, nil, false, 0},
		"an end that is told twice":          {[]table.Refused{{Key: gameKey("g"), Base: started, View: ended, Remote: with(ended, attr.Item{"finalAt": attr.S("1")})}, released}, nil, true, 1},
		"an end that goes on":                {[]table.Refused{{Key: gameKey("g"), Base: started, View: ended, Remote: ended}, released}, []attr.Item{gameKey("g")}, false, 1},
		"a game that both delete":            {[]table.Refused{released, {Key: deletedKey("g"), View: deletedKey("g"), Remote: deletedKey("g")}, {Key: gameKey("g"), Base: game}}, nil, true, 0},
		"a game that has ended since":        {[]table.Refused{released, {Key: deletedKey("g"), View: deletedKey("g")}, {Key: gameKey("g"), Base: started, Remote: ended}}, nil, true, 2},
		"a player whom both delete":          {[]table.Refused{let, {Key: playerKey("t", "p"), Base: was}}, nil, true, 0},
		"a player with another number since": {[]table.Refused{let, {Key: playerKey("t", "p"), Base: was, Remote: player}}, nil, true, 1},
		"a number whose last owner is there": {[]table.Refused{{Key: jerseyKey("t", "12"), View: ours}, {Key: playerKey("t", "q"), Remote: was}, let, {Key: playerKey("t", "p"), Base: was, View: player, Remote: was}}, nil, true, 2},
		"a number that both change":          {[]table.Refused{{Key: jerseyKey("t", "12"), View: ours}, let, {Key: playerKey("t", "p"), Base: was, View: player, Remote: was}}, nil, true, 2},
		"a start with at-bats":               {start, []attr.Item{atBatKey("g", "x")}, false, 0},
		"at-bats of a deleted game":          {[]table.Refused{swept, swept}, nil, true, 0},
		"a score":                            {[]table.Refused{{Key: gameKey("g"), Base: game, View: started}}, nil, false, 0},
	} {
		for i := range tt.all {
			if r := &tt.all[i]; r.View != nil {
				r.Again = []store.WriteItem{{Put: &store.PutItem{Item: r.View}}}
			}
		}
		var later []table.Refused
		for _, k := range tt.later {
			later = append(later, table.Refused{Key: k, Again: []store.WriteItem{{Update: &store.UpdateItem{Key: k}}}})
		}
		writes, ok := s.Merge(tt.all, later, nil)
		if ok != tt.ok || len(writes) != tt.writes {
			t.Errorf("%s: %t, %d writes", name, ok, len(writes))
		}
	}
	writes, _ := s.Merge([]table.Refused{{Key: playerKey("t", "p"), View: player}, jersey}, nil, nil)
	if row := writes[0].Put.Item; row["numberRefused"].Text() != "12" || !row["playerNumber"].IsZero() {
		t.Errorf("%v", row)
	}
	undone := key(prefixGame+"g", prefixUndone+"x")
	corrected := store.WriteItem{Update: &store.UpdateItem{Key: swept.Key}}
	live.Again = []store.WriteItem{s.check(gameKey("g"), exists, nil)}
	writes, ok := s.Merge([]table.Refused{{Key: swept.Key, View: atBat, Remote: atBat, Again: []store.WriteItem{s.create(atBat)}}}, []table.Refused{
		{Key: swept.Key, Again: []store.WriteItem{corrected, live.Again[0]}}, swept, {Key: undone, Again: []store.WriteItem{s.create(undone), live.Again[0]}},
	}, nil)
	if !ok || len(writes) != 3 || writes[0].Delete == nil || writes[1].Put == nil || writes[2].Check == nil {
		t.Errorf("taken back: %t %+v", ok, writes)
	}
	writes, _ = s.Merge([]table.Refused{jersey, other, {Key: playerKey("t", "p"), Base: was, View: player}}, nil, nil)
	if len(writes) != 1 || writes[0].Update.Key["SK"].Str() != "PLAYER#p" {
		t.Errorf("%+v", writes)
	}
	writes, _ = s.Merge([]table.Refused{{Key: gameKey("g"), View: started}, live}, nil, nil)
	if row := writes[0].Put.Item; row["status"].Str() != Scheduled || row["location"].Str() != "x" {
		t.Errorf("%v", row)
	}
	writes, _ = s.Merge(start, nil, nil)
	for _, name := range writes[0].Update.Names {
		if name == "status" {
			t.Error("the start is made again")
		}
	}
}
