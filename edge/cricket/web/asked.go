package web

import (
	"context"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/store/attr"
)

// askedService is a Service that asks the cloud for a match before it says that there is none.
type askedService struct{ Service }

// Match implements Service.
func (s askedService) Match(ctx context.Context, id string) (matches.Fixture, error) {
	return consultMatch(ctx, id, s.Service.Match)
}

// Display implements Service.
func (s askedService) Display(ctx context.Context, id string) (cricket.Display, error) {
	return consultMatch(ctx, id, s.Service.Display)
}

// Card implements Service.
func (s askedService) Card(ctx context.Context, id string) (cricket.Card, error) {
	return consultMatch(ctx, id, s.Service.Card)
}

// consultMatch reads something of a match. If the match is not here, the cloud is asked for it.
func consultMatch[T any](ctx context.Context, id string, read func(ctx context.Context, id string) (T, error)) (out T, err error) {
	err = ask.Consult(ctx, func(look ask.Look) (err error) {
		look(tables.Fixtures, attr.Item{"matchId": attr.S(id)})
		out, err = read(ctx, id)
		return err
	})
	return out, err
}
