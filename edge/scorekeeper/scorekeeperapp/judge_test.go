package scorekeeperapp

import (
	"context"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// judge checks the final state of both nodes and the cloud.
func (a *apart) judge() {
	rows := a.Rows(nil)
	for _, n := range a.nodes {
		open, _, err := n.Sync.Conflicts().List(context.Background(), conflict.Query{State: conflict.StateOpen})
		a.must(err)
		for _, c := range open {
			if !strings.HasPrefix(c.Decided[0].Entry.Key["sk"].Str(), "M") { // a team's: METADATA and MEMBER
				a.fail("%s asks a person: %s %s %s %v, tail of %d", n.Name, c.Code, c.Decided[0].Entry.Op, c.Note, c.Decided[0].Entry.Key, len(c.Tail))
			}
		}
	}
	a.judgeTeams(rows)
	for _, user := range players {
		for _, day := range a.days {
			a.judgeGame(rows, user, day)
		}
	}
	a.judgeLost()
	a.judgeAgain(rows)
}

// judgeTeams counts admins and checks both rows of each membership. Members whom another node added to a deleted team may remain: nobody sees
// them.
func (a *apart) judgeTeams(rows map[string]attr.Item) {
	admins := map[string]int64{}
	for k, row := range rows {
		pk, sk, _ := strings.Cut(k, " ")
		if a.gone[pk] || a.gone[sk] {
			continue
		}
		if user, ok := strings.CutPrefix(sk, "MEMBER#"); ok {
			if other := rows["USER#"+user+" "+pk]; !other["role"].Equal(row["role"]) {
				a.fail("%s: half of a membership: %v, %v", k, row, other)
			}
			if row["role"].Str() == "admin" {
				admins[pk]++
			}
			if rows[pk+" METADATA"] == nil {
				a.fail("%s: of no team", k)
			}
		}
		if strings.HasPrefix(sk, "TEAM#") && rows[sk+" MEMBER#"+strings.TrimPrefix(pk, "USER#")] == nil {
			a.fail("%s: half of a membership: %v", k, row)
		}
	}
	for k, row := range rows {
		if pk, sk, _ := strings.Cut(k, " "); sk == "METADATA" && !a.gone[pk] {
			if n, _ := row["admins"].Int(); n != admins[pk] {
				a.fail("%s: counts %d admins of %d", k, n, admins[pk])
			}
		}
	}
}

// judgeGame checks a player's game for a day: at most six guesses, each once, none after the end, and no accepted guess lost.
func (a *apart) judgeGame(rows map[string]attr.Item, user, day string) {
	row := rows["USER#"+user+"#PUZZLE#"+day+" GAME_STATE"]
	var g scorekeeper.Game
	a.must(attr.Unmarshal(row, &g))
	keys := slices.DeleteFunc(slices.Clone(g.GuessKeys), func(k string) bool { return k == "" })
	switch at := slices.Index(g.Guesses, "manna"); {
	case row != nil && (g.UserID != user || g.Date != day || len(g.Guesses) == 0):
		a.fail("%s %s: %v", user, day, row)
	case len(g.Guesses) > scorekeeper.MaxGuesses, twice(g.Guesses), twice(keys), len(g.GuessKeys) != len(g.Guesses), len(g.GuessTimes) != len(g.Guesses):
		a.fail("%s %s: %v", user, day, row)
	case g.Won != (at >= 0), at >= 0 && at != len(g.Guesses)-1:
		a.fail("%s %s goes on behind its end, or has none: %v", user, day, row)
	case row != nil && len(a.ended[user]) > 0:
		a.fail("%s %s was converted and is there: %v", user, day, row)
	}
	a.told[user+day] = append(a.told[user+day], slices.Concat(g.Guesses, g.Dropped)...)
}

// judgeLost looks for each accepted guess in the games of the player and of the accounts to which the session was converted. It must count, or
// have been reported as not counting, or belong to a game that a conversion did not keep.
func (a *apart) judgeLost() {
	for _, t := range a.took {
		there := func(who string) bool { return slices.Contains(a.told[who+t.Date], t.Word) }
		if !there(t.User) && !slices.ContainsFunc(a.ended[t.User], there) {
			a.fail("%s of %s, %s, is lost: %v, %v", t.Word, t.User, t.Date, a.ended[t.User], a.told)
		}
	}
}

// judgeAgain repeats each guess that counts, with its key: it must be accepted and change nothing.
func (a *apart) judgeAgain(rows map[string]attr.Item) {
	for _, t := range a.took {
		var g scorekeeper.Game
		a.must(attr.Unmarshal(rows["USER#"+t.User+"#PUZZLE#"+t.Date+" GAME_STATE"], &g))
		if t.Key == "" || !slices.Contains(g.GuessKeys, t.Key) {
			continue
		}
		for _, n := range a.nodes {
			before := n.Store.Seq()
			if _, err := change(n, func(tx *store.Tx) (scorekeeper.View, error) { return n.Guess(tx, t) }); err != nil || n.Store.Seq() != before {
				a.fail("%s of %s, %s, again at %s: %v", t.Word, t.User, t.Date, n.Name, err)
			}
		}
	}
}

func twice(list []string) bool {
	sorted := slices.Sorted(slices.Values(list))
	return len(slices.Compact(sorted)) != len(list)
}
