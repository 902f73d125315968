package sportmonks

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/reference"
)

// maxPages bounds a list: a season of every league has a few thousand fixtures.
const maxPages = 100

// eachPage requests page after page until the feed reports no more, or a page has no rows.
func (c *Client) eachPage(ctx context.Context, rq request, each func(*result)) error {
	rq.forget = true
	for page := 1; page <= maxPages; page++ {
		if page > 1 {
			rq.query.Set("page", strconv.Itoa(page))
		}
		r, err := c.read(ctx, rq)
		if err != nil {
			return err
		}
		each(&r)
		if !r.more || r.rows == 0 {
			return nil
		}
	}
	c.oddities.count(OddEndlessPages)
	c.log.Warn("the feed's list has more pages than are read", "endpoint", string(rq.endpoint), "pages", maxPages)
	return nil
}

// Fixtures reads the matches that start in [from, to], page by page, without rows and balls.
func (c *Client) Fixtures(ctx context.Context, from, to time.Time) ([]cricket.Snapshot, error) {
	// The filter takes days and may or may not include the last one: request one day more, then filter here.
	days := from.UTC().Format(time.DateOnly) + "," + to.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	var out []cricket.Snapshot
	err := c.eachPage(ctx, request{endpoint: Fixtures, path: "fixtures", query: url.Values{
		"filter[starts_between]": {days},
		"include":                {includesList},
		"sort":                   {"starting_at"},
		"page":                   {"1"},
	}}, func(r *result) {
		for i := range r.Snapshots {
			if at := r.Snapshots[i].StartsAt; !at.Before(from) && !at.After(to) {
				out = append(out, r.Snapshots[i])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// decodeList decodes a reply whose rows are not matches.
func (c *Client) decodeList(r result, rq *request, body []byte) (result, error) {
	w := &reply{}
	if err := w.envelope(body, func(at int) (int, error) { return rq.rows(w, body, at) }); err != nil {
		return result{}, c.unreadable(rq.endpoint, err)
	}
	c.oddities.add(OddSkippedRecord, len(w.skipped))
	for _, err := range w.skipped {
		r.Skipped = append(r.Skipped, c.clean(badJSON(rq.endpoint, err)))
	}
	r.rows, r.more = w.rows, w.more()
	return r, nil
}

// eachRow calls take with every decoded row of the list at this place, or the single record there. A row that
// cannot be decoded is skipped: it must not affect the others.
func eachRow[W any](r *reply, b []byte, at int, take func(*W)) (end int, err error) {
	row := func(at int) (int, error) {
		end, err := valueEnd(b, at)
		if err != nil {
			return 0, err
		}
		r.rows++
		var w W
		if err := json.Unmarshal(b[at:end], &w); err != nil {
			r.skipped = append(r.skipped, err)
			return end, nil
		}
		take(&w)
		return end, nil
	}
	switch {
	case at >= len(b):
		return 0, errTruncated
	case b[at] == '[':
		return eachElement(b, at, row)
	case b[at] == '{':
		return row(at)
	}
	return valueEnd(b, at)
}

// rowsOf appends the records of a list to out. convert returns false for a record without an id.
func rowsOf[W, R any](out *[]R, convert func(*W) (R, bool)) rowsFunc {
	return func(r *reply, b []byte, at int) (int, error) {
		return eachRow(r, b, at, func(w *W) {
			if record, ok := convert(w); ok {
				*out = append(*out, record)
			} else {
				r.skipped = append(r.skipped, errNoRecordID)
			}
		})
	}
}

// records reads a whole list whose path is the endpoint's name.
func records[W, R any](ctx context.Context, c *Client, name Endpoint, convert func(*W) (R, bool)) (out []R, err error) {
	err = c.list(ctx, name, string(name), rowsOf(&out, convert))
	return out, err
}

// list reads a whole list.
func (c *Client) list(ctx context.Context, name Endpoint, path string, rows rowsFunc) error {
	return c.eachPage(ctx, request{endpoint: name, path: path, query: url.Values{}, rows: rows}, func(*result) {})
}

var errNoRecordID = errors.New("a record without an id")

type wireLeague struct {
	ID        number  `json:"id"`
	SeasonID  number  `json:"season_id"`
	CountryID number  `json:"country_id"`
	Name      text    `json:"name"`
	Code      text    `json:"code"`
	ImagePath text    `json:"image_path"`
	Type      text    `json:"type"`
	UpdatedAt instant `json:"updated_at"`
}

// Leagues reads all leagues of the plan. Active, Marquee and AdminFields are left empty, because they are not the feed's.
func (c *Client) Leagues(ctx context.Context) ([]reference.LeagueRecord, error) {
	return records(ctx, c, Leagues, leagueRecord)
}

func leagueRecord(w *wireLeague) (reference.LeagueRecord, bool) {
	return reference.LeagueRecord{
		LeagueID: optionalID(w.ID), Name: words(w.Name), Code: words(w.Code), Type: words(w.Type),
		ImagePath: string(w.ImagePath), CountryID: optionalID(w.CountryID), SeasonID: optionalID(w.SeasonID),
		UpdatedAt: w.UpdatedAt.Time,
	}, w.ID > 0
}

type wireSeason struct {
	ID       number `json:"id"`
	LeagueID number `json:"league_id"`
	Name     text   `json:"name"`
	Code     text   `json:"code"`
}

// Seasons reads all seasons of all leagues, including past ones.
func (c *Client) Seasons(ctx context.Context) ([]reference.SeasonRecord, error) {
	return records(ctx, c, Seasons, seasonRecord)
}

func seasonRecord(w *wireSeason) (reference.SeasonRecord, bool) {
	return reference.SeasonRecord{
		SeasonID: optionalID(w.ID), LeagueID: optionalID(w.LeagueID), Name: words(w.Name), Code: words(w.Code),
	}, w.ID > 0
}

type wireTeam struct {
	ID           number  `json:"id"`
	Name         text    `json:"name"`
	Code         text    `json:"code"`
	ImagePath    text    `json:"image_path"`
	CountryID    number  `json:"country_id"`
	NationalTeam yes     `json:"national_team"`
	UpdatedAt    instant `json:"updated_at"`
}

// Teams reads all teams of the plan. AdminFields are left empty, because they are not the feed's.
func (c *Client) Teams(ctx context.Context) ([]reference.TeamRecord, error) {
	return records(ctx, c, Teams, teamRecord)
}

func teamRecord(w *wireTeam) (reference.TeamRecord, bool) {
	return reference.TeamRecord{
		TeamID: optionalID(w.ID), Name: words(w.Name), Code: words(w.Code), ImagePath: string(w.ImagePath),
		CountryID: optionalID(w.CountryID), NationalTeam: bool(w.NationalTeam), UpdatedAt: w.UpdatedAt.Time,
	}, w.ID > 0
}

// wireSquad is a row of a squad: the team with its players, or one player of a bare list.
type wireSquad struct {
	squad  []json.RawMessage
	player wireMember
}

type wireMember struct {
	wirePlayer
	Resource     text           `json:"resource"`
	BattingStyle text           `json:"battingstyle"`
	BowlingStyle text           `json:"bowlingstyle"`
	Position     one[wireNamed] `json:"position"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *wireSquad) UnmarshalJSON(b []byte) error {
	squad, err := field(b, 0, `"squad"`)
	if err != nil {
		return err
	}
	// A player of a bare list has a field of that name too, an object: the season of the membership.
	if at := includeStart(squad, 0); len(squad) > 0 && at >= 0 && at < len(squad) {
		_, err := eachElement(squad, at, func(at int) (int, error) {
			end, err := valueEnd(squad, at)
			if err == nil {
				s.squad = append(s.squad, squad[at:end])
			}
			return end, err
		})
		s.player.Resource = "teams"
		return err
	}
	return json.Unmarshal(b, &s.player)
}

// Squad reads the players of a team in a season, both by the feed's numbers. An unknown one is fault.NotFound; a
// season without players has an empty squad.
func (c *Client) Squad(ctx context.Context, teamID, seasonID string) ([]reference.SquadPlayer, error) {
	for _, id := range []string{teamID, seasonID} {
		if n, err := strconv.ParseInt(id, 10, 64); err != nil || n <= 0 || strings.TrimLeft(id, "+0") != id {
			return nil, invalid(CodeBadRequest, "%q is not the id of a team or a season", id)
		}
	}
	var out []reference.SquadPlayer
	err := c.list(ctx, Squads, "teams/"+teamID+"/squad/"+seasonID, squadRows(&out))
	return out, err
}

// squadRows appends the players of a reply to out, each once.
func squadRows(out *[]reference.SquadPlayer) rowsFunc {
	seen := map[number]bool{}
	take := func(r *reply, w *wireMember) {
		switch {
		case w.ID <= 0:
			r.skipped = append(r.skipped, errNoRecordID)
		case !seen[w.ID]:
			seen[w.ID] = true
			*out = append(*out, reference.SquadPlayer{
				ID: idText(w.ID), Name: nameOf(&w.wirePlayer).Full, Position: words(w.Position.value.Name),
				BattingStyle: words(w.BattingStyle), BowlingStyle: words(w.BowlingStyle),
			})
		}
	}
	return func(r *reply, b []byte, at int) (int, error) {
		return eachRow(r, b, at, func(w *wireSquad) {
			if w.player.Resource != "teams" { // a team may have no players yet
				take(r, &w.player)
			}
			for _, raw := range w.squad {
				var m wireMember
				if err := json.Unmarshal(raw, &m); err != nil {
					r.skipped = append(r.skipped, err)
					continue
				}
				take(r, &m)
			}
		})
	}
}

// optionalID returns an id as a key, "" if there is none.
func optionalID(n number) string {
	if n <= 0 {
		return ""
	}
	return idText(n)
}

// LoadScores reads the catalogue of scores, for balls without a score object. It is needed once, at startup; the
// client works without it, and learns from the balls.
func (c *Client) LoadScores(ctx context.Context) error {
	return c.list(ctx, Scores, "scores", scoreRows(c.scores))
}

func scoreRows(s *scores) rowsFunc {
	return func(r *reply, b []byte, at int) (int, error) {
		return eachRow(r, b, at, func(w *wireScore) { s.learn(*w) })
	}
}
