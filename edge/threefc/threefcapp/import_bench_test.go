package threefcapp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// longSeason returns the file of a season with this many games, of 18 players and 20 goals each: about 30 KB a game.
func longSeason(games int) *threefc.File {
	f := &threefc.File{Format: 1, SeasonID: "s"}
	const at = "2026-07-04T10:00:00.000Z"
	add := func(pk, sk, entity, data string, args ...any) {
		f.Rows = append(f.Rows, threefc.FileRow{PK: pk, SK: sk, Entity: entity, CreatedAt: at, UpdatedAt: at, Data: json.RawMessage(fmt.Sprintf(data, args...))})
	}
	season := `{"leagueId":"l","seasonId":"s","name":"Season","slug":null,"startsOn":null,"endsOn":null}`
	add("LEAGUE#l", "SEASON#s", "season", "%s", season)
	add("SEASON#s", "METADATA", "season", "%s", season)
	for n := range games {
		g, d := fmt.Sprintf("01KWPGAME%017d", n), fmt.Sprintf("01KWPDAY0%017d", n)
		session := fmt.Sprintf(`{"seasonId":"s","sessionId":%q,"sessionDate":"2026-07-04"}`, d)
		add("SEASON#s", "SESSION#"+d, "session", "%s", session)
		add("SESSION#"+d, "METADATA", "session", "%s", session)
		add("SESSION#"+d, "GAME#"+at+"#"+g, "sessionGame", `{"sessionId":%q,"gameId":%q,"gameStartTs":%q,"leagueId":"l","seasonId":"s"}`, d, g, at)
		add("GAME#"+g, "METADATA", "game", `{"gameId":%q,"joinCode":"","leagueId":"l","seasonId":"s","sessionId":%q,"status":"finished","gameStartTs":%q,"thirdLengthMinutes":20,`+
			`"thirds":[{"third":1,"startedAt":%[3]q,"finishedAt":%[3]q},{"third":2,"startedAt":%[3]q,"finishedAt":%[3]q},{"third":3,"startedAt":%[3]q,"finishedAt":%[3]q}],"finishedAt":%[3]q,"result":null}`, g, d, at)
		for i := range 18 {
			player, team := fmt.Sprintf("01KWPP%06d%014d", n, i), threefc.TeamIDs()[i%3]
			add("GAME#"+g, "PLAYER#"+player, "gamePlayer", `{"gameId":%q,"playerId":%q,"teamId":%q}`, g, player, team)
			add("GAME#"+g, "ROSTER#"+team+"#"+player, "roster", `{"gameId":%q,"teamId":%q,"playerId":%q}`, g, team, player)
			add("PLAYER#"+player, "PROFILE", "player", `{"playerId":%q,"nickname":"Player %d","claimedByUserId":null}`, player, i)
		}
		for i := range 20 {
			event := fmt.Sprintf("01KWPE%06d%014d", n, i)
			add("GAME#"+g, fmt.Sprintf("GOAL#1#%04d#%s", i, event), "goal", `{"gameId":%q,"eventId":%q,"third":1,"thirdMinute":%d,"gameMinute":%[3]d,"elapsedSeconds":%d,"stoppageMinute":null,`+
				`"displayTime":"00:00","scoringTeamId":"red","concedingTeamId":"blue","scorerPlayerId":%q,"assistPlayerIds":[],"ownGoal":false}`, g, event, i, i*60, fmt.Sprintf("01KWPP%06d%014d", n, 0))
			add("GAME#"+g, "GOAL_EVENT#"+event, "goalEventId", `{"gameId":%q,"eventId":%q}`, g, event)
		}
	}
	return f
}

// BenchmarkWritersBesideAnImport shows how long others' writes wait while a running node imports a file of 39 MB.
func BenchmarkWritersBesideAnImport(b *testing.B) {
	raw, err := json.Marshal(longSeason(1_560))
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "season.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(raw))/1e6, "MB")
	for b.Loop() {
		dir := b.TempDir()
		n, err := node.Open(b.Context(), dir, node.Parts{Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Apps: []*app.App{New()}})
		if err != nil {
			b.Fatal(err)
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		ctx, end := context.WithCancel(b.Context())
		done := make(chan error, 1)
		go func() { done <- n.Run(ctx, ln) }()
		benchmarkImport(b, n.Store(), dir, file)
		end()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkImport(b *testing.B, db *store.Store, dir, file string) {
	b.Helper()
	const table = "3fc-prod-app"
	rules := &threefc.Service{Handle: threefc.Rows(table)}
	if err := db.Update(b.Context(), func(tx *store.Tx) error {
		c, err := rules.CreateLeague(tx, "boss@example.org", threefc.League{LeagueID: "l", Name: "League"})
		if err != nil {
			return err
		}
		return tx.TransactWrite(store.TransactWrite{Items: c.Writes})
	}); err != nil {
		b.Fatal(err)
	}
	ctx, end := context.WithCancel(b.Context())
	var waits []time.Duration
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			began := time.Now()
			if db.Update(ctx, func(tx *store.Tx) error {
				_, err := tx.Put(store.PutItem{Table: table, Item: attr.Item{"pk": attr.S("OTHER#1"), "sk": attr.S(fmt.Sprint(i % 100))}, NoOld: true})
				return err
			}) == nil {
				waits = append(waits, time.Since(began))
			}
		}
	})
	client, err := node.Ask(dir)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	var out threefc.Imported
	if err := client.Command(b.Context(), pathImport, asked{File: file}, nil, &out); err != nil || out.Made == 0 {
		b.Fatalf("%+v %v", out, err)
	}
	took := time.Since(began)
	end()
	writer.Wait()
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(waits[len(waits)-1].Microseconds())/1000, "max-ms")
	b.ReportMetric(took.Seconds(), "import-s")
	b.ReportMetric(float64(len(waits)), "writes")
}
