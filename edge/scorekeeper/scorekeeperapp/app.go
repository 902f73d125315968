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
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

const name = "scorekeeper"

// Settings are the section scorekeeper of the configuration.
type Settings struct {
	Mount string `yaml:"mount"` // path that its routes lie under
	Table string `yaml:"table"` // in the store and in the cloud, without cloud.prefix
	Words string `yaml:"words"` // file with one word a line, in the place of the embedded lists
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
				Reads: []app.Read{
					{Table: s.Table, Every: app.Slow, Partitions: scorekeeper.NearDays},
					{Table: s.Table, Every: app.Seldom}, // games of before, for histories and conversions
				},
				Merge: map[string]conflict.MergeFunc{s.Table: merge(&scorekeeper.Service{Table: s.Table})},
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
		Take: service.Take,
		Anew: func(tx *store.Tx) error { service.ClearCache(tx.Seq()); return nil },
	}}}, nil
}

// merge hands what the cloud has refused of a transaction to the rules, with what stood behind it.
func merge(rules *scorekeeper.Service) conflict.MergeFunc {
	return func(c conflict.MergeCase) (writes []store.WriteItem, ok bool) {
		get := func(key attr.Item) (attr.Item, error) { return c.Get(c.Entries[0].Table, key) }
		var all []scorekeeper.Refused
		for i, e := range slices.Concat(c.Entries, c.Tail) {
			at := slices.IndexFunc(all, func(r scorekeeper.Refused) bool { return attr.EqualItems(r.Key, e.Key) })
			if at < 0 {
				there, err := get(e.Key)
				if err != nil {
					return nil, false
				}
				at, all = len(all), append(all, scorekeeper.Refused{Key: e.Key, Remote: there})
			}
			r := &all[at]
			if i < len(c.Entries) {
				r.View, r.Remote = c.Items[i].View, c.Items[i].Remote
			} else { // what has come behind the refusal is in no image of the case
				r.Then(after(e, r.View, r.Remote), known(e))
			}
			r.Makes, r.Deletes = r.Makes || e.Op == store.OpPut, r.Deletes || e.Op == store.OpDelete
			if i < len(c.Entries) && e.Txn != 0 {
				r.Wrote = e.Item
			}
		}
		return rules.Settle(all, len(c.Tail) > 0, get)
	}
}

// known are the texts in the lists that a write has, in its condition too: the guesses before it and behind it.
func known(e *intent.Entry) (all []string) {
	for _, list := range e.Values {
		for _, v := range list.List() {
			all = append(all, v.Str())
		}
	}
	return all
}

// after is a row when an entry has changed it, as it was seen or, where it was not, as it is.
func after(e *intent.Entry, seen, is attr.Item) attr.Item {
	if e.Op != store.OpUpdate {
		return e.Item
	}
	if seen == nil {
		seen = is
	}
	b, err := expr.Bind(expr.Request{Update: e.Update, Condition: e.Condition, Params: e.Params})
	if err == nil && seen != nil && b.Update != nil {
		seen, err = b.Update.Apply(seen)
	}
	if err != nil {
		return is
	}
	return seen
}
