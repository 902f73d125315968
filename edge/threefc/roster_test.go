package threefc

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// foreignLeague creates a league of somebody else with a season, a session and a game h, in which the player x1 has joined.
func (r *rig) foreignLeague() {
	r.t.Helper()
	r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateLeague(tx, "stranger@example.org", League{LeagueID: "m", Name: "Other"})
	})
	r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateSeason(tx, Season{LeagueID: "m", SeasonID: "sm", Name: "Season"})
	})
	r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateSession(tx, Session{SeasonID: "sm", SessionID: "dm", SessionDate: "2026-07-04"})
	})
	r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateGame(tx, Game{SessionID: "dm", GameID: "h", GameStartTs: "2026-07-04T10:00:00.000Z"})
	})
	r.must(func(tx *store.Tx) (Change, error) { return r.AddPlayer(tx, "h", "x1", "Xavi", &IDs{}) })
}

// A roster takes players of its own league: those of this game and of the league's others. It refuses another league's player as it refuses
// one who does not exist.
func TestRosterTakesPlayersOfItsLeague(t *testing.T) {
	r := newRig(t)
	r.league()
	r.game("g2") // with the players of g
	r.foreignLeague()
	assign := func(game, player string) error {
		_, err := r.try(func(tx *store.Tx) (Change, error) { return r.Assign(tx, game, player, "red", true) })
		return err
	}
	foreign, unknown := assign("g", "x1"), assign("g", "nobody")
	if foreign == nil || unknown == nil || strings.Replace(foreign.Error(), "x1", "nobody", 1) != unknown.Error() {
		t.Errorf("a player of another league: %v; one who does not exist: %v", foreign, unknown)
	}
	if err := assign("h", "x1"); err != nil {
		t.Errorf("a player of the game: %v", err)
	}
	if err := assign("g", "x1"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a player on another league's roster: %v", err)
	}
	for _, player := range []string{"r1", "x1"} { // as the original writes them
		row := r.row(playerKey(player))
		row["data"] = attr.S(strings.NewReplacer(`,"leagueId":"l"`, "", `,"leagueId":"m"`, "").Replace(row["data"].Str()))
		if strings.Contains(row["data"].Str(), "leagueId") {
			t.Fatal(row)
		}
		r.put(row)
	}
	r.must(func(tx *store.Tx) (Change, error) {
		return r.CreateGame(tx, Game{SessionID: "d", GameID: "g3", GameStartTs: "2026-07-05T10:00:00.000Z"})
	})
	if err := assign("g3", "r1"); err != nil {
		t.Errorf("a player of the league's other games, whose row names no league: %v", err)
	}
	if err := assign("g3", "x1"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a player of another league, whose row names none: %v", err)
	}
	if in := view(r, func(tx *store.Tx) (map[string]Rostered, error) { return r.rostered(tx, "g2") }); len(in) != 6 {
		t.Errorf("players of the league's other game: %v", in)
	}
}

// An admin removes somebody who joined a game, with their name, unless they have goals, play elsewhere in the league or were claimed.
func TestRemovePlayer(t *testing.T) {
	r := newRig(t)
	r.league()
	r.game("g2")
	r.foreignLeague()
	joined := r.must(func(tx *store.Tx) (Change, error) { return r.AddPlayer(tx, "g", "", "A rude name", &IDs{}) }).IDs["player"]
	claimed := r.must(func(tx *store.Tx) (Change, error) { return r.AddPlayer(tx, "g", "", "Ann", &IDs{}) }).IDs["player"]
	r.must(func(tx *store.Tx) (Change, error) { return r.Claim(tx, "ann@example.org", claimed) })
	r.must(func(tx *store.Tx) (Change, error) { return r.Assign(tx, "g", joined, "red", false) })
	r.start("g", 1)
	r.goal("g", "red", "blue") // by r1
	remove := func(player string) error {
		_, err := r.try(func(tx *store.Tx) (Change, error) { return r.RemovePlayer(tx, "g", player) })
		return err
	}
	if err := remove("r1"); codeOf(err) != "player_has_goals" {
		t.Errorf("a player with goals: %v", err)
	}
	if err := remove("x1"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a player of another league: %v", err)
	}
	for player, named := range map[string]bool{joined: false, claimed: true, "r2": true} {
		if err := remove(player); err != nil {
			t.Errorf("%s: %v", player, err)
		}
		roster := view(r, func(tx *store.Tx) (Roster, error) { return r.Roster(tx, "g") })
		if _, here := roster.Players[player]; here {
			t.Errorf("%s is still in the game", player)
		}
		if is := r.row(playerKey(player)) != nil; is != named {
			t.Errorf("%s has a name: %v, want %v", player, is, named)
		}
		if err := remove(player); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s again: %v", player, err)
		}
	}
}

// An import writes nothing from a file with rows of another league, or whose ids belong to another league here.
func TestImportRefusesAnotherLeague(t *testing.T) {
	from := newRig(t)
	from.league()
	from.play("g", [2]string{"red", "blue"})
	whole := view(from, func(tx *store.Tx) (File, error) { return from.ExportSeason(tx, "s") })
	raw, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	renamed := func(pairs ...string) *File {
		var f File
		if err := json.Unmarshal([]byte(strings.NewReplacer(pairs...).Replace(string(raw))), &f); err != nil {
			t.Fatal(err)
		}
		return &f
	}
	changed := func(entity, old, now string) *File {
		f := renamed()
		i := slices.IndexFunc(f.Rows, func(r FileRow) bool { return r.Entity == entity && strings.Contains(string(r.Data), old) })
		f.Rows[i].Data = []byte(strings.Replace(string(f.Rows[i].Data), old, now, 1))
		return f
	}
	for name, f := range map[string]*File{
		"a game of another league":               changed("game", `"leagueId":"l"`, `"leagueId":"m"`),
		"a season of another league":             changed("season", `"leagueId":"l"`, `"leagueId":"m"`),
		"an entry of another league":             changed("sessionGame", `"leagueId":"l"`, `"leagueId":"m"`),
		"a goal of another game":                 changed("goal", `"gameId":"g"`, `"gameId":"h"`),
		"a season that is another league's here": renamed("SEASON#s\"", "SEASON#sm\"", `"seasonId":"s"`, `"seasonId":"sm"`),
		"a session that is another's here":       renamed("SESSION#d\"", "SESSION#dm\"", `"sessionId":"d"`, `"sessionId":"dm"`),
		"a game that is another's here":          renamed("GAME#g\"", "GAME#h\"", "Z#g\"", "Z#h\"", `"gameId":"g"`, `"gameId":"h"`),
		"a player who is another's here":         renamed("PLAYER#r1\"", "PLAYER#x1\"", "#r1\"", "#x1\"", `"playerId":"r1"`, `"playerId":"x1"`, `Id":"r1"`, `Id":"x1"`),
	} {
		to := newRig(t)
		to.must(func(tx *store.Tx) (Change, error) {
			return to.CreateLeague(tx, boss, League{LeagueID: "l", Name: "League"})
		})
		to.foreignLeague()
		before := len(to.rows())
		if _, err := to.ImportSeason(t.Context(), to.store, f, nil); codeOf(err) != "bad_file" || len(to.rows()) != before {
			t.Errorf("%s: %v, %d rows written", name, err, len(to.rows())-before)
		}
		if out, err := to.ImportSeason(t.Context(), to.store, renamed(), nil); err != nil || out.Made != len(whole.Rows) {
			t.Errorf("%s, then the season itself: %+v %v", name, out, err)
		}
	}
}
