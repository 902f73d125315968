package scorekeeper

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// Conversion is what became of the games of an anonymous session that was converted to an account.
type Conversion struct {
	Converted int      `json:"converted"`             // games that the account has now
	Conflicts int      `json:"conflicts_resolved"`    // days of which both had a game
	Dates     []string `json:"puzzle_dates_affected"` // of the games converted
}

// perTransaction is how many games one transaction moves: two writes each, and the marker.
const perTransaction = 49

// IsSession reports whether a text is the id of an anonymous session: a UUID in lower case, and so never that of an account.
func IsSession(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// Convert moves the games of a session to an account. Of a day that both have played the game that was begun first stays. A row says
// whose the session became, so that a guess that another node still holds for it goes to the account too (Take).
func (s *Service) Convert(tx *store.Tx, account, session string) (Conversion, error) {
	out := Conversion{Dates: []string{}}
	if !IsSession(session) || session == account {
		return out, badRequest("Invalid session_id: must be a valid UUID")
	}
	marker := convertedKey(session)
	marker["user_id"], marker["converted_at"] = attr.S(account), attr.S(tx.Now().UTC().Format(stamp))
	for { // until none is left: behind a game an older row of the same day may show
		games, err := s.games(tx, session)
		if err != nil || len(games) == 0 {
			return out, err
		}
		writes, err := s.conversion(marker, games[:min(len(games), perTransaction)], nil, s.reader(tx), &out)
		if err == nil {
			err = tx.TransactWrite(store.TransactWrite{Items: writes})
		}
		if err != nil {
			return out, err
		}
	}
}

// conversion returns the writes that move games to the account that a marker names, and counts them. A game that came to the account by
// an earlier conversion, and has gone on in the session at another node, is joined. What the account has guessed in them since, by day, is
// taken out of the map.
func (s *Service) conversion(marker attr.Item, games []Game, since map[string]*Game, read reader, out *Conversion) ([]store.WriteItem, error) {
	writes := []store.WriteItem{table.Put(s.Table, marker, table.If{})}
	for i := range games {
		g := &games[i]
		account, err := gameIn(read, marker["user_id"].Str(), g.Date)
		if err != nil {
			return nil, err
		}
		moved, over := *g, account.Guesses
		moved.PK, moved.SK, moved.UserID = account.PK, skGame, account.UserID
		if account.SK != skGame {
			over = nil
		}
		switch {
		case len(account.Guesses) == 0:
		case account.CreatedAt == g.CreatedAt && slices.Contains(g.Guesses, account.Guesses[0]):
			moved = Merge(&moved, &account)
		default:
			out.Conflicts++
			if account.CreatedAt <= g.CreatedAt {
				moved = account
			}
		}
		if more := since[g.Date]; more != nil {
			moved = Merge(more, &moved)
			delete(since, g.Date)
		}
		if !moved.same(&account) {
			out.Converted++
			out.Dates = append(out.Dates, g.Date)
			put, err := s.put(&moved, over)
			if err != nil {
				return nil, err
			}
			writes = append(writes, put)
		}
		writes = append(writes, table.Delete(s.Table, key(g.PK, g.SK), guessed(g.Guesses)))
	}
	return writes, nil
}

// guessed holds of a game with such guesses.
func guessed(words []string) table.If {
	return table.When("guesses = :seen", attr.Item{":seen": texts(words)})
}

// put is the write of a whole game, where there is none or one with such guesses.
func (s *Service) put(g *Game, over []string) (store.WriteItem, error) {
	row, err := attr.Marshal(g)
	if len(over) > 0 {
		return table.Put(s.Table, row, guessed(over)), err
	}
	return s.create(row), err
}

// create is the write of a row where there is none.
func (s *Service) create(row attr.Item) store.WriteItem {
	return table.Put(s.Table, row, table.Same(nil, "pk"))
}

// Take drops answers that have changed, and moves what a session has played, at whatever node, after it became an account's. What cannot be
// moved, since others have written the rows in another way, stays where it is.
func (s *Service) Take(tx *store.Tx, records []store.Record) error {
	s.Changed(records)
	for i := range records {
		r := &records[i]
		session, _, played := PlayedBy(r.Key)
		if r.Key["sk"].Str() == skConverted {
			session, played = strings.TrimPrefix(r.Key["pk"].Str(), prefixUser), true
		}
		if !played || r.New == nil || !IsSession(session) {
			continue
		}
		marker, err := tx.Get(s.Table, convertedKey(session))
		if err == nil && marker != nil {
			_, err = s.Convert(tx, marker["user_id"].Str(), session)
		}
		if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.Invalid) {
			return err
		}
	}
	return nil
}
