package threefc

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// fileFormat is the version of File.
const fileFormat = 1

// File is an exported season: the rows of its facts, as JSON. It contains no email addresses: players' claims and audits are left out.
type File struct {
	Format   int       `json:"format"`
	SeasonID string    `json:"seasonId"`
	Rows     []FileRow `json:"rows"`
}

// FileRow is a table row with its envelope.
type FileRow struct {
	PK        string          `json:"pk"`
	SK        string          `json:"sk"`
	Entity    string          `json:"entityType"`
	CreatedAt string          `json:"createdAt"`
	UpdatedAt string          `json:"updatedAt"`
	Data      json.RawMessage `json:"data"`
}

// isFiled reports whether a row's entity belongs in a file and matches the row's keys.
func (r *FileRow) isFiled() bool {
	_, id, _ := strings.Cut(r.PK, "#")
	return id != "" && r.Entity != "" && filed[kind(r.PK, r.SK)] == r.Entity
}

// item returns the row as stored in the table.
func (r *FileRow) item() attr.Item {
	row := key(r.PK, r.SK)
	row["entityType"], row["data"] = attr.S(r.Entity), attr.S(string(r.Data))
	row["createdAt"], row["updatedAt"] = attr.S(r.CreatedAt), attr.S(r.UpdatedAt)
	return row
}

// ExportSeason reads a season with its games, rosters and goals.
func (s *Service) ExportSeason(tx *store.Tx, season string) (f File, err error) {
	p := s.plan(tx)
	se := must(p, s.Season, season)
	f = File{Format: fileFormat, SeasonID: season}
	f.take(p.Get(seasonKey(se.LeagueID, season)))
	pks := []string{pkSeason + season}
	for i := 0; i < len(pks); i++ { // pks grows: sessions, their games, the games' players and join codes
		for it := range p.Rows(tx.QueryAll(s.Under(pks[i], ""))) {
			next, err := leads(pks[i], it)
			p.Fail(err)
			if next != "" && !slices.Contains(pks, next) {
				pks = append(pks, next)
			}
			f.take(it)
		}
	}
	return f, p.Err()
}

// leads returns the partition that a row points to, or ""; of is the row's own partition.
func leads(of string, it attr.Item) (pk string, err error) {
	sk := it["sk"].Str()
	switch {
	case strings.HasPrefix(of, pkLeague) && strings.HasPrefix(sk, pkSeason), strings.HasPrefix(of, pkSeason) && strings.HasPrefix(sk, pkSession),
		strings.HasPrefix(of, pkGame) && strings.HasPrefix(sk, pkPlayer):
		return sk, nil
	case strings.HasPrefix(of, pkSession) && strings.HasPrefix(sk, pkGame):
		g, err := decode[sessionGame](it)
		return pkGame + g.GameID, err
	case strings.HasPrefix(of, pkGame) && sk == skMeta:
		if g, err := decode[Game](it); err != nil || g.JoinCode != "" {
			return pkJoin + g.JoinCode, err
		}
	}
	return "", nil
}

func (f *File) take(it attr.Item) {
	r := FileRow{
		PK: it["pk"].Str(), SK: it["sk"].Str(), Entity: it["entityType"].Str(), CreatedAt: it["createdAt"].Str(), UpdatedAt: it["updatedAt"].Str(),
		Data: json.RawMessage(it["data"].Str()),
	}
	if !r.isFiled() {
		return
	}
	if strings.HasPrefix(r.PK, pkPlayer) {
		if p, err := decode[Player](it); err == nil {
			p.ClaimedByUserID = nil
			if clean, err := encode(playerKey(p.PlayerID), p); err == nil {
				r.Data = json.RawMessage(clean["data"].Str())
			}
		}
	}
	f.Rows = append(f.Rows, r)
}

// ImportSeason writes those rows of a file that do not exist yet, and returns their number. Importing a file again changes nothing.
// The league must exist.
func (s *Service) ImportSeason(tx *store.Tx, f *File) (made int, err error) {
	if f.Format != fileFormat {
		return 0, invalid("bad_file", "The file is not in format %d.", fileFormat)
	}
	pks := []string{pkSeason + f.SeasonID}
	for i := range f.Rows {
		r := &f.Rows[i]
		if err := r.check(tx, s, f.SeasonID, pks); err != nil {
			return made, err
		}
		next, err := leads(r.PK, r.item())
		if err != nil {
			return made, invalid("bad_file", "Row %s %s of the file cannot be read.", r.PK, r.SK)
		}
		pks = append(pks, next)
		_, err = tx.Put(*s.Create(r.item()).Put)
		if fault.Is(err, fault.Conflict) {
			continue
		}
		if err != nil {
			return made, err
		}
		made++
	}
	return made, nil
}

// check refuses a row that does not belong to the season: its partition must be one that an earlier row points to.
func (r *FileRow) check(tx *store.Tx, s *Service, season string, pks []string) error {
	var data struct{ SeasonID string }
	league, ofLeague := strings.CutPrefix(r.PK, pkLeague)
	in := slices.Contains(pks, r.PK) || ofLeague && r.SK == pkSeason+season
	if !r.isFiled() || !in || json.Unmarshal(r.Data, &data) != nil || data.SeasonID != "" && data.SeasonID != season {
		return invalid("bad_file", "Row %s %s of the file does not belong to its season.", r.PK, r.SK)
	}
	if ofLeague {
		_, err := s.League(tx, league)
		return err
	}
	return nil
}
