package cricketapp

import (
	"strings"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// sharedTables returns the tables that nodes with cricket share: small tables are read completely, others only for the
// matches whose lease the node holds.
func sharedTables() app.Cloud {
	live := func(table string, of func(*store.Tx, []string) ([]attr.Value, error)) app.Read {
		return app.Read{Table: table, Every: app.Live, Partitions: of}
	}
	return app.Cloud{
		Locks: tables.Locks,
		Reads: []app.Read{
			{Table: tables.Leagues}, {Table: tables.Teams}, {Table: tables.ActiveMatches},
			{Table: tables.Fixtures, Partitions: knownMatches},
			{Table: tables.TeamSeasons, Every: app.Seldom},
			{Table: tables.Fixtures, Every: app.Seldom}, // there are many, and those that change soon are read separately
			live(tables.Follows, heldMatches), live(tables.LiveActivities, heldMatches), live(tables.Events, heldMatches),
			live(tables.Devices, followers),
		},
		Merge: map[string]conflict.MergeFunc{
			tables.LiveActivities: mergeSession,
			tables.Leagues:        app.Merge(mergeFed), tables.Teams: app.Merge(mergeFed), tables.TeamSeasons: app.Merge(mergeFed),
		},
		Before: beforeWork,
	}
}

// beforeWork returns the rows that a match's holder needs first: those that carry the lock's fence, the match, and its followers'
// sessions. Otherwise a phone that another node has started would be started again. Locks of slots and jobs guard no rows.
func beforeWork(lock string) (rows []replica.Rows) {
	id, ok := strings.CutPrefix(lock, tables.MatchLock(""))
	if !ok {
		return nil
	}
	for _, table := range []string{
		tables.ActiveMatches, tables.FixtureCache, tables.Events, tables.Fixtures, tables.Follows, tables.LiveActivities,
	} {
		rows = append(rows, replica.Rows{Table: table, Key: attr.Item{"matchId": attr.S(id)}})
	}
	return rows
}

// knownMatches returns the matches that some node polls.
func knownMatches(tx *store.Tx, _ []string) (ids []attr.Value, err error) {
	all, err := matches.RegisteredIDs(tx)
	for _, id := range all {
		ids = append(ids, attr.S(id))
	}
	return ids, err
}

// heldMatches returns the matches whose lease this node holds.
func heldMatches(_ *store.Tx, held []string) (ids []attr.Value, err error) {
	for _, lock := range held {
		if id, ok := strings.CutPrefix(lock, tables.MatchLock("")); ok {
			ids = append(ids, attr.S(id))
		}
	}
	return ids, nil
}

// followers returns the users who follow those matches.
func followers(tx *store.Tx, held []string) (users []attr.Value, err error) {
	theirs, err := heldMatches(tx, held)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, match := range theirs {
		q := store.Query{Table: tables.Follows, KeyCondition: "matchId = :m", Projection: "userId"}
		q.Values = attr.Item{":m": match}
		for row, err := range tx.QueryAll(q) {
			if err != nil {
				return nil, err
			}
			if user := row["userId"].Str(); !seen[user] {
				seen[user] = true
				users = append(users, attr.S(user))
			}
		}
	}
	return users, nil
}
