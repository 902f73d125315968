package cricketapp

import (
	"context"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// withoutBalls is a feed whose balls are never requested.
type withoutBalls struct{ *sportmonks.Client }

// Livescores implements poll.Feed.
func (f withoutBalls) Livescores(ctx context.Context, _ bool) (sportmonks.Reading, error) {
	return f.Client.Livescores(ctx, false)
}

// Fixture implements poll.Feed.
func (f withoutBalls) Fixture(ctx context.Context, id string, _ bool) (sportmonks.Reading, error) {
	return f.Client.Fixture(ctx, id, false)
}
