package hacktrackerapp

import (
	"testing"
	"testing/synctest"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// seeds are the rows that the original's description prints, and at-bats as it keeps them: of the printed game, whose score it counts in
// its own way, of a game whose row is not there, and of a game that the original has deleted without a marker. A row DELETED of another
// program, with a game beside it, says nothing of ours.
const seeds = `
{"PK":{"S":"USER#12345678-1234-1234-1234-123456789012"},"SK":{"S":"METADATA"},"userId":{"S":"12345678-1234-1234-1234-123456789012"},"email":{"S":"john.doe@example.com"},"firstName":{"S":"John"},"lastName":{"S":"Doe"},"phoneNumber":{"S":"+15555551234"},"createdAt":{"S":"2025-10-25T12:00:00.000Z"},"updatedAt":{"S":"2025-10-25T12:00:00.000Z"},"GSI1PK":{"S":"COGNITO#12345678-1234-1234-1234-123456789012"},"GSI1SK":{"S":"USER"},"GSI2PK":{"S":"ENTITY#USER"},"GSI2SK":{"S":"METADATA#12345678-1234-1234-1234-123456789012"}}
{"PK":{"S":"TEAM#a6f27724"},"SK":{"S":"METADATA"},"teamId":{"S":"a6f27724"},"name":{"S":"Seattle Sluggers"},"description":{"S":"Best team in Seattle"},"ownerId":{"S":"12345678-1234-1234-1234-123456789012"},"team_type":{"S":"MANAGED"},"createdAt":{"S":"2025-10-25T12:00:00.000Z"},"updatedAt":{"S":"2025-10-25T12:00:00.000Z"},"GSI2PK":{"S":"ENTITY#TEAM"},"GSI2SK":{"S":"METADATA#a6f27724"}}
{"PK":{"S":"USER#12345678-1234-1234-1234-123456789012"},"SK":{"S":"TEAM#a6f27724"},"userId":{"S":"12345678-1234-1234-1234-123456789012"},"teamId":{"S":"a6f27724"},"role":{"S":"owner"},"status":{"S":"active"},"joinedAt":{"S":"2025-10-25T12:00:00.000Z"},"invitedBy":{"NULL":true}}
{"PK":{"S":"TEAM#a6f27724"},"SK":{"S":"PLAYER#b7e38835"},"playerId":{"S":"b7e38835"},"teamId":{"S":"a6f27724"},"firstName":{"S":"John"},"lastName":{"S":"Doe"},"playerNumber":{"N":"12"},"positions":{"L":[{"S":"SS"},{"S":"2B"}]},"status":{"S":"active"},"isGhost":{"BOOL":false},"userId":{"S":"12345678-1234-1234-1234-123456789012"},"linkedAt":{"S":"2025-10-25T12:00:00.000Z"},"createdAt":{"S":"2025-10-25T12:00:00.000Z"},"updatedAt":{"S":"2025-10-25T12:00:00.000Z"}}
{"PK":{"S":"GAME#c8d39946"},"SK":{"S":"METADATA"},"gameId":{"S":"c8d39946"},"teamId":{"S":"a6f27724"},"status":{"S":"IN_PROGRESS"},"scheduledStart":{"S":"2025-11-01T19:30:00.000Z"},"opponentName":{"S":"Portland Pioneers"},"location":{"S":"Lincoln Park Field 3"},"teamScore":{"N":"7"},"opponentScore":{"N":"3"},"lineup":{"L":[]},"createdAt":{"S":"2025-10-25T12:00:00.000Z"},"updatedAt":{"S":"2025-10-25T12:00:00.000Z"},"GSI2PK":{"S":"ENTITY#GAME"},"GSI2SK":{"S":"METADATA#c8d39946"},"GSI3PK":{"S":"TEAM#a6f27724"},"GSI3SK":{"S":"GAME#c8d39946"}}
{"PK":{"S":"GAME#c8d39946"},"SK":{"S":"ATBAT#1"},"gameId":{"S":"c8d39946"},"teamId":{"S":"a6f27724"},"playerId":{"S":"b7e38835"},"result":{"S":"HR"},"inning":{"N":"1"},"outs":{"N":"0"},"createdAt":{"S":"2025-11-01T19:35:00.000Z"},"updatedAt":{"S":"2025-11-01T19:35:00.000Z"}}
{"PK":{"S":"GAME#without-a-row"},"SK":{"S":"ATBAT#1"},"gameId":{"S":"without-a-row"},"playerId":{"S":"b7e38835"},"result":{"S":"HR"},"createdAt":{"S":"2025-11-01T19:35:00.000Z"},"updatedAt":{"S":"2025-11-01T19:35:00.000Z"}}
{"PK":{"S":"GAME#deleted"},"SK":{"S":"DELETED"},"reason":{"S":"of another program"}}
{"PK":{"S":"GAME#deleted"},"SK":{"S":"METADATA"},"gameId":{"S":"deleted"},"teamId":{"S":"a6f27724"},"status":{"S":"FINAL"},"teamScore":{"N":"1"},"opponentScore":{"N":"0"},"lineup":{"L":[]},"createdAt":{"S":"2025-10-25T12:00:00.000Z"},"updatedAt":{"S":"2025-10-25T12:00:00.000Z"}}
{"PK":{"S":"GAME#deleted"},"SK":{"S":"ATBAT#1"},"gameId":{"S":"deleted"},"playerId":{"S":"b7e38835"},"result":{"S":"1B"},"createdAt":{"S":"2025-11-01T19:35:00.000Z"},"updatedAt":{"S":"2025-11-01T19:35:00.000Z"}}
{"PK":{"S":"GAME#marked"},"SK":{"S":"DELETED"},"reason":{"S":"of another program"}}
{"PK":{"S":"GAME#marked"},"SK":{"S":"ATBAT#1"},"gameId":{"S":"marked"},"playerId":{"S":"b7e38835"},"result":{"S":"1B"},"createdAt":{"S":"2025-11-01T19:35:00.000Z"},"updatedAt":{"S":"2025-11-01T19:35:00.000Z"}}
`

// A table of the original stays as it is: two nodes that run on it delete and overwrite nothing. At-bats are removed only by a marker of this
// program, which names who deleted the game.
func TestTableOfTheOriginalStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes.Keep(t, nodes.Options{App: New}, nodes.Seeds{"hacktracker-prod": seeds})
	})
}
