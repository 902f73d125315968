package threefc

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// importedBytes is the size of the files that the benchmark imports.
const importedBytes = 39 << 20

// largeFile returns a season's file of about the given size, of players whose rows have the given size, in one game.
func largeFile(size, row int) *File {
	f := &File{Format: fileFormat, SeasonID: "s"}
	add := func(pk, sk, entity, data string) {
		at := "2026-07-04T10:00:00.000Z"
		f.Rows = append(f.Rows, FileRow{PK: pk, SK: sk, Entity: entity, CreatedAt: at, UpdatedAt: at, Data: json.RawMessage(data)})
	}
	add("LEAGUE#l", "SEASON#s", "season", `{"leagueId":"l","seasonId":"s","name":"Season"}`)
	add("SEASON#s", "METADATA", "season", `{"leagueId":"l","seasonId":"s","name":"Season"}`)
	add("SEASON#s", "SESSION#d", "session", `{"seasonId":"s","sessionId":"d","sessionDate":"2026-07-04"}`)
	add("SESSION#d", "METADATA", "session", `{"seasonId":"s","sessionId":"d","sessionDate":"2026-07-04"}`)
	add("SESSION#d", "GAME#2026-07-04T10:00:00.000Z#g", "sessionGame", `{"sessionId":"d","gameId":"g","gameStartTs":"2026-07-04T10:00:00.000Z","leagueId":"l","seasonId":"s"}`)
	add("GAME#g", "METADATA", "game", `{"gameId":"g","leagueId":"l","seasonId":"s","sessionId":"d","status":"scheduled","gameStartTs":"2026-07-04T10:00:00.000Z"}`)
	name := strings.Repeat("x", max(1, row-200))
	for i := 0; i*row < size; i++ {
		id := fmt.Sprintf("p%06d", i)
		add("GAME#g", "PLAYER#"+id, "gamePlayer", fmt.Sprintf(`{"gameId":"g","playerId":%q,"teamId":""}`, id))
		add("PLAYER#"+id, "PROFILE", "player", fmt.Sprintf(`{"playerId":%q,"nickname":%q,"claimedByUserId":null}`, id, name))
	}
	return f
}

// BenchmarkWritersBesideAnImport shows how long others' writes wait while a large file is imported, of few large rows or of many small ones.
func BenchmarkWritersBesideAnImport(b *testing.B) {
	for name, row := range map[string]int{"rows of 390 KB": 390_000, "rows of 600 B": 600} {
		b.Run(name, func(b *testing.B) {
			f := largeFile(importedBytes, row)
			for b.Loop() {
				benchmarkImport(b, f)
			}
		})
	}
}

func benchmarkImport(b *testing.B, f *File) {
	b.Helper()
	s := &Service{Handle: Rows(tableName)}
	db := storetest.OpenWith(b, filepath.Join(b.TempDir(), "s.db"), store.Options{}, Table(tableName))
	if err := db.Update(b.Context(), func(tx *store.Tx) error {
		c, err := s.CreateLeague(tx, boss, League{LeagueID: "l", Name: "League"})
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
			err := db.Update(ctx, func(tx *store.Tx) error {
				_, err := tx.Put(store.PutItem{Table: tableName, Item: attr.Item{"pk": attr.S("OTHER#1"), "sk": attr.S(fmt.Sprint(i % 100))}, NoOld: true})
				return err
			})
			if err == nil {
				waits = append(waits, time.Since(began))
			}
		}
	})
	began := time.Now()
	_, err := s.ImportSeason(b.Context(), db, f, nil)
	took := time.Since(began)
	end()
	writer.Wait()
	if err != nil {
		b.Fatal(err)
	}
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(waits[len(waits)-1].Microseconds())/1000, "max-ms")
	b.ReportMetric(took.Seconds(), "import-s")
	b.ReportMetric(float64(len(waits)), "writes")
}
