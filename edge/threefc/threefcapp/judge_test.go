package threefcapp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// judge checks a world whose nodes have synced, and forgets its acts.
func (w *world) judge() {
	rows := w.Rows(nil)
	told := w.told()
	for k, it := range rows {
		if game, is := strings.CutPrefix(it["pk"].Str(), "GAME#"); is && it["sk"].Str() == "METADATA" {
			w.judgeGame(rows, game)
		} else if is && k != "GAME#"+game+" DELETED" && rows["GAME#"+game+" METADATA"] == nil {
			w.fail("%s exists, but its game does not", k)
		}
		w.judgePointer(rows, it)
	}
	for i := range w.acts {
		w.judgeAct(rows, told, &w.acts[i])
	}
	w.acts = nil
}

// judgePointer checks that the row to which a pointer leads exists.
func (w *world) judgePointer(rows map[string]attr.Item, it attr.Item) {
	pk, sk := it["pk"].Str(), it["sk"].Str()
	var want string
	switch {
	case it["entityType"].Str() == "sessionGame":
		at := dataOf[threefc.Game](it)
		want = "GAME#" + at.GameID + " METADATA"
		if g := dataOf[threefc.Game](rows[want]); g.GameStartTs != at.GameStartTs || "GAME#"+at.GameStartTs+"#"+at.GameID != sk {
			w.fail("%s %s leads to a game that starts at %s", pk, sk, g.GameStartTs)
		}
	case strings.HasPrefix(pk, "SEASON#") && strings.HasPrefix(sk, "SESSION#"):
		want = sk + " METADATA"
	case strings.HasPrefix(pk, "SESSION#") && sk == "METADATA":
		want = "SEASON#" + dataOf[threefc.Session](it).SeasonID + " " + pk
	case strings.HasPrefix(pk, "JOIN_CODE#"):
		want = "GAME#" + dataOf[struct{ GameID string }](it).GameID + " METADATA"
	case strings.HasPrefix(sk, "PLAYER#"):
		want = sk + " PROFILE"
	}
	if want != "" && rows[want] == nil {
		w.fail("%s %s leads to %s, which does not exist", pk, sk, want)
	}
}

// judgeGame compares a game's derived rows with its goals, and the goals with their audit.
func (w *world) judgeGame(rows map[string]attr.Item, id string) {
	game := dataOf[threefc.Game](rows["GAME#"+id+" METADATA"])
	for _, want := range []string{"SESSION#" + game.SessionID + " METADATA", "SESSION#" + game.SessionID + " GAME#" + game.GameStartTs + "#" + id, "JOIN_CODE#" + game.JoinCode + " METADATA"} {
		if rows[want] == nil {
			w.fail("game %s has no %s", id, want)
		}
	}
	var boards []*threefc.Board
	for _, n := range w.nodes {
		w.view(n, func(tx *store.Tx) error {
			b, err := n.Board(tx, id)
			boards = append(boards, b)
			return err
		})
	}
	if w.err != nil {
		return
	}
	b := boards[0]
	if a, b := fmt.Sprint(b.Goals, b.Result), fmt.Sprint(boards[1].Goals, boards[1].Result); len(a) != len(b) {
		w.fail("game %s is %s and %s", id, a, b)
	}
	w.judgeState(&game)
	tallies, events, audits := threefc.Tallies(b.Goals), map[string]threefc.Goal{}, map[string][]threefc.Audit{}
	for _, g := range b.Goals {
		if _, twice := events[g.EventID]; twice || rows["GAME#"+id+" GOAL_EVENT#"+g.EventID] == nil {
			w.fail("goal %s of %s is stored twice (%t) or has no marker", g.EventID, id, twice)
		}
		events[g.EventID] = g
	}
	changes := 0
	for k, it := range rows {
		sk, is := strings.CutPrefix(k, "GAME#"+id+" ")
		switch {
		case !is:
		case strings.HasPrefix(sk, "GOAL_EVENT#") && events[sk[11:]].EventID == "":
			w.fail("%s has no goal", k)
		case strings.HasPrefix(sk, "AUDIT#GOAL#"):
			a := dataOf[threefc.Audit](it)
			audits[a.EventID] = append(audits[a.EventID], a)
			changes++
		}
	}
	state := dataOf[struct {
		Revision      int
		LatestEventID *string
	}](rows["GAME#"+id+" GOAL_STATE"])
	last := ""
	if n := len(b.Goals); n > 0 {
		last = b.Goals[n-1].EventID
	}
	if state.Revision != changes || state.LatestEventID == nil && last != "" || state.LatestEventID != nil && *state.LatestEventID != last {
		w.fail("state of %s: %+v for %d changes and %d goals", id, state, changes, len(b.Goals))
	}
	for _, team := range threefc.TeamIDs() {
		row := dataOf[threefc.GameTeam](rows["GAME#"+id+" TEAM#"+team])
		if want := tallies[team]; row.Scored != want.Scored || row.Conceded != want.Conceded {
			w.fail("%s of %s: %+v, recount %+v", team, id, row, want)
		}
	}
	if (game.Result == nil) != (b.Result == nil) || b.Result != nil && fmt.Sprint(tidy(game.Result)) != fmt.Sprint(tidy(b.Result)) {
		w.fail("result of %s: %+v, computed from the goals %+v", id, game.Result, b.Result)
	}
	for event, all := range audits {
		w.judgeGoal(event, events[event], all)
	}
	for event := range events {
		if len(audits[event]) == 0 {
			w.fail("goal %s has no audit", event)
		}
	}
}

