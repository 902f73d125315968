package threefc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// fileFormat is the version of File.
const fileFormat = 1

// File is an exported season: the rows of its facts, as JSON. It contains no email addresses: players' claims and audits are left out.
type File struct {
	Format   int       `json:"format"`
	SeasonID string    `json:"seasonId"`
	Rows     []FileRow `json:"rows"`

	Unreadable []string `json:"unreadable,omitempty"` // rows that the export could not decode and left out, each with the reason
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
	f.addRow(p, p.Get(seasonKey(se.LeagueID, season)))
	pks := []string{pkSeason + season}
	for i := 0; i < len(pks); i++ { // pks grows: sessions, their games, the games' players and join codes
		for it := range p.Rows(tx.QueryAll(s.QueryUnder(pks[i], ""))) {
			next, err := leads(pks[i], it)
			if err == nil && next != "" && !slices.Contains(pks, next) {
				pks = append(pks, next)
			}
			f.addRow(p, it)
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

// addRow adds a row to the file, or to its list of those that cannot be decoded.
func (f *File) addRow(p *plan, it attr.Item) {
	r := FileRow{
		PK: it["pk"].Str(), SK: it["sk"].Str(), Entity: it["entityType"].Str(), CreatedAt: it["createdAt"].Str(), UpdatedAt: it["updatedAt"].Str(),
		Data: json.RawMessage(it["data"].Str()),
	}
	if !r.isFiled() {
		return
	}
	if err := decodable(it); err != nil {
		p.Skip(it, err)
		f.Unreadable = append(f.Unreadable, fmt.Sprintf("%s %s: %v", r.PK, r.SK, err))
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

// decodable returns the error of decoding a row of a kind that a file may hold.
func decodable(row attr.Item) error {
	switch row["entityType"].Str() {
	case "season":
		return decodes[Season](row)
	case "team":
		return decodes[SeasonTeam](row)
	case "session":
		return decodes[Session](row)
	case "sessionGame":
		return decodes[sessionGame](row)
	case "game":
		return decodes[Game](row)
	case "gameTeam":
		return decodes[GameTeam](row)
	case "gamePlayer":
		return decodes[gamePlayer](row)
	case "roster":
		return decodes[Rostered](row)
	case "goal":
		return decodes[Goal](row)
	case "goalEventId":
		return decodes[marker](row)
	case "player":
		return decodes[Player](row)
	case "gameJoinCode":
		return decodes[joinCode](row)
	}
	return fmt.Errorf("a file does not hold rows of %q", row["entityType"].Str())
}

func decodes[T any, P stamped[T]](row attr.Item) error {
	_, err := decode[T, P](row)
	return err
}

// FileError is an error about one row of a file.
type FileError struct {
	Row int // from 0
	Err error
}

// Error implements error.
func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e *FileError) Unwrap() error { return e.Err }

// What one transaction of an import writes at most; a larger row goes alone. Others' writes wait for one such slice, not for the whole file.
const (
	importRows  = 99
	importBytes = 256 << 10
)

// Imported reports what an import did.
type Imported struct {
	Made int `json:"made"` // rows that did not exist yet
	Rows int `json:"rows"` // of the file
}

// ImportSeason writes those rows of a file that do not exist yet. Importing a file again changes nothing. The league must exist. All rows are
// checked before the first is written. They are written in slices: an import that was interrupted is completed by another one, which begins
// where the first one ended. progress, if given, is called after each slice with the bytes of rows that are done and of all.
func (s *Service) ImportSeason(ctx context.Context, db *store.Store, f *File, progress func(done, total int64)) (out Imported, err error) {
	out.Rows = len(f.Rows)
	if err := db.View(ctx, func(tx *store.Tx) error { return s.checkFile(tx, f) }); err != nil {
		return out, err
	}
	var written, total int64
	for i := range f.Rows {
		total += int64(len(f.Rows[i].Data))
	}
	for done := 0; done < len(f.Rows); {
		slice := f.slice(done)
		made, err := s.importSlice(ctx, db, slice)
		if err != nil {
			return out, fmt.Errorf("%d of %d rows were new and are imported; import the file again for the rest: %w", out.Made, out.Rows, err)
		}
		out.Made += made
		done += len(slice)
		for i := range slice {
			written += int64(len(slice[i].Data))
		}
		if progress != nil {
			progress(written, total)
		}
	}
	return out, nil
}

// slice returns the rows from the n-th on that one transaction writes.
func (f *File) slice(n int) []FileRow {
	size, end := 0, n
	for end < len(f.Rows) && end-n < importRows {
		if size += len(f.Rows[end].Data); size > importBytes && end > n {
			break
		}
		end++
	}
	return f.Rows[n:end]
}

// importSlice writes those of the rows that do not exist. If all exist, it does not take the writer.
func (s *Service) importSlice(ctx context.Context, db *store.Store, rows []FileRow) (made int, err error) {
	var missing []attr.Item
	if err := db.View(ctx, func(tx *store.Tx) error {
		p := s.plan(tx)
		for i := range rows {
			if p.Get(key(rows[i].PK, rows[i].SK)) == nil {
				missing = append(missing, rows[i].item())
			}
		}
		return p.Err()
	}); err != nil || len(missing) == 0 {
		return 0, err
	}
	err = db.Update(ctx, func(tx *store.Tx) error {
		made = 0
		for _, row := range missing {
			switch _, err := tx.Put(*s.Create(row).Put); {
			case err == nil:
				made++
			case !fault.Is(err, fault.Conflict): // it may have been created since
				return err
			}
		}
		return nil
	})
	return made, err
}

// checkFile refuses a file with a row that does not belong to its season, or that cannot be decoded.
func (s *Service) checkFile(tx *store.Tx, f *File) error {
	if f.Format != fileFormat {
		return invalid("bad_file", "The file is not in format %d. Nothing was imported.", fileFormat)
	}
	c := fileCheck{s: s, tx: tx, season: f.SeasonID, pks: map[string]bool{pkSeason + f.SeasonID: true}}
	for i := range f.Rows {
		r := &f.Rows[i]
		if err := c.check(r); err != nil {
			return &FileError{i, err}
		}
		next, err := leads(r.PK, r.item())
		if err == nil {
			err = c.owns(next)
		} else {
			err = r.bad(err)
		}
		if err != nil {
			return &FileError{i, err}
		}
		c.pks[next] = true
	}
	return c.checkPlayers(f)
}

func (r *FileRow) bad(why error) error {
	return invalid("bad_file", "Row %s %s of the file cannot be read: %v. Nothing was imported.", r.PK, r.SK, why)
}

// fileCheck checks the rows of a file in order.
type fileCheck struct {
	s      *Service
	tx     *store.Tx
	season string
	league string          // that the first row with one names; "" before it
	pks    map[string]bool // partitions that the season or an earlier row points to
}

// check refuses a row that cannot be decoded, or does not belong to the season and its league: its partition must be one that an earlier row
// points to.
func (c *fileCheck) check(r *FileRow) error {
	league, ofLeague := strings.CutPrefix(r.PK, pkLeague)
	in := c.pks[r.PK] || ofLeague && r.SK == pkSeason+c.season
	if !r.isFiled() || !in {
		return invalid("bad_file", "Row %s %s of the file does not belong to its season. Nothing was imported.", r.PK, r.SK)
	}
	var data struct{ LeagueID, SeasonID, SessionID, GameID string }
	if err := cmp.Or(decodable(r.item()), table.JSON(r.item(), "data", &data)); err != nil {
		return r.bad(err)
	}
	if data.SeasonID != "" && data.SeasonID != c.season {
		return invalid("bad_file", "Row %s %s of the file belongs to the season %s. Nothing was imported.", r.PK, r.SK, data.SeasonID)
	}
	if id, ok := strings.CutPrefix(r.PK, pkGame); ok && data.GameID != "" && data.GameID != id {
		return invalid("bad_file", "Row %s %s of the file belongs to the game %s. Nothing was imported.", r.PK, r.SK, data.GameID)
	}
	if !ofLeague {
		league = ""
	}
	for _, named := range []string{league, data.LeagueID} {
		if err := c.inLeague(r, named); err != nil {
			return err
		}
	}
	if c.league == "" {
		return invalid("bad_file", "Row %s %s of the file comes before the row that names its league. Nothing was imported.", r.PK, r.SK)
	}
	return nil
}

// inLeague refuses a row that names a league that does not exist, or another than the rows before it.
func (c *fileCheck) inLeague(r *FileRow, named string) error {
	switch {
	case named == "" || named == c.league:
		return nil
	case c.league != "":
		return invalid("bad_file", "Row %s %s of the file belongs to the league %s. Nothing was imported.", r.PK, r.SK, named)
	}
	if _, err := c.s.League(c.tx, named); err != nil {
		return err
	}
	c.league = named
	return c.owns(pkSeason + c.season)
}

// owns refuses a season, session or game whose id belongs to another league here: rows of the file would be added to it.
func (c *fileCheck) owns(pk string) error {
	kinds := map[string]string{pkSeason: "season", pkSession: "session", pkGame: "game"}
	prefix := pk[:strings.Index(pk, "#")+1]
	if kinds[prefix] == "" {
		return nil
	}
	season, league, err := c.s.parentIDs(c.tx, Scope{kinds[prefix], strings.TrimPrefix(pk, prefix)})
	if err == nil && (league != "" && league != c.league || season != "" && season != c.season) {
		err = invalid("bad_file", "The %s %s belongs to another league or season here. Nothing was imported.", kinds[prefix], strings.TrimPrefix(pk, prefix))
	}
	return err
}

// checkPlayers refuses a file that brings a player of another league into its games.
func (c *fileCheck) checkPlayers(f *File) error {
	p := c.s.plan(c.tx)
	leagues := map[string]map[string]bool{} // of each player who is here, those in whose games they are
	for it := range p.Rows(p.Tx.ScanAll(store.Scan{Table: p.Table, Prefix: pkGame})) {
		player, ok := strings.CutPrefix(it["sk"].Str(), pkPlayer)
		if !ok {
			continue
		}
		if g := readable[Game](p, key(it["pk"].Str(), skMeta)); g != nil {
			if leagues[player] == nil {
				leagues[player] = map[string]bool{}
			}
			leagues[player][g.LeagueID] = true
		}
	}
	for i := range f.Rows {
		player, ok := strings.CutPrefix(f.Rows[i].SK, pkPlayer)
		if !ok {
			continue
		}
		in := leagues[player]
		foreign := len(in) > 0 && !in[c.league]
		if named := readable[Player](p, playerKey(player)); named != nil && named.LeagueID != "" {
			foreign = named.LeagueID != c.league
		}
		if foreign {
			return &FileError{i, invalid("bad_file", "The player %s belongs to another league here. Nothing was imported.", player)}
		}
	}
	return p.Err()
}
