// Package scorekeeperapp builds the word puzzle for a node: it joins rules, routes and pages into one app.App.
package scorekeeperapp

import (
	"context"
	"slices"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/scorekeeper"
	httpscorekeeper "github.com/touchline/touchline/httpapi/scorekeeper"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

const name = "scorekeeper"

// Settings are the section scorekeeper of the configuration.
type Settings struct {
	Mount string `koanf:"mount"` // path that its routes lie under
	Table string `koanf:"table"` // in the store and in the cloud, without cloud.prefix
	Words string `koanf:"words"` // file with one word a line, in the place of the embedded lists
}

// Path implements app.Settings.
func (s *Settings) Path() string { return s.Mount }

// Problems implements app.Settings.
func (s *Settings) Problems() []app.Problem {
	out := app.PlaceProblems(name, s.Mount, map[string]string{"table": s.Table})
	if _, err := scorekeeper.NewDictionary(s.Words); err != nil {
		out = append(out, app.Problem{Key: "words", Text: err.Error()})
	}
	return out
}

// New is the application with its default settings.
func New() *app.App {
	s := &Settings{Mount: "/scorekeeper", Table: "scorekeeper-prod"}
	return &app.App{
		Name: name, Title: "Scorekeeper", Settings: s, Commands: commands,
		Schema: func() migrations.Schema {
			return migrations.Schema{Tables: []store.TableSpec{scorekeeper.Table(s.Table)}}
		},
		Cloud: func() app.Cloud {
			return app.Cloud{
				Reads: []app.Read{{Table: s.Table, Every: app.Slow, Partitions: nearDays}},
				Merge: map[string]conflict.MergeFunc{s.Table: merge},
			}
		},
		Open: func(_ context.Context, h *app.Host) (*app.Instance, error) { return open(s, h) },
	}
}

func open(s *Settings, h *app.Host) (*app.Instance, error) {
	words, err := scorekeeper.NewDictionary(s.Words)
	if err != nil {
		return nil, err
	}
	service := &scorekeeper.Service{Table: s.Table, Words: words}
	c := httpscorekeeper.Config{Service: service, Mount: s.Mount}
	if h.Sync != nil {
		c.Ensure = h.Sync.Ensure
	}
	api, err := httpscorekeeper.New(c)
	if err != nil {
		return nil, err
	}
	return &app.Instance{API: api, Started: []any{"words", words.Len()}, Consumers: []app.Consumer{{
		Name: "answers", Tables: []string{s.Table},
		Take: func(_ *store.Tx, records []store.Record) error { service.Changed(records); return nil },
		Anew: func(tx *store.Tx) error { service.ClearCache(tx.Seq()); return nil },
	}}}, nil
}

// near is how many days before and after today the answers are read of.
const near = 7

// nearDays are the partitions of the answers around today, also as others set them.
func nearDays(tx *store.Tx, _ []string) (days []attr.Value, err error) {
	for i := -near; i <= near; i++ {
		days = append(days, scorekeeper.AnswerKey(tx.Now().UTC().AddDate(0, 0, i).Format(scorekeeper.Day))["pk"])
	}
	return days, nil
}

// merge answers for a game that was played at two nodes at once, and for a change of a team that another node has made already; of
// everything else a person is asked.
func merge(c conflict.MergeCase) (writes []store.WriteItem, ok bool) {
	for i, e := range c.Entries {
		if scorekeeper.IsMember(e.Key) || scorekeeper.IsTeam(e.Key) && e.Op == store.OpDelete {
			there, err := c.Get(e.Table, e.Key)
			wanted := c.Items[i].View
			return nil, err == nil && len(c.Tail) == 0 && (there == nil) == (wanted == nil) && there["role"].Equal(wanted["role"])
		}
	}
	if len(c.Entries) != 1 || !scorekeeper.IsGame(c.Entries[0].Key) {
		return nil, false
	}
	if slices.ContainsFunc(c.Tail, func(e *intent.Entry) bool {
		return e.Op == store.OpDelete || scorekeeper.IsGame(e.Key) && !attr.EqualItems(e.Key, c.Entries[0].Key)
	}) {
		return nil, false // the session was converted here: what was moved stands behind it
	}
	var ours, theirs scorekeeper.Game
	if c.Items[0].View == nil || attr.Unmarshal(c.Items[0].View, &ours) != nil {
		return nil, false
	}
	if c.Items[0].Remote == nil {
		return mergeLate(c, &ours)
	}
	if attr.Unmarshal(c.Items[0].Remote, &theirs) != nil {
		return nil, false
	}
	u, changed := scorekeeper.MergeUpdate(c.Entries[0].Table, &ours, &theirs)
	if !changed {
		return nil, true
	}
	return []store.WriteItem{{Update: &u}}, true
}

// mergeLate answers for a game that is gone in the cloud: the session was converted meanwhile, and the game is the account's.
func mergeLate(c conflict.MergeCase, ours *scorekeeper.Game) (writes []store.WriteItem, ok bool) {
	table := c.Entries[0].Table
	get := func(key attr.Item) (attr.Item, error) { return c.Get(table, key) }
	account, err := scorekeeper.Converted(get, ours.UserID)
	if err != nil || account == "" {
		return nil, false
	}
	row, err := get(scorekeeper.GameKey(account, ours.Date))
	var there *scorekeeper.Game
	if err == nil && row != nil {
		there = &scorekeeper.Game{}
		err = attr.Unmarshal(row, there)
	}
	if err != nil {
		return nil, false
	}
	w, changed, err := scorekeeper.LateWrite(table, account, ours, there)
	if err != nil || !changed {
		return nil, err == nil
	}
	return []store.WriteItem{w}, true
}