// tidy returns a result without the time of its computation.
func tidy(r *threefc.Result) (out []string) {
	for _, t := range r.Teams {
		out = append(out, fmt.Sprint(t.TeamID, t.Name, t.Scored, t.Conceded, t.Rank, t.Outcome))
	}
	return out
}

func (w *world) judgeState(g *threefc.Game) {
	started, ended := 0, 0
	for i, t := range g.Thirds {
		if t.Third != i+1 || t.StartedAt == nil || t.FinishedAt != nil && *t.FinishedAt < *t.StartedAt || t.FinishedAt == nil && i+1 < len(g.Thirds) {
			w.fail("thirds of %s: %+v", g.GameID, g.Thirds)
		}
		started++
		if t.FinishedAt != nil {
			ended++
		}
	}
	switch {
	case g.FinishedAt != nil && (g.Status != threefc.Finished || ended != 3 || g.Result == nil), g.FinishedAt == nil && g.Status == threefc.Finished, started > 0 && g.Status == threefc.Scheduled:
		w.fail("game %s is %s with %d thirds and %v", g.GameID, g.Status, ended, g.FinishedAt)
	}
}

// judgeGoal checks that a goal's changes form one path from its creation to its present state.
func (w *world) judgeGoal(event string, goal threefc.Goal, all []threefc.Audit) {
	said := func(f *threefc.GoalFacts) string { return words(&f.Scored) }
	ends := map[string]int{}
	made, gone := 0, 0
	for i := range all {
		a := &all[i]
		if a.Before != nil {
			ends[said(a.Before)]--
		} else {
			made++
		}
		if a.After != nil {
			ends[said(a.After)]++
		} else {
			gone++
		}
	}
	if goal.EventID != "" {
		ends[said(&goal.GoalFacts)]--
	}
	odd := slices.ContainsFunc(slices.Collect(maps.Values(ends)), func(n int) bool { return n != 0 })
	if made != 1 || gone > 1 || (gone == 0) != (goal.EventID != "") || odd {
		w.fail("goal %s is %+v, but its changes are %+v", event, goal, all)
	}
}

// told returns the acts about which a person is asked, by index, and checks that a person has to decide.
func (w *world) told() map[int]bool {
	told := map[int]bool{}
	for at, n := range w.nodes {
		of := map[uint64]int{} // index of the act plus 1, by journal record
		for i, a := range w.acts {
			for seq := a.first + 1; a.at == at && seq <= a.last; seq++ {
				of[seq] = i + 1
			}
		}
		for _, c := range w.records(n, "") {
			var roots []int // the acts that were refused and those that fall with them
			for _, e := range c.Entries() {
				for _, seq := range append([]uint64{e.Seq}, e.Folds...) {
					if one := of[seq]; one > 0 {
						roots = append(roots, one)
						if c.State == conflict.StateOpen {
							told[one-1] = true
						}
					}
				}
			}
			for _, seq := range c.NewSeqs {
				of[seq] = pick(roots, 0)
			}
			if c.State == conflict.StateOpen {
				w.count["asked"]++
				w.mayAsk(n, c, roots)
				_, err := n.Sync.Conflicts().Discard(context.Background(), c.ID)
				w.must(err)
			} else {
				w.count[string(c.State)]++
			}
		}
	}
	return told
}

