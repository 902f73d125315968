package scorekeeperapp

import (
	"testing"
	"testing/synctest"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// seeds are the rows that the original's description prints, a game of an anonymous session beside one of an account, and a row in the
// place of this program's marker of a conversion that another program has put there.
const seeds = `
{"pk":{"S":"USER#auth0|123456#PUZZLE#2026-02-02"},"sk":{"S":"GAME_STATE"},"user_id":{"S":"auth0|123456"},"puzzle_date":{"S":"2026-02-02"},"guesses":{"L":[{"S":"crane"},{"S":"slate"},{"S":"moist"}]},"won":{"BOOL":false},"created_at":{"S":"2026-02-02T10:30:00Z"},"updated_at":{"S":"2026-02-02T10:35:00Z"}}
{"pk":{"S":"PUZZLE#2026-02-02"},"sk":{"S":"ANSWER"},"puzzle_date":{"S":"2026-02-02"},"word":{"S":"manna"},"team_id":{"NULL":true}}
{"pk":{"S":"USER#0b0e3b0c-5d2c-4c3f-9a53-6f0f3c1f9a11#PUZZLE#2026-02-02"},"sk":{"S":"GAME_STATE"},"user_id":{"S":"0b0e3b0c-5d2c-4c3f-9a53-6f0f3c1f9a11"},"puzzle_date":{"S":"2026-02-02"},"guesses":{"L":[{"S":"manna"}]},"won":{"BOOL":true},"created_at":{"S":"2026-02-02T09:30:00Z"},"updated_at":{"S":"2026-02-02T09:35:00Z"}}
{"pk":{"S":"USER#0b0e3b0c-5d2c-4c3f-9a53-6f0f3c1f9a12#PUZZLE#2026-02-02"},"sk":{"S":"GAME_STATE"},"user_id":{"S":"0b0e3b0c-5d2c-4c3f-9a53-6f0f3c1f9a12"},"puzzle_date":{"S":"2026-02-02"},"guesses":{"L":[{"S":"manna"}]},"won":{"BOOL":true},"created_at":{"S":"2026-02-02T09:30:00Z"},"updated_at":{"S":"2026-02-02T09:35:00Z"}}
{"pk":{"S":"USER#0b0e3b0c-5d2c-4c3f-9a53-6f0f3c1f9a12"},"sk":{"S":"CONVERTED"},"to":{"S":"auth0|123456"}}
`

// A table of the original stays as it is: two nodes that run on it delete and overwrite nothing. A session's games move only by a marker of
// this program.
func TestTableOfTheOriginalStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes.Keep(t, nodes.Options{App: New}, nodes.Seeds{"scorekeeper-prod": seeds})
	})
}
