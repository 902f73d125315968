package scorekeeper

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Conversion reports the result of converting an anonymous session to an account.
type Conversion struct {
	Converted int      `json:"converted"`             // games of the account that were added or changed
	Conflicts int      `json:"conflicts_resolved"`    // days on which both had a game
	Dates     []string `json:"puzzle_dates_affected"` // days of the converted games
}

// IsSession reports whether text is the ID of an anonymous session: a lower-case UUID, which no account has as its ID.
func IsSession(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// Convert moves the games of a session to an account. Each game moves in its own transaction, so that a refusal of one day leaves the others
// alone. If both have played on a day, the game that began first stays. A marker row records the account: ConsumeRecords merges what the session plays
// afterwards, and what it played at nodes that did not know of the conversion, into the account's games.
func (s *Service) Convert(tx *store.Tx, account, session string) (Conversion, error) {
	out := Conversion{Dates: []string{}}
	if !IsSession(session) || session == account {
		return out, badRequest("Invalid session_id: must be a valid UUID")
	}
	for { // until no game is left: removing a game may uncover a skOldGame row of the same day
		p := s.plan(tx)
		games := p.games(session)
		if p.Err() != nil || len(games) == 0 {
			return out, p.Err()
		}
		late, err := s.become(tx, account, session)
		if err != nil {
			return out, err
		}
		for i := range games {
			writes, err := s.move(account, &games[i], late, nil, s.reader(tx), &out)
			if err == nil {
				err = tx.TransactWrite(store.TransactWrite{Items: writes}) // refused if the game has no guesses: it stays
			}
			if err != nil {
				return out, err
			}
		}
	}
}

// IsConverted reports whether a session's games became an account's. Its cookie may still be in a browser that others use.
func (s *Service) IsConverted(tx *store.Tx, session string) (bool, error) {
	marker, err := tx.Get(s.Table, convertedKey(session))
	return marker != nil, err
}

// become records the account in the marker row, unless it is there already: if the cloud refuses a write, later ones of its row go with it.
func (s *Service) become(tx *store.Tx, account, session string) (already bool, err error) {
	marker, err := tx.Get(s.Table, convertedKey(session))
	if already = marker["user_id"].Str() == account; err == nil && !already {
		marker = convertedKey(session)
		marker["user_id"], marker["converted_at"] = attr.S(account), attr.S(tx.Now().UTC().Format(stamp))
		_, err = tx.Put(store.PutItem{Table: s.Table, Item: marker})
	}
	return already, err
}

// move returns the writes that move a session's game to an account, and counts it in out. If both have a game for that day, they are merged
// if late (the session was converted before), or if they are versions of one game, copied by an earlier conversion; otherwise the one that
// began first stays. refused lists what this node saw of that day after the cloud refused an earlier move; it is merged too. g has no guesses
// if another node has moved the game meanwhile. After a refusal, guesses lost with a game that does not stay are reported to the player.
func (s *Service) move(user string, g *Game, late bool, refused []refusal, read reader, out *Conversion) (writes []store.WriteItem, err error) {
	account, err := gameIn(read, user, g.Date)
	row, rowErr := attr.Marshal(g)
	if err != nil || rowErr != nil {
		return nil, cmp.Or(err, rowErr)
	}
	moved, lost := *g, []string(nil)
	moved.PK, moved.SK, moved.UserID = account.PK, skGame, account.UserID
	if len(g.Guesses) > 0 {
		writes = append(writes, s.Remove(row, "guesses", "dropped"))
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
		moved = refused[i].mergeGuesses(&moved, lost, len(g.Guesses) == 0)
	}
	if len(moved.Guesses) > 0 && !moved.equals(&account) {
		out.Converted++
		out.Dates = append(out.Dates, g.Date)
		w, err := s.write(&moved, &account)
		return append(writes, w), err
	}
	return writes, nil
}

// is reports whether two games are versions of the same one. other must have guesses.
func (g *Game) is(other *Game) bool {
	return g.CreatedAt == other.CreatedAt && slices.Contains(g.Guesses, other.Guesses[0])
}

// ConsumeRecords consumes journal records: it drops changed answers from the cache, and moves games of converted sessions, wherever they were played,
// to their account. Games that cannot be moved because another program has written the rows in another form stay where they are.
func (s *Service) ConsumeRecords(tx *store.Tx, records []store.Record) error {
	s.DropChangedAnswers(records)
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
		if account := marker["user_id"].Str(); err == nil && account != "" { // a row of another program in the marker's place names none
			_, err = s.Convert(tx, account, session)
		}
		if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.Invalid) {
			return err
		}
	}
	return nil
}
