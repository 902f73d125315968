package threefc

import (
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// byHand holds rows as written by both versions of the original.
func byHand() []attr.Item {
	row := func(pk, sk, entity, data string) attr.Item {
		return attr.Item{
			"pk": attr.S(pk), "sk": attr.S(sk), "entityType": attr.S(entity), "data": attr.S(data),
			"createdAt": attr.S("2026-02-18T10:00:00.000Z"), "updatedAt": attr.S("2026-02-18T10:00:00.000Z"),
		}
	}
	season := `{"leagueId":"l","seasonId":"s","name":"2026","slug":null,"startsOn":null,"endsOn":null}`
	session := `{"seasonId":"s","sessionId":"d","sessionDate":"2026-02-18"}`
	return []attr.Item{
		row("LEAGUE#l", "METADATA", "league", `{"leagueId":"l","name":"League","slug":"lg","createdByUserId":"a@b.c"}`),
		row("LEAGUE#l", "ACL#USER#a@b.c", "acl", `{"leagueId":"l","userId":"a@b.c","role":"admin","grantedByUserId":"a@b.c"}`),
		row("LEAGUE#l", "SEASON#s", "season", season), row("SEASON#s", "METADATA", "season", season),
		row("SEASON#s", "TEAM#red", "team", `{"seasonId":"s","teamId":"red","name":"Reds","color":null}`),
		row("SEASON#s", "SESSION#d", "session", session), row("SESSION#d", "METADATA", "session", session),
		row("SESSION#d", "GAME#2026-02-18T12:00:00.000Z#h", "sessionGame", `{"sessionId":"d","gameId":"h","gameStartTs":"2026-02-18T12:00:00.000Z"}`),
		row("SESSION#d", "GAME#2026-02-18T11:00:00.000Z#g", "sessionGame", `{"sessionId":"d","gameId":"g","gameStartTs":"2026-02-18T11:00:00.000Z"}`),
		// a row of the first version, and one of the later version with a member unknown to us
		row("GAME#g", "METADATA", "game", `{"gameId":"g","leagueId":"l","seasonId":"s","sessionId":"d","status":"live","gameStartTs":"2026-02-18T11:00:00.000Z"}`),
		row("GAME#h", "METADATA", "game", `{"createRequestHash":"x","gameId":"h","joinCode":"ABCDEFGH","leagueId":"l","seasonId":"s","sessionId":"d","status":"live",`+
			`"gameStartTs":"2026-02-18T12:00:00.000Z","thirdLengthMinutes":25,"thirds":[{"third":1,"startedAt":"2026-02-18T12:00:00.000Z","finishedAt":null}],"finishedAt":null,"result":null}`),
		row("GAME#g", "ROSTER#red#p", "roster", `{"gameId":"g","teamId":"red","playerId":"p"}`),
		row("PLAYER#p", "PROFILE", "player", `{"playerId":"p","nickname":"Pat","claimedByUserId":null}`),
		row("GAME#g", "GOAL#1#0007#e2", "goal", `{"gameId":"g","eventId":"e2","third":1,"gameMinute":7,"scoringTeamId":"red","concedingTeamId":"blue","scorerPlayerId":"p","assistPlayerIds":[],"ownGoal":false}`),
		row("GAME#g", "GOAL#1#0012#000700#e1", "goal", `{"gameId":"g","eventId":"e1","third":1,"thirdMinute":12,"gameMinute":12,"elapsedSeconds":700,"stoppageMinute":null,`+
			`"displayTime":"11:40","scoringTeamId":null,"concedingTeamId":"blue","scorerPlayerId":"p","assistPlayerIds":[],"ownGoal":true}`),
		row("GAME#g", "GOAL_EVENT#e1", "goalEventId", `{"gameId":"g","eventId":"e1"}`),
		row("GAME#g", "GOAL_STATE", "goalState", `{"gameId":"g","latestEventId":"e1","latestGoalSk":"GOAL#1#0012#000700#e1","revision":2}`),
	}
}

// Each access pattern finds the rows of the original.
func TestRowsByHand(t *testing.T) {
	r := newRig(t)
	if err := r.store.Update(t.Context(), func(tx *store.Tx) error {
		for _, it := range byHand() {
			if _, err := tx.Put(store.PutItem{Table: tableName, Item: it}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if l := view(r, func(tx *store.Tx) (*League, error) { return r.League(tx, "l") }); *l.Slug != "lg" || l.CreatedAt != "2026-02-18T10:00:00.000Z" {
		t.Errorf("%+v", l)
	}
	if all := view(r, func(tx *store.Tx) (all []OwnLeague, err error) {
		all, _, err = r.LeaguesOf(tx, "a@b.c", ListPage{Limit: 10})
		return all, err
	}); len(all) != 1 || all[0].Access.Role != RoleAdmin {
		t.Errorf("%+v", all)
	}
	if all := view(r, func(tx *store.Tx) ([]Season, error) { return r.Seasons(tx, "l") }); len(all) != 1 || all[0].SeasonID != "s" {
		t.Errorf("%+v", all)
	}
	if all := view(r, func(tx *store.Tx) ([]Session, error) { return r.Sessions(tx, "s") }); len(all) != 1 || all[0].SessionDate != "2026-02-18" {
		t.Errorf("%+v", all)
	}
	if all := view(r, func(tx *store.Tx) ([]SeasonTeam, error) { return r.SeasonTeams(tx, "s") }); all[0].Name != "Reds" || all[0].Color != nil || all[1].Name != "Blue" {
		t.Errorf("%+v", all)
	}
	if all := view(r, func(tx *store.Tx) ([]Board, error) { return r.GamesOf(tx, "d") }); len(all) != 2 || all[0].GameID != "g" || all[1].ThirdLengthMinutes != 25 {
		t.Errorf("%+v", all)
	}
	for _, of := range []Scope{{"league", "l"}, {"season", "s"}, {"session", "d"}, {"game", "g"}} {
		if l := view(r, func(tx *store.Tx) (string, error) { return r.LeagueOf(tx, of) }); l != "l" {
			t.Errorf("%v belongs to %q", of, l)
		}
	}
	roster := view(r, func(tx *store.Tx) (Roster, error) { return r.Roster(tx, "g") })
	if len(roster.Roster) != 1 || roster.Players["p"].Nickname != "Pat" {
		t.Errorf("%+v", roster)
	}
	b := r.board("g")
	if len(b.Goals) != 2 || b.Goals[0].EventID != "e2" || b.Goals[0].DisplayTime != "06:00" || b.Goals[1].DisplayTime != "11:40" || b.Teams[1].Conceded != 2 {
		t.Errorf("%+v %+v", b.Goals, b.Teams)
	}
	// an update keeps the row's key and its unknown members
	r.must(func(tx *store.Tx) (Change, error) { return r.DeleteGoal(tx, "g", "e1", Corrector{Admin: true}, &IDs{}) })
	if it := r.row(key("GAME#g", "GOAL#1#0012#000700#e1")); it != nil {
		t.Errorf("%v", it)
	}
	r.end("h", 1)
	want := `{"gameId":"h","joinCode":"ABCDEFGH","leagueId":"l","seasonId":"s","sessionId":"d","status":"live","gameStartTs":"2026-02-18T12:00:00.000Z",` +
		`"thirdLengthMinutes":25,"thirds":[{"third":1,"startedAt":"2026-02-18T12:00:00.000Z","finishedAt":"2026-07-04T10:00:00.000Z"}],"finishedAt":null,"result":null,"createRequestHash":"x"}`
	if got := r.row(gameKey("h"))["data"].Str(); got != want {
		t.Errorf("row:\n%s, want\n%s", got, want)
	}
}

// Rows have the keys and envelopes of the original.
func TestRowsOfOurs(t *testing.T) {
	r := newRig(t)
	r.league()
	r.start("g", 1)
	event := r.goal("g", "red", "blue")
	code := r.board("g").JoinCode
	for _, want := range []struct{ pk, sk, entity, data string }{
		{"LEAGUE#l", "METADATA", "league", `{"leagueId":"l","name":"League","slug":null,"createdByUserId":"boss@example.org"}`},
		{"LEAGUE#l", "ACL#USER#boss@example.org", "acl", `{"leagueId":"l","userId":"boss@example.org","role":"admin","grantedByUserId":"boss@example.org"}`},
		{"LEAGUE#l", "SEASON#s", "season", `{"leagueId":"l","seasonId":"s","name":"Season","slug":null,"startsOn":null,"endsOn":null}`},
		{"SEASON#s", "METADATA", "season", `{"leagueId":"l","seasonId":"s","name":"Season","slug":null,"startsOn":null,"endsOn":null}`},
		{"SEASON#s", "SESSION#d", "session", `{"seasonId":"s","sessionId":"d","sessionDate":"2026-07-04"}`},
		{"SESSION#d", "METADATA", "session", `{"seasonId":"s","sessionId":"d","sessionDate":"2026-07-04"}`},
		{"SESSION#d", "GAME#2026-07-04T10:00:00.000Z#g", "sessionGame", `{"sessionId":"d","gameId":"g","gameStartTs":"2026-07-04T10:00:00.000Z","leagueId":"l","seasonId":"s"}`},
		{"JOIN_CODE#" + code, "METADATA", "gameJoinCode", `{"joinCode":"` + code + `","gameId":"g"}`},
		{"PLAYER#r1", "PROFILE", "player", `{"playerId":"r1","nickname":"Player r1","claimedByUserId":null,"leagueId":"l"}`}, // leagueId is ours
		{"GAME#g", "PLAYER#r1", "gamePlayer", `{"gameId":"g","playerId":"r1","teamId":"red"}`},
		{"GAME#g", "ROSTER#red#r1", "roster", `{"gameId":"g","teamId":"red","playerId":"r1"}`},
		{"GAME#g", "GOAL#1#0001#" + event, "goal", `{"gameId":"g","eventId":"` + event + `","third":1,"thirdMinute":1,"gameMinute":1,"elapsedSeconds":0,"stoppageMinute":null,` +
			`"displayTime":"00:00","scoringTeamId":"red","concedingTeamId":"blue","scorerPlayerId":"r1","assistPlayerIds":[],"ownGoal":false}`},
		{"GAME#g", "GOAL_EVENT#" + event, "goalEventId", `{"gameId":"g","eventId":"` + event + `"}`},
	} {
		it := r.row(key(want.pk, want.sk))
		if it["entityType"].Str() != want.entity || it["data"].Str() != want.data || it["createdAt"].Str() != "2026-07-04T10:00:00.000Z" || len(it) != 6 {
			t.Errorf("%s %s: %v", want.pk, want.sk, it)
		}
	}
}

// The other rows have the original's entity types, and ours have their own.
func TestEntities(t *testing.T) {
	for want, k := range map[string]attr.Item{
		"leagueInvite": key("LEAGUE_INVITE#c", "METADATA"), "inviteShare": key("LEAGUE#l", "INVITE#ORGANISER_SHARE"), "team": key("SEASON#s", "TEAM#red"),
		"gameTeam": key("GAME#g", "TEAM#red"), "goalState": key("GAME#g", "GOAL_STATE"), "goalAudit": key("GAME#g", "AUDIT#GOAL#at#a"),
		"goalCorrectionOperation": key("GAME#g", "GOAL_CORRECTION#o"), "playerClaim": key("USER#u", "PLAYER#p"), "deleted": key("SEASON#s", "DELETED"),
		"magicToken": MagicKey("t"), "signInCode": codeKey("c"), "idempotency": OnceKey("s", "k"), "": key("GAME#g", "OTHER#"),
	} {
		if got := entityOf(k); got != want {
			t.Errorf("%v: %q, want %q", k, got, want)
		}
	}
}

// A deleted game is removed completely, even if the process ends in between. Meanwhile its id cannot be used again, and no other game's
// rows are removed.
func TestPartitionWiped(t *testing.T) {
	r := newRig(t)
	r.league()
	r.start("g", 1)
	r.goal("g", "red", "blue")
	r.game("h")
	seq := r.export(0)
	r.must(func(tx *store.Tx) (Change, error) { return r.DeleteGame(tx, boss, "g") })
	if it := r.row(gameTeamKey("g", "red")); it == nil {
		t.Fatal("already emptied")
	}
	again := func() error {
		_, err := r.try(func(tx *store.Tx) (Change, error) {
			return r.CreateGame(tx, Game{SessionID: "d", GameID: "g", GameStartTs: "2026-07-04T10:00:00.000Z"})
		})
		return err
	}
	if err := again(); codeOf(err) != "already_exists" {
		t.Errorf("created again: %v", err)
	}
	r.export(seq)
	n := 0
	for it, err := range view(r, func(tx *store.Tx) (all map[*attr.Item]error, err error) {
		all = map[*attr.Item]error{}
		for it, err := range tx.QueryAll(r.QueryUnder(pkGame+"g", "")) {
			all[&it] = err
		}
		return all, nil
	}) {
		if n++; err != nil || (*it)["sk"].Str() != skDeleted {
			t.Errorf("left: %v %v", *it, err)
		}
	}
	if n != 1 || len(r.board("h").Teams) != 3 || r.row(rosterKey("h", "red", "r1")) == nil {
		t.Errorf("%d rows of the deleted game; %+v", n, r.board("h"))
	}
	// rows of it that arrive from the cloud later are removed too
	if err := r.store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Adopt(tableName, rosterKey("g", "red", "r9"), func() attr.Item {
			it, _ := encode(rosterKey("g", "red", "r9"), Rostered{GameID: "g", TeamID: "red", PlayerID: "r9"})
			return it
		}())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r.export(seq)
	if it := r.row(rosterKey("g", "red", "r9")); it != nil {
		t.Errorf("left: %v", it)
	}
	r.now = r.now.Add(buried + time.Hour)
	if err := again(); err != nil {
		t.Errorf("after the tombstone expired: %v", err)
	}
}

func TestCodes(t *testing.T) {
	for text, want := range map[string]string{" abcdefgh ": "ABCDEFGH", "ABCDEFG": "", "ABCDEFGO": "", "ABCDEF01": ""} {
		if got, ok := CodeOf(text); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %t", text, got, ok)
		}
	}
	if code, ok := CodeOf(newCode()); !ok {
		t.Errorf("%q is accepted as a code", code)
	}
	if a, b := (&IDs{Seed: "x"}), (&IDs{Seed: "x"}); a.New(time.Unix(1, 0)) != b.New(time.Unix(1, 0)) || a.New(time.Unix(1, 0)) == b.New(time.Unix(2, 0)) {
		t.Error("ids with the same seed differ, or two ids of one request are equal")
	}
	for id, good := range map[string]bool{"a": true, "": false, "a#b": false, "a\n": false} {
		if IsID(id) != good {
			t.Errorf("%q", id)
		}
	}
}
