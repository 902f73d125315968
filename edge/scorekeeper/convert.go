package scorekeeper

import (
	"slices"

	"github.com/google/uuid"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Conversion is what became of the games of an anonymous session that was converted to an account.
type Conversion struct {
	Converted int      `json:"converted"`             // games that the account has now
	Conflicts int      `json:"conflicts_resolved"`    // days of which both had a game
	Dates     []string `json:"puzzle_dates_affected"` // of the games converted
}

// perTransaction is how many games one transaction moves: two writes each, the marker, and the proof that goes with it.
const perTransaction = 49

// IsSession reports whether a text is the id of an anonymous session: a UUID in lower case, and so never that of an account.
func IsSession(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// Convert moves the games of a session to an account. Of a day that both have played the game that was begun first stays. A row says
// whose the session became, so that a guess that another node still holds for it goes to the account too.
func (s *Service) Convert(tx *store.Tx, account, session string) (Conversion, error) {
	out := Conversion{Dates: []string{}}
	if !IsSession(session) || session == account {
		return out, badRequest("Invalid session_id: must be a valid UUID")
	}
	games, err := s.games(tx, session)
	if err != nil {
		return out, err
	}
	for some := range slices.Chunk(games, perTransaction) {
		marker := convertedKey(session)
		marker["user_id"], marker["converted_at"] = attr.S(account), attr.S(tx.Now().UTC().Format(stamp))
		t := store.TransactWrite{Items: []store.WriteItem{{Put: &store.PutItem{Table: s.Table, Item: marker}}}}
		for i := range some {
			writes, err := s.move(tx, account, &some[i], &out)
			if err != nil {
				return out, err
			}
			t.Items = append(t.Items, writes...)
		}
		if err := tx.TransactWrite(t); err != nil {
			return out, err
		}
	}
	return out, nil
}

// move returns the writes that move a game to an account, and counts them.
func (s *Service) move(tx *store.Tx, account string, g *Game, out *Conversion) ([]store.WriteItem, error) {
	remove := store.WriteItem{Delete: &store.DeleteItem{
		Table: s.Table, Key: key(g.PK, g.SK), Condition: "guesses = :seen", Params: expr.Params{Values: attr.Item{":seen": texts(g.Guesses)}},
	}}
	there, err := s.game(tx, account, g.Date)
	if err != nil {
		return nil, err
	}
	played := len(there.Guesses) > 0
	if played {
		out.Conflicts++
		if there.CreatedAt <= g.CreatedAt {
			return []store.WriteItem{remove}, nil
		}
	}
	moved := *g
	moved.PK, moved.SK, moved.UserID = gamePK(account, g.Date), skGame, account
	item, err := attr.Marshal(moved)
	if err != nil {
		return nil, err
	}
	put := &store.PutItem{Table: s.Table, Item: item, Condition: "attribute_not_exists(pk)"}
	if played && there.SK == skGame {
		put.Condition, put.Values = "guesses = :seen", attr.Item{":seen": texts(there.Guesses)}
	}
	out.Converted++
	out.Dates = append(out.Dates, g.Date)
	return []store.WriteItem{{Put: put}, remove}, nil
}
