package threefc

import (
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// What a node polls: live games often, the rest less often. A season, session or game of another node is included once the row that
// points to it is here; a missing player or join code together with its game.
func TestInterest(t *testing.T) {
	r := newRig(t)
	r.league()
	r.game("live")
	r.start("live", 1)
	r.game("over")
	r.play("over")
	codes := map[string]string{}
	for _, game := range []string{"g", "live", "over"} {
		codes[game] = r.board(game).JoinCode
	}
	if err := r.store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: tableName, Key: playerKey("r1")})
		if err == nil {
			row, _ := encode(sessionGameKey("d", "x", "elsewhere"), sessionGame{SessionID: "d", GameID: "elsewhere", GameStartTs: "x"})
			_, err = tx.Put(store.PutItem{Table: tableName, Item: row})
		}
		for _, code := range codes {
			if err == nil {
				_, err = tx.Delete(store.DeleteItem{Table: tableName, Key: JoinKey(code)})
			}
		}
		for _, place := range []attr.Item{sessionKey("s", "later"), seasonKey("l", "next")} {
			if err == nil {
				_, err = tx.Put(store.PutItem{Table: tableName, Item: place})
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		of   func(tx *store.Tx, _ []string) ([]attr.Value, error)
		want []string
	}{
		"open": {r.Open, []string{"GAME#live", "PLAYER#r1", pkJoin + codes["live"]}},
		"rest": {r.Rest, []string{"GAME#g", pkJoin + codes["g"], "GAME#over", "LEAGUE#l", "SEASON#s", "GAME#elsewhere", "SESSION#d", "SESSION#later", "SEASON#next"}},
	} {
		all := view(r, func(tx *store.Tx) ([]attr.Value, error) { return tt.of(tx, nil) })
		got := map[string]bool{}
		for _, pk := range all {
			got[pk.Str()] = true
		}
		for _, pk := range tt.want {
			if !got[pk] {
				t.Errorf("%s: %s is not polled", name, pk)
			}
		}
		if len(all) != len(tt.want) {
			t.Errorf("%s: %v", name, all)
		}
	}
}
