package threefcapp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// seeds returns rows with the original's keys and envelope: a live game whose tallies know more goals than its timeline has, a finished one
// with a result of its own, one that was finished without a result, and one of the first version, with a goal under its key.
func seeds() string {
	var all []string
	row := func(pk, sk, entity, data string) {
		all = append(all, fmt.Sprintf(`{"pk":{"S":%q},"sk":{"S":%q},"entityType":{"S":%q},"createdAt":{"S":"1999-12-01T10:00:00.000Z"},"updatedAt":{"S":"1999-12-01T11:00:00.000Z"},"data":{"S":%q}}`, pk, sk, entity, data))
	}
	row("LEAGUE#l", "METADATA", "league", `{"leagueId":"l","name":"L","slug":null,"createdByUserId":"boss"}`)
	row("LEAGUE#l", "ACL#USER#boss", "leagueAccess", `{"leagueId":"l","userId":"boss","role":"admin","grantedByUserId":"boss"}`)
	for _, pk := range []string{"LEAGUE#l SEASON#s", "SEASON#s METADATA"} {
		pk, sk, _ := strings.Cut(pk, " ")
		row(pk, sk, "season", `{"leagueId":"l","seasonId":"s","name":"S","slug":null,"startsOn":null,"endsOn":null}`)
	}
	for _, pk := range []string{"SEASON#s SESSION#d", "SESSION#d METADATA"} {
		pk, sk, _ := strings.Cut(pk, " ")
		row(pk, sk, "session", `{"seasonId":"s","sessionId":"d","sessionDate":"1999-12-01"}`)
	}
	const third = `{"third":%d,"startedAt":"1999-12-01T10:%d0:00.000Z","finishedAt":"1999-12-01T10:%d5:00.000Z"}`
	thirds := fmt.Sprintf("["+third+","+third+","+third+"]", 1, 0, 0, 2, 1, 1, 3, 2, 2)
	result := `{"computedAt":"1999-12-01T10:30:00.000Z","winnerTeamId":"yellow","winnerTeamIds":["yellow"],"teams":[]}`
	for game, more := range map[string]string{
		"live":     `"status":"live","thirdLengthMinutes":20,"thirds":[{"third":1,"startedAt":"1999-12-01T10:00:00.000Z","finishedAt":null}],"finishedAt":null,"result":null`,
		"finished": `"status":"finished","thirdLengthMinutes":20,"thirds":` + thirds + `,"finishedAt":"1999-12-01T10:30:00.000Z","result":` + result,
		"bare":     `"status":"finished","thirdLengthMinutes":20,"thirds":` + thirds + `,"finishedAt":"1999-12-01T10:30:00.000Z","result":null`,
		"first":    `"status":"live"`,
	} {
		pk, start := "GAME#"+game, "1999-12-01T10:00:00.000Z"
		row(pk, "METADATA", "game", fmt.Sprintf(`{"gameId":%q,"leagueId":"l","seasonId":"s","sessionId":"d","gameStartTs":%q,%s}`, game, start, more))
		row("SESSION#d", "GAME#"+start+"#"+game, "sessionGame", fmt.Sprintf(`{"sessionId":"d","gameId":%q,"gameStartTs":%q,"leagueId":"l","seasonId":"s"}`, game, start))
		for i, team := range []string{"red", "blue", "yellow"} {
			row(pk, "TEAM#"+team, "gameTeam", fmt.Sprintf(`{"gameId":%q,"teamId":%q,"name":%q,"color":null,"scored":%d,"conceded":%d}`, game, team, team, 7-i, i))
		}
		row(pk, "GOAL_STATE", "goalState", fmt.Sprintf(`{"gameId":%q,"latestEventId":"e9","latestGoalSk":"GOAL#1#0009#e9","revision":41}`, game))
		row(pk, "GOAL#1#0001#e1", "goal", fmt.Sprintf(`{"gameId":%q,"eventId":"e1","third":1,"thirdMinute":1,"gameMinute":1,"elapsedSeconds":5,"stoppageMinute":null,"displayTime":"00:05","scoringTeamId":"red","concedingTeamId":"blue","scorerPlayerId":"p","assistPlayerIds":[],"ownGoal":false}`, game))
	}
	return strings.Join(all, "\n")
}

// A table of the original stays as it is: two nodes that run on it delete and overwrite nothing.
func TestTableOfTheOriginalStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := nodes.Keep(t, nodes.Options{App: New}, nodes.Seeds{"3fc-prod-app": seeds()})
		page := f.Want("a", nodes.Boss, "GET", "/_/hub", "")
		for _, part := range []string{"Tallies and results: 18 rows are not as this node counts them", `href="/_/recount/threefc/tallies%20and%20results"`} {
			if !strings.Contains(page, part) {
				t.Errorf("the Status page has no %q: %s", part, page)
			}
		}
	})
}
