package hacktracker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/touchline/touchline/internal/testrig/actions"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// crowd adds players, other games and at-bats as if other nodes, cut off, had made them: twice as many as one node lets in.
func (l *ledger) crowd(t *testing.T) {
	t.Helper()
	l.do(t, func(b *Book) {
		for i := range 2 * MaxPlayers {
			id := fmt.Sprintf("x%04d", i)
			row := b.Stamp(playerKey(l.team, id), attr.Item{"playerId": attr.S(id), "teamId": attr.S(l.team), "firstName": attr.S("X"), "isGhost": attr.Bool(true), "status": attr.S(active)})
			row["playerNumber"] = attr.Int(int64(i + 1000))
			b.Commit(b.Create(row))
		}
		for i := range 300 {
			id := fmt.Sprintf("g%04d", i)
			row := b.Stamp(gameKey(id), attr.Item{"gameId": attr.S(id), "teamId": attr.S(l.team), "status": attr.S(Scheduled)})
			addIndexKey(row, indexGames, prefixTeam+l.team, prefixGame+id)
			b.Commit(b.Create(row))
		}
		for i := range 2 * MaxAtBats {
			id := fmt.Sprintf("x%04d", i)
			b.Commit(b.Create(b.Stamp(atBatKey(l.game, id), attr.Item{"atBatId": attr.S(id), "gameId": attr.S(l.game), "playerId": attr.S(l.players[0]), "result": attr.S("K")})))
		}
	})
}

// No transaction grows with the data: each has a fixed bound for a team with twice the players, games and at-bats that one node lets in. The walk
// has all of them.
func TestTransactionsDoNotGrow(t *testing.T) {
	st, update := openBook(t)
	w := actions.On(t, st)
	l := newLedger(t, update)
	step := func(what string, work func(b *Book)) {
		t.Helper()
		l.do(t, work)
		w.Largest(what)
	}
	at := time.Now()
	e := entry{id: ulid.MustNew(ulid.Timestamp(at), nil).String(), player: l.players[0], result: "1B", at: at}
	step("at-bats", func(b *Book) {
		l.score(b, &e)
		b.ChangeAtBat(l.game, e.id, body(`{"rbis":1}`))
		b.DeleteAtBat(l.game, e.id)
		b.AddRuns(l.game, ulid.MustNew(ulid.Timestamp(at), nil).String(), at, body(`{"teamScore":1}`))
	})
	l.crowd(t)
	w.Largest("filling a team")
	var slots []string
	for i := range MaxLineup {
		slots = append(slots, fmt.Sprintf(`{"playerId":"x%04d","battingOrder":%d}`, i, i+1))
	}
	lineup := strings.Join(slots, ",")
	step("the end of a game, and the start of another with a full lineup", func(b *Book) {
		b.ChangeGame(l.game, body(`{"status":"FINAL"}`))
		b.ChangeGame("g0001", body(`{"status":"IN_PROGRESS","lineup":[%s]}`, lineup))
		b.ChangeGame("g0001", body(`{"status":"FINAL"}`))
	})
	step("players", func(b *Book) {
		b.ChangePlayer(l.team, l.players[1], body(`{"playerNumber":7}`))
		b.ChangePlayer(l.team, l.players[1], body(`{"playerNumber":8}`))
		b.DeletePlayer(l.team, l.players[1])
		other := l.Open(b.Tx, "bob")
		other.Enrol("", "Bob")
		b.LinkPlayer(l.team, l.players[2], body(`{"userId":"bob"}`))
		b.ChangeMember(l.team, "bob", body(`{"role":"manager"}`))
		other.AcceptTeam(l.team)
		b.UnlinkPlayer(l.team, l.players[2])
		b.LinkPlayer(l.team, l.players[2], body(`{"userId":"bob"}`))
		other.LeaveTeam(l.team)
		b.Fail(other.Err())
	})
	step("users and teams", func(b *Book) {
		b.ChangeUser(body(`{"firstName":"Anna"}`))
		b.ChangeTeam(l.team, body(`{"name":"Other"}`))
		token := b.DeleteTeam(l.team)
		b.RecoverTeam(l.team, body(`{"recoveryToken":%q}`, token))
		bob := l.Open(b.Tx, "bob")
		bob.DeleteUser()
		b.Fail(bob.Err())
	})
	from := st.Seq()
	step("the deletion of a game", func(b *Book) { b.DeleteGame(l.game) })
	l.consume(t, st, from, w)
	step("what arrives of at-bats that were taken back", func(b *Book) {
		b.Commit(b.Put(b.Stamp(undoneKey("g0001", "x"), attr.Item{"correctedAt": attr.S(b.StampAfter(-time.Hour))}), table.If{}))
		late := b.Stamp(atBatKey("g0001", "x"), attr.Item{"result": attr.S("K"), "playerId": attr.S("x0001")})
		b.Commit(b.Create(late))
	})
	l.consume(t, st, st.Seq()-1, w)
	step("an at-bat that was corrected, taken back and dropped by others", func(b *Book) {
		late := b.Stamp(atBatKey("g0001", "z"), attr.Item{"result": attr.S("K"), "playerId": attr.S("x0001")})
		b.Commit(b.Create(late))
		b.Commit(b.Put(b.Stamp(undoneKey("g0001", "z"), attr.Item{"correctedAt": attr.S(b.StampAfter(-time.Hour))}), table.If{}))
		b.Commit(b.Drop(late))
	})
	l.consume(t, st, st.Seq()-1, w)
	step("markers that are old", func(b *Book) {
		old := b.Stamp(undoneKey("g0001", "y"), nil)
		old["createdAt"] = attr.S(b.StampAfter(-keptFor - time.Hour))
		b.Commit(b.Put(old, table.If{}))
		b.Commit(b.Create(b.Stamp(atBatKey("g0001", "y"), attr.Item{"result": attr.S("K"), "playerId": attr.S("x0001")})))
	})
	for more := true; more; {
		step("the work of Emptied for the whole table", func(b *Book) {
			err := l.EmptyAll(b.Tx)
			if more = errors.Is(err, table.ErrMore); !more {
				b.Fail(err)
			}
		})
	}
	w.Covers(".")
}

// consume passes the journal's records after a sequence to the consumer, slice by slice.
func (l *ledger) consume(t *testing.T, st *store.Store, after uint64, w *actions.Watch) {
	t.Helper()
	records, err := st.Journal(t.Context(), after, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		l.do(t, func(b *Book) {
			before := b.Tx.Seq()
			err := l.EmptyDeleted(b.Tx, records)
			if n := b.Tx.Seq() - before; n > table.Slice {
				t.Errorf("a slice of %d writes", n)
			}
			if more = errors.Is(err, table.ErrMore); !more {
				b.Fail(err)
			}
		})
		w.Largest("a slice of the consumer")
	}
}