// mayAsk fails if no act of the other node clashes with the acts that a person is asked about.
func (w *world) mayAsk(n *peer, c *conflict.Record, roots []int) {
	text := fmt.Sprintf("%s asks a person: %v %s", n.Name, c, c.Note)
	for _, e := range c.Entries() {
		text += "\n  " + tellEntry(e)
	}
	for _, root := range roots {
		a := &w.acts[root-1]
		text += "\nof " + a.String()
		for i := range w.acts {
			if b := &w.acts[i]; b.at != a.at && (clash(a, b) || w.madeTwice(a, b)) {
				w.count["asked of "+a.kind+" and "+b.kind]++
				return
			}
		}
	}
	w.fail("%s", text)
}

// madeTwice reports whether both nodes created the record of an act or its parent. A person decides about changes to the record that was
// withdrawn, even if both were created by one request.
func (w *world) madeTwice(a, b *act) bool {
	return (b.kind == "create" || b.kind == "session") && (b.game == a.game || b.game == a.sub) && slices.ContainsFunc(w.acts, func(o act) bool {
		return o.at == a.at && o.kind == b.kind && o.game == b.game
	})
}

func tellEntry(e *intent.Entry) string {
	return fmt.Sprint(e.Seq, " ", e.Op, " ", e.Key, " if ", e.Condition, " ", e.Item["data"].Str())
}

// clash reports whether a person has to decide between two acts of two nodes, of which a was refused.
func clash(a, b *act) bool {
	same := a.key != "" && a.key == b.key
	game, sub := a.game == b.game, a.game == b.game && tap(a.sub) == tap(b.sub)
	switch {
	case same:
		return false
	case b.kind == "delete" && game && a.kind != "delete":
		return true
	}
	switch a.kind {
	case "goal":
		return game && b.kind == "finish"
	case "correct":
		return sub && b.kind == "correct" && a.value != "" && b.value != "" || game && b.kind == "finish"
	case "third":
		return game && b.kind == "patch" && b.sub != "start"
	case "patch":
		return sub && b.kind == "patch" || game && a.sub != "start" && (b.kind == "third" || b.kind == "finish" || b.kind == "patch")
	case "delete":
		return game && (b.kind == "third" || b.kind == "patch" || b.kind == "finish") || b.kind == "grant" && b.sub == a.by
	case "team", "season team":
		return sub && a.kind == b.kind && a.value != b.value
	case "claim":
		return b.kind == "claim" && a.sub == b.sub && a.value != b.value
	case "create":
		return a.kind == b.kind && game || b.kind == "delete" && b.sub == a.sub || b.kind == "session" && b.game == a.sub
	case "session":
		return a.kind == b.kind && game
	case "grant":
		return b.kind == "grant" && (b.sub == a.sub || b.sub == a.by || a.value != "admin")
	}
	return false
}

// judgeAct checks that an acknowledged act took effect or that a person was asked about it.
func (w *world) judgeAct(rows map[string]attr.Item, told map[int]bool, a *act) {
	i := slices.IndexFunc(w.acts, func(o act) bool { return o.at == a.at && o.first == a.first })
	gone := rows["GAME#"+a.game+" METADATA"] == nil
	if told[i] {
		return
	}
	switch a.kind {
	case "goal", "correct":
		here := rows["GAME#"+a.game+" AUDIT#GOAL#"+a.ids["audit"]] != nil
		if !here && !gone && !w.twice(a) && !w.undone(rows, i) && !(!has(rows, a, "GOAL_EVENT#") && w.sentAgain(i)) {
			w.fail("lost: %v", *a)
		}
	case "roster":
		if !gone {
			w.judgePlace(rows, i)
		}
	case "team", "season team":
		w.alone(i, func() bool {
			row := rows["GAME#"+a.game+" TEAM#"+a.sub]
			if a.kind != "team" {
				row = rows["SEASON#s TEAM#"+a.sub]
			}
			return gone && a.kind == "team" || dataOf[threefc.GameTeam](row).Name == a.value
		})
	case "claim":
		w.alone(i, func() bool {
			claimed := dataOf[threefc.Player](rows["PLAYER#"+a.sub+" PROFILE"]).ClaimedByUserID
			return claimed != nil && *claimed == a.value && rows["USER#"+a.value+" PLAYER#"+a.sub] != nil
		})
	case "grant":
		w.alone(i, func() bool {
			return dataOf[threefc.Access](rows["LEAGUE#l ACL#USER#"+a.sub]).Role == a.value
		})
	case "third":
		g := dataOf[threefc.Game](rows["GAME#"+a.game+" METADATA"])
		no := int(a.sub[len(a.sub)-1] - '0')
		if !gone && (len(g.Thirds) < no || strings.HasPrefix(a.sub, "finish") && g.Thirds[no-1].FinishedAt == nil) {
			w.fail("lost: %v: %+v", *a, g.Thirds)
		}
	case "finish":
		if g := dataOf[threefc.Game](rows["GAME#"+a.game+" METADATA"]); !gone && g.FinishedAt == nil {
			w.fail("lost: %v", *a)
		}
	case "join":
		if !gone && !w.twice(a) && rows["GAME#"+a.game+" PLAYER#"+a.sub] == nil {
			w.fail("lost: %v", *a)
		}
	case "patch":
		w.alone(i, func() bool {
			g := dataOf[threefc.Game](rows["GAME#"+a.game+" METADATA"])
			v := map[string]string{"start": g.GameStartTs, "length": fmt.Sprint(g.ThirdLengthMinutes), "status": g.Status}[a.sub]
			changed := a.sub == "status" && (len(g.Thirds) > 0 || g.FinishedAt != nil)
			return gone || changed || strings.Contains(a.value, v)
		})
	case "create":
		deleted := slices.ContainsFunc(w.acts, func(o act) bool { return o.kind == "delete" && o.game == a.game })
		if gone && !deleted {
			w.fail("lost: %v", *a)
		}
	case "delete":
		again := slices.ContainsFunc(w.acts, func(o act) bool { return o.kind == "create" && o.game == a.game })
		if !gone && !again {
			w.fail("lost: %v", *a)
		}
	}
}

