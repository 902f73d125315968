// Package scorekeeperapp builds the word puzzle for a node: it joins rules, routes and pages in one app.App.
package scorekeeperapp

import (
	"context"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/edge/scorekeeper/web"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/conflict"
)

const name = "scorekeeper"

// Settings is the section scorekeeper of the configuration.
type Settings struct {
	app.Place
	Words string `yaml:"words"` // file with one word a line that replaces the embedded lists
}

// Problems implements app.Settings.
func (s *Settings) Problems() []app.Problem {
	out := s.Place.Problems()
	if _, err := scorekeeper.NewDictionary(s.Words); err != nil {
		out = append(out, app.Problem{Key: "words", Text: err.Error()})
	}
	return out
}

// New returns the application with its default settings.
func New() *app.App {
	s := &Settings{Place: app.Place{Mount: "/scorekeeper", Table: "scorekeeper-prod"}}
	return &app.App{
		Name: name, Title: "Scorekeeper", Settings: s, Commands: commands,
		Schema: func() migrations.Schema { return app.OneTable(scorekeeper.Table(s.Table)) },
		Cloud: func() app.Cloud {
			return app.Cloud{
				Reads: []app.Read{
					{Table: s.Table, Every: app.Slow, Partitions: scorekeeper.NearDays},
					{Table: s.Table, Every: app.Seldom}, // older games, for histories and conversions
				},
				Merge: map[string]conflict.MergeFunc{s.Table: app.Merge((&scorekeeper.Service{Handle: scorekeeper.Rows(s.Table)}).MergeRefused)},
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
	service := &scorekeeper.Service{Handle: scorekeeper.Rows(s.Table), Words: words}
	c := web.Config{Service: service, Mount: s.Mount}
	if h.Sync != nil {
		c.Ensure = h.Sync.Ensure
	}
	api, err := web.New(c)
	if err != nil {
		return nil, err
	}
	return &app.Instance{API: api, Started: []any{"words", words.Len()}, Consumers: []app.Consumer{{
		Name: "answers", Tables: []string{s.Table},
		Take: service.ConsumeRecords,
		Anew: func(tx *store.Tx) error { service.ClearCache(tx.Seq()); return nil },
	}}}, nil
}
