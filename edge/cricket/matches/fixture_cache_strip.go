package matches

import (
	"bytes"
	"encoding/json"
	"slices"
)

// rowsOf returns the lists of a reply whose rows may nest players. The line-up is not among them: its rows are the players.
func rowsOf() []string { return []string{"batting", "bowling", "runs", "scoreboards"} }

// withoutPlayers returns a reply without the player objects nested in its rows: rows have their ids, and the
// line-up has each of them once. A reply without any, as this client requests it, is returned unchanged.
func withoutPlayers(raw []byte) []byte {
	if !nestsPlayers(raw) {
		return raw
	}
	var reply map[string]json.RawMessage
	if json.Unmarshal(raw, &reply) != nil {
		return raw
	}
	changed := false
	for _, name := range rowsOf() {
		if !bytes.Contains(reply[name], []byte(`"players"`)) {
			continue
		}
		if rows, ok := barePlayers(reply[name]); ok {
			reply[name], changed = rows, true
		}
	}
	if !changed {
		return raw
	}
	out, err := json.Marshal(reply)
	if err != nil {
		return raw
	}
	return out
}

// nestsPlayers reports whether a reply has attributes that only the include of nested players brings. It saves
// live ticks from decoding replies that need no change.
func nestsPlayers(raw []byte) bool {
	return slices.ContainsFunc([]string{`"batsman"`, `"bowler"`, `"catchstump"`, `"batsmanout"`, `"runoutby"`}, func(name string) bool {
		return bytes.Contains(raw, []byte(name))
	})
}

// barePlayers removes players from the rows of a list, which may be wrapped in an object with "data".
func barePlayers(list json.RawMessage) (json.RawMessage, bool) {
	var wrapped struct {
		Data []map[string]json.RawMessage `json:"data"`
	}
	rows := &wrapped.Data
	bare := json.Unmarshal(list, rows) == nil
	if !bare && json.Unmarshal(list, &wrapped) != nil {
		return nil, false
	}
	for _, row := range *rows {
		for name, value := range row {
			if isPlayer(value) {
				delete(row, name)
			}
		}
	}
	var out []byte
	var err error
	if bare {
		out, err = json.Marshal(*rows)
	} else {
		out, err = json.Marshal(wrapped)
	}
	return out, err == nil
}

func isPlayer(value json.RawMessage) bool {
	if len(value) == 0 || value[0] != '{' {
		return false
	}
	var object struct {
		Resource string          `json:"resource"`
		Data     json.RawMessage `json:"data"`
	}
	if json.Unmarshal(value, &object) != nil {
		return false
	}
	return object.Resource == "players" || len(object.Data) > 0 && isPlayer(object.Data)
}