// twice reports whether the other node has answered the same request.
func (w *world) twice(a *act) bool {
	return a.key != "" && slices.ContainsFunc(w.acts, func(o act) bool { return o.at != a.at && o.key == a.key })
}

// undone reports whether an act changes a goal that the other node has taken back, or takes it back too: then there is a note of the change,
// unless it was taken back here as well.
func (w *world) undone(rows map[string]attr.Item, i int) bool {
	a := &w.acts[i]
	removal := func(o act) bool { return o.kind == "correct" && tap(o.sub) == tap(a.sub) && o.value == "" }
	if a.kind != "correct" || has(rows, a, "GOAL_EVENT#") || !slices.ContainsFunc(w.acts, removal) {
		return false
	}
	own := slices.ContainsFunc(w.acts[i:], func(o act) bool { return o.at == a.at && removal(o) })
	return own || has(rows, a, "GOAL_UNDONE#")
}

// tap returns the part of a goal's id that all nodes give it that take its key.
func tap(event string) string { return event[min(10, len(event)):] }

// has reports whether there is a row about the goal of an act, under whatever id.
func has(rows map[string]attr.Item, a *act, sk string) bool {
	for k := range rows {
		if event, is := strings.CutPrefix(k, "GAME#"+a.game+" "+sk); is && tap(event) == tap(a.sub) {
			return true
		}
	}
	return false
}

// sentAgain reports whether an act deletes a goal that both nodes created for one request. If the other node's goal is already deleted, the
// act has taken effect.
func (w *world) sentAgain(i int) bool {
	a := &w.acts[i]
	return a.kind == "correct" && a.value == "" && slices.ContainsFunc(w.acts[:i], func(o act) bool {
		return o.at == a.at && o.kind == "goal" && tap(o.sub) == tap(a.sub) && w.twice(&o)
	})
}

// alone checks the outcome of the last act on a subject, if only one node has acted on it.
func (w *world) alone(i int, holds func() bool) {
	a := &w.acts[i]
	for n := range w.acts {
		if o := &w.acts[n]; o.kind == a.kind && o.game == a.game && o.sub == a.sub && (o.at != a.at || n > i) {
			return
		}
	}
	if !holds() {
		w.fail("lost: %v", *a)
	}
}

// judgePlace checks that a player is in one team: that of the last assignment at either node.
func (w *world) judgePlace(rows map[string]attr.Item, i int) {
	a := &w.acts[i]
	var places []string
	for _, team := range threefc.TeamIDs() {
		if rows["GAME#"+a.game+" ROSTER#"+team+"#"+a.sub] != nil {
			places = append(places, team)
		}
	}
	is := dataOf[struct{ TeamID string }](rows["GAME#"+a.game+" PLAYER#"+a.sub]).TeamID
	said := map[string]string{} // by node; an assignment that both made by one request is separate, as it may come before the others
	for _, o := range w.acts {
		if o.kind == a.kind && o.game == a.game && o.sub == a.sub {
			said[fmt.Sprint(o.at, w.twice(&o))] = o.value
		}
	}
	if strings.Join(places, " ") != is || !slices.Contains(slices.Collect(maps.Values(said)), is) {
		w.fail("player %s of %s is in %v, and in %q; the nodes said %q", a.sub, a.game, places, is, said)
	}
}
