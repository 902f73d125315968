package cricketapp

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/table"
)

// seeds are rows of the tables that the original's description prints, filled by hand: of the league, the season and the teams of a recorded
// match, with values and attributes of their own, and of others.
var seeds = nodes.Seeds{
	tables.Leagues: `
{"leagueId":{"S":"2798235"},"name":{"S":"T20 Internationals"},"code":{"S":"T20I"},"active":{"BOOL":true},"seasonId":{"S":"4473843"},"displayOrder":{"N":"1"},"updatedAt":{"S":"1999-11-01T10:00:00.000Z"}}
{"leagueId":{"S":"5"},"name":{"S":"Big Bash League"},"code":{"S":"BBL"},"active":{"BOOL":false},"marquee":{"BOOL":true}}`,
	tables.Teams: `
{"teamId":{"S":"7333138"},"name":{"S":"Black Caps"},"code":{"S":"NZL"},"flag":{"S":"nz.png"}}
{"teamId":{"S":"8085574"},"name":{"S":"Lions"},"shortName":{"S":"SL"},"primaryColor":{"S":"#0A2351"}}
{"teamId":{"S":"10"},"name":{"S":"England"}}`,
	tables.TeamSeasons: `
{"seasonId":{"S":"4473843"},"teamId":{"S":"7333138"},"name":{"S":"Black Caps"},"played":{"N":"9"},"won":{"N":"6"},"lost":{"N":"3"},"points":{"N":"12"},"netRunRate":{"N":"0.75"}}
{"seasonId":{"S":"4473843"},"teamId":{"S":"8085574"},"played":{"N":"0"},"won":{"N":"0"},"lost":{"N":"0"},"captain":{"S":"SL Malinga"}}
{"seasonId":{"S":"1"},"teamId":{"S":"10"},"played":{"N":"3"},"points":{"N":"6"}}`,
	tables.Fixtures: `
{"matchId":{"S":"77"},"leagueCode":{"S":"T20I"},"startTime":{"S":"1999-12-01T10:00:00.000Z"},"status":{"S":"Finished"},"archivedAt":{"S":"1999-12-02T10:00:00.000Z"},"venue":{"S":"Lord's"},"broadcast":{"S":"of others"}}`,
	tables.Devices: `
{"userId":{"S":"u1"},"deviceToken":{"S":"abcd"},"platform":{"S":"ios"},"osVersion":{"S":"17.1"},"locale":{"S":"en"}}`,
	tables.Follows: `
{"matchId":{"S":"77"},"userId":{"S":"u1"},"teamId":{"N":"10"},"createdAt":{"S":"1999-12-01T09:00:00.000Z"},"muted":{"BOOL":true}}`,
	tables.LiveActivities: `
{"matchId":{"S":"77"},"userId#deviceId":{"S":"u1#d1"},"userId":{"S":"u1"},"updateToken":{"S":"abcd"},"status":{"S":"ended"},"endReason":{"S":"user"}}`,
}

// replaying is the application with recorded matches as its feed.
func replaying() *app.App {
	s := DefaultSettings()
	s.Replay = true
	return build(s, s.openOutside, nil)
}

// Tables of the original stay as they are: two nodes on which a recorded match is played delete and overwrite nothing. What the feed says of
// leagues, teams and seasons otherwise is on the Status page, and a person may have it written: then attributes of others stay.
func TestTableOfTheOriginalStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := nodes.Keep(t, nodes.Options{App: replaying}, seeds)
		reads := ""
		for _, at := range []string{"a", "b"} {
			if status, _ := f.Ask(at, nodes.Boss, "POST", "/cricket/admin/replay/matches", `{"tapeId":"1192877","speed":1}`); status < 300 {
				reads = at
			}
		}
		if reads == "" {
			t.Fatal("no node plays the match")
		}
		f.Pass(20 * time.Minute)
		f.Kept(seeds)
		f.Quiet()
		if live := f.Cloud.Item(tables.Fixtures, attr.Item{"matchId": attr.S("1192877001")}); live["phase"].Str() != "live" {
			t.Fatalf("the match is not read: %v", live)
		}
		page := f.Want(reads, nodes.Boss, "GET", "/_/hub", "")
		for what, want := range map[string]string{
			"leagues": "Leagues: 1 row is not", "teams": "Teams: 2 rows are not", "seasons%20of%20teams": "Seasons of teams: 2 rows are not",
		} {
			if !strings.Contains(page, want) || !strings.Contains(page, `href="/_/recount/cricket/`+what+`"`) {
				t.Errorf("the Status page has no %q: %s", want, page)
			}
		}
		recount(t, f, reads, "teams")
		f.Pass(time.Minute)
		team := f.Cloud.Item(tables.Teams, attr.Item{"teamId": attr.S("8085574")})
		if team["name"].Str() != "Sri Lanka" || team["code"].Str() != "SL" || team["primaryColor"].Str() != "#0A2351" {
			t.Errorf("after a person had it recounted: %v", team)
		}
		if page := f.Want(reads, nodes.Boss, "GET", "/_/hub", ""); strings.Contains(page, "Teams: 2 rows are not") {
			t.Errorf("the Status page still has what was recounted: %s", page)
		}
	})
}

var seenRows = regexp.MustCompile(`name="seen" value="([^"]+)"`)

// recount looks at the differences of a kind of rows and has them written.
func recount(t *testing.T, f *nodes.Fleet, at, rows string) {
	t.Helper()
	path := "/_/recount/cricket/" + rows
	found := seenRows.FindStringSubmatch(f.Want(at, nodes.Boss, "GET", path, ""))
	if found == nil {
		t.Fatalf("the page of %s shows no rows", rows)
	}
	form := url.Values{"seen": {found[1]}, "confirm": {"yes"}}
	f.Want(at, nodes.Boss, "POST", path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// A row of the feed that the cloud refuses asks nobody, and takes no change of an admin with it. What an admin has written is decided by a person.
func TestRefusedRowsOfTheFeed(t *testing.T) {
	rows := table.Handle{Table: tables.Teams, PK: "teamId"}
	key := attr.Item{"teamId": attr.S("10")}
	write := func(w store.WriteItem) table.Refused { return table.Refused{Key: key, Again: []store.WriteItem{w}} }
	fed := write(rows.Create(attr.Item{"teamId": attr.S("10"), "name": attr.S("England"), derived.By: attr.S("x")}))
	changed := write(rows.Update(key, "SET "+derived.By+" = :by, #name = :name", table.If{}))
	admin := write(rows.Update(key, "SET #name = :name ADD #adminFields :names", table.If{}))
	removed := write(rows.Drop(key))
	type list = []table.Refused
	for name, tt := range map[string]struct {
		all, behind list
		again       int
		decided     bool
	}{
		"a new row":                        {list{fed}, nil, 0, true},
		"a changed row":                    {list{changed}, list{changed}, 0, true},
		"a new row with an admin's change": {list{fed}, list{changed, admin}, 1, true},
		"a new row that is deleted":        {list{fed}, list{removed}, 0, false},
		"an admin's change":                {list{admin}, list{changed}, 0, false},
	} {
		if writes, ok := mergeFed(tt.all, tt.behind, nil); len(writes) != tt.again || ok != tt.decided {
			t.Errorf("%s: %d writes, decided %t", name, len(writes), ok)
		}
	}
}
