package replay

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The lists have what the matches refer to, each record once. A squad has the players of the line-up, with the same ids.
func TestReferenceLists(t *testing.T) {
	d, _ := newSetAt(t)
	start(t, d, StartReplay{RecordingID: "1144530"})
	start(t, d, StartReplay{RecordingID: "1144528"}) // the same tournament, New Zealand again
	get := func(path string, into any) int {
		t.Helper()
		w := httptest.NewRecorder()
		d.ServeHTTP(w, httptest.NewRequest(http.MethodGet, prefix+path, http.NoBody))
		if w.Code == http.StatusOK {
			if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
				t.Fatalf("%s: %v in %s", path, err, w.Body)
			}
		}
		return w.Code
	}
	type list struct {
		Data []struct {
			ID       int64
			Name     string
			Resource string
		}
		Meta struct{ Total int }
	}
	var match struct {
		Data []struct {
			LeagueID int64 `json:"league_id"`
			SeasonID int64 `json:"season_id"`
			TeamID   int64 `json:"localteam_id"`
			Lineup   []struct {
				ID     int64
				Lineup struct {
					TeamID int64 `json:"team_id"`
				}
			}
		}
	}
	get("/fixtures?api_token=t&include=lineup", &match)
	if len(match.Data) != 2 {
		t.Fatalf("%d matches", len(match.Data))
	}
	m := match.Data[0]
	for _, tt := range []struct {
		path, resource string
		n              int
		has            int64
	}{
		{"/leagues", "leagues", 1, m.LeagueID}, {"/seasons", "seasons", 1, m.SeasonID}, {"/teams", "teams", 3, m.TeamID},
	} {
		var got list
		get(tt.path+"?api_token=t", &got)
		found := false
		for _, row := range got.Data {
			found = found || row.ID == tt.has
			if row.Resource != tt.resource || row.Name == "" {
				t.Errorf("%s has %+v", tt.path, row)
			}
		}
		if len(got.Data) != tt.n || got.Meta.Total != tt.n || !found {
			t.Errorf("%s: %+v, want %d with %d among them", tt.path, got, tt.n, tt.has)
		}
		if get(tt.path+"?api_token=t&page=2", &got); len(got.Data) != 0 {
			t.Errorf("%s: %d on the second page", tt.path, len(got.Data))
		}
		if code := get(tt.path+"?api_token=t&page=x", &got); code != http.StatusBadRequest {
			t.Errorf("%s: page x is %d", tt.path, code)
		}
	}
	var squad struct {
		Data struct {
			ID    int64
			Squad []struct {
				ID    int64
				Squad struct {
					SeasonID int64 `json:"season_id"`
				}
			}
		}
	}
	get(fmt.Sprintf("/teams/%d/squad/%d?api_token=t", m.TeamID, m.SeasonID), &squad)
	var side []int64
	for _, p := range m.Lineup {
		if p.Lineup.TeamID == m.TeamID {
			side = append(side, p.ID)
		}
	}
	if len(side) < 11 || len(squad.Data.Squad) != len(side) || squad.Data.ID != m.TeamID {
		t.Fatalf("a squad of %d, a line-up of %d", len(squad.Data.Squad), len(side))
	}
	for i, p := range squad.Data.Squad {
		if p.ID != side[i] || p.Squad.SeasonID != m.SeasonID {
			t.Errorf("player %d of the squad is %+v", i, p)
		}
	}
	if code := get(fmt.Sprintf("/teams/%d/squad/1?api_token=t", m.TeamID), &squad); code != http.StatusNotFound {
		t.Errorf("another season is %d", code)
	}
}
