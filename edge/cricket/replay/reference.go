package replay

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// record is an object in a list, with its id.
type record struct {
	id   int64
	body []byte
}

// leagues, seasons and teams list those of the matches on the feed.
func (f *feed) leagues(w http.ResponseWriter, r *http.Request) {
	f.records(w, r, "leagues", func(s *static) []record { return []record{{s.leagueID, s.league}} })
}

func (f *feed) seasons(w http.ResponseWriter, r *http.Request) {
	f.records(w, r, "seasons", func(s *static) []record { return []record{{s.seasonID, s.season}} })
}

func (f *feed) teams(w http.ResponseWriter, r *http.Request) {
	f.records(w, r, "teams", func(s *static) []record {
		return []record{{s.teamIDs[0], s.teams[0]}, {s.teamIDs[1], s.teams[1]}}
	})
}

// records answers with a list, each record once, ordered by id.
func (f *feed) records(w http.ResponseWriter, r *http.Request, list string, of func(*static) []record) {
	page, ok := pageOf(w, r.URL.Query())
	if !ok {
		return
	}
	byID := map[int64][]byte{}
	var ids []int64
	for _, s := range f.shows() {
		for _, one := range of(&s.m.static) {
			if byID[one.id] == nil {
				ids = append(ids, one.id)
			}
			byID[one.id] = one.body // of the newest match
		}
	}
	slices.Sort(ids)
	total := len(ids)
	ids = ids[min(total, (page-1)*perPage):min(total, page*perPage)]
	answerWith(w, r, fmt.Sprintf(`"%s-%d-%v"`, list, page, ids), func() [][]byte {
		var e encoder
		e.open("", '{')
		e.open("data", '[')
		for _, id := range ids {
			e.comma()
			e.b = append(e.b, byID[id]...)
		}
		e.b = append(e.b, `],`+paging(list, total, page)+`}`...)
		return [][]byte{e.b}
	})
}

// squad answers with a team and its players of a season: those named in the record of a match.
func (f *feed) squad(w http.ResponseWriter, r *http.Request) {
	for _, s := range slices.Backward(f.shows()) {
		st := &s.m.static
		side := slices.IndexFunc(st.teamIDs[:], func(id int64) bool { return strconv.FormatInt(id, 10) == r.PathValue("id") })
		if side < 0 || strconv.FormatInt(st.seasonID, 10) != r.PathValue("season") {
			continue
		}
		answerWith(w, r, fmt.Sprintf(`"squad-%s-%d"`, s.m.rec.ID, side), func() [][]byte {
			e := encoder{b: []byte(`{"data":`)}
			team := st.teams[side]
			e.b = append(e.b, team[:len(team)-1]...) // reopen the object
			e.open("squad", '[')
			for i := range s.m.rec.Teams[side].Players {
				e.comma()
				e.b = append(e.b, st.players[recording.RefOf(side, i)]...)
				e.open("squad", '{')
				e.id("season_id", st.seasonID)
				e.closeBracket('}')
				e.closeBracket('}')
			}
			e.b = append(e.b, `]}}`...)
			return [][]byte{e.b}
		})
		return
	}
	fail(w, http.StatusNotFound, "No query results for model [Team].")
}
