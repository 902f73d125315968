package scorekeeper

import (
	"cmp"
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

// IsSession reports whether a text is the id of an anonymous session: a UUID in lower case, and so never that of an account.
func IsSession(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// Convert moves the games of a session to an account, each in a transaction of its own: what becomes of one day says nothing of another. Of
// a day that both have played the game that was begun first stays. A row says whose the session became: what it has played at a node that did
// not know of it, and what it plays from then on, is joined to the account's games (Take).
func (s *Service) Convert(tx *store.Tx, account, session string) (Conversion, error) {
	out := Conversion{Dates: []string{}}
	if !IsSession(session) || session == account {
		return out, badRequest("Invalid session_id: must be a valid UUID")
	}
	for { // until none is left: behind a game an older row of the same day may show
		games, err := s.games(tx, session)
		if err != nil || len(games) == 0 {
			return out, err
		}
		late, err := s.become(tx, account, session)
		if err != nil {
			return out, err
		}
		for i := range games {
			writes, err := s.move(account, &games[i], late, nil, s.reader(tx), &out)
			if err == nil {
				err = tx.TransactWrite(store.TransactWrite{Items: writes})
			}
			if err != nil {
				return out, err
			}
		}
	}
}

// become keeps whose a session became. It is written once: what the cloud refuses of one conversion takes nothing of a later one along.
func (s *Service) become(tx *store.Tx, account, session string) (already bool, err error) {
	marker, err := tx.Get(s.Table, convertedKey(session))
	if already = marker["user_id"].Str() == account; err == nil && !already {
		marker = convertedKey(session)
		marker["user_id"], marker["converted_at"] = attr.S(account), attr.S(tx.Now().UTC().Format(stamp))
		_, err = tx.Put(store.PutItem{Table: s.Table, Item: marker})
	}
	return already, err
}

// move returns the writes that move a game to an account, and counts it. One that is late, and one that came to the account by an earlier
// conversion and has gone on in the session at another node, is joined to the account's game. So is what was seen here of that day behind a
// move that the cloud has refused, also where another node has moved the game, which has no guesses then; if another game stays, its player
// is told.
func (s *Service) move(user string, g *Game, late bool, refused []refusal, read reader, out *Conversion) (writes []store.WriteItem, err error) {
	account, err := gameIn(read, user, g.Date)
	row, bad := attr.Marshal(g)
	if err != nil || bad != nil {
		return nil, cmp.Or(err, bad)
	}
	moved, lost := *g, []string(nil)
	moved.PK, moved.SK, moved.UserID = account.PK, skGame, account.UserID
	if len(g.Guesses) > 0 {
		writes = append(writes, table.Delete(s.Table, key(g.PK, g.SK), table.Same(row, "pk", "guesses", "dropped")))
	}
	switch {
	case len(g.Guesses) == 0:
		moved = account
	case len(account.Guesses) == 0:
	case late || g.is(&account):
		moved = Merge(&moved, &account)
	default:
		out.Conflicts++
		lost = g.Guesses
		if g.CreatedAt < account.CreatedAt {
			lost = account.Guesses
			moved.Dropped = slices.Clone(account.Dropped)
			moved.drop(g.Dropped)
		} else {
			moved = account
		}
		if refused != nil {
			moved.drop(slices.Concat(lost, g.Dropped))
		}
	}
	for i := range refused {
		moved = refused[i].joined(&moved, lost, len(g.Guesses) == 0)
	}
	if len(moved.Guesses) > 0 && !moved.same(&account) {
		out.Converted++
		out.Dates = append(out.Dates, g.Date)
		w, err := s.write(&moved, &account)
		return append(writes, w), err
	}
	return writes, nil
}

// is reports whether a game is another image of one that has guesses.
func (g *Game) is(other *Game) bool {
	return g.CreatedAt == other.CreatedAt && slices.Contains(g.Guesses, other.Guesses[0])
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
		session, _, played := playedBy(r.Key)
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
