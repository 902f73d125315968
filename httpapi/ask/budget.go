package ask

import (
	"fmt"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"
)

// The budget of questions, per second and at once: of one client address, and of all. Whoever tries one invented address after another
// must not run up the bill of the table.
const (
	perSecond    = 20
	burst        = 400
	allPerSecond = 100
	allBurst     = 2000

	maxClients = 65_536 // tracked; an evicted one starts again with a full budget
)

// budget limits the questions.
type budget struct {
	clients *otter.Cache[string, *rate.Limiter]
	all     *rate.Limiter
}

func newBudget() (*budget, error) {
	clients, err := otter.New(&otter.Options[string, *rate.Limiter]{
		MaximumSize: maxClients, Executor: func(f func()) { f() }, // no goroutine of its own
	})
	if err != nil {
		return nil, fmt.Errorf("budget of questions: %w", err)
	}
	return &budget{clients: clients, all: rate.NewLimiter(allPerSecond, allBurst)}, nil
}

// client returns the limiter of a client.
func (b *budget) client(name string) *rate.Limiter {
	l, found := b.clients.GetIfPresent(name)
	if !found {
		l, _ = b.clients.SetIfAbsent(name, rate.NewLimiter(perSecond, burst))
	}
	return l
}

// OverBudgetError reports that a question was not asked because the budget is spent.
type OverBudgetError struct{ Wait time.Duration }

// Error implements error.
func (e *OverBudgetError) Error() string {
	return fmt.Sprintf("the budget of questions to the cloud is spent for %s", e.Wait)
}

// spendQuestion takes a question from the budget of a client, and from that of all.
func (b *budget) spendQuestion(client string, now time.Time) error {
	if !b.client(client).AllowN(now, 1) || !b.all.AllowN(now, 1) {
		return &OverBudgetError{Wait: time.Second}
	}
	return nil
}

// ample reports whether at least half of both budgets is left. The other half is for questions without which the answer would be that
// something does not exist.
func (b *budget) ample(client string, now time.Time) bool {
	return b.client(client).TokensAt(now) >= burst/2 && b.all.TokensAt(now) >= allBurst/2
}
