package phone

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Prefixes of tokens in tables.DeviceTokens, by kind: a text registered as two kinds has two entries.
const (
	kindDevice   = "device#"
	kindStart    = "start#"
	kindActivity = "activity#"
)

// tokenEntry records who owns a token: a row of tables.DeviceTokens. A phone belongs to the user who registered it last,
// which the application's tables cannot be asked, because their keys begin with the user. Rows written without Devices or
// Activities have no entry.
type tokenEntry struct {
	Token       string `dynamodbav:"token"` // prefix and token
	UserID      string `dynamodbav:"userId"`
	DeviceToken string `dynamodbav:"deviceToken,omitempty"` // of the device's row
	MatchID     string `dynamodbav:"matchId,omitempty"`     // of the session's row, for an update token
	SessionKey  string `dynamodbav:"sessionKey,omitempty"`
	TTL         int64  `dynamodbav:"ttl,omitempty"` // same as the owning row's
}

func tokenKey(key string) attr.Item { return attr.Item{"token": attr.S(key)} }

// tokenKeys returns the keys of the entries for a device's row.
func (d *Device) tokenKeys() []string {
	keys := []string{kindDevice + strings.ToLower(d.DeviceToken)}
	if d.PushToStartToken != "" {
		keys = append(keys, kindStart+strings.ToLower(d.PushToStartToken))
	}
	return keys
}

// tokenOwner returns the entry of a token; its UserID is empty if there is none.
func tokenOwner(tx *store.Tx, key string) (tokenEntry, error) {
	return tables.Get[tokenEntry](tx, tables.DeviceTokens, tokenKey(key), nil)
}

func (e *tokenEntry) put(tx *store.Tx) error {
	item, err := attr.Marshal(e)
	if err != nil {
		return err
	}
	_, err = tx.Put(store.PutItem{Table: tables.DeviceTokens, Item: item})
	return err
}

// claim makes a row the owner of its tokens. The previous owner's row loses them, and its user the activities on the phone.
func (ds Devices) claim(tx *store.Tx, d *Device) error {
	for _, key := range d.tokenKeys() {
		e, err := tokenOwner(tx, key)
		if err != nil {
			return err
		}
		if e.UserID != "" && (e.UserID != d.UserID || e.DeviceToken != d.DeviceToken) {
			if err := ds.lose(tx, &e, d.UserID); err != nil {
				return err
			}
		}
		e = tokenEntry{Token: key, UserID: d.UserID, DeviceToken: d.DeviceToken, TTL: d.TTL}
		if err := e.put(tx); err != nil {
			return err
		}
	}
	return nil
}

// lose removes a token from the row of its entry; for a device token the row is deleted. If the phone has a new user,
// the old one's activities on it end. They are still on its lock screen, so they are owed an end push.
func (ds Devices) lose(tx *store.Tx, e *tokenEntry, userID string) error {
	all, err := ds.OfUser(tx, e.UserID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(d Device) bool { return d.DeviceToken == e.DeviceToken })
	if i < 0 || !slices.Contains(all[i].tokenKeys(), e.Token) {
		return nil // it has another token by now
	}
	old := &all[i]
	if strings.HasPrefix(e.Token, kindDevice) {
		err = ds.remove(tx, old)
	} else {
		_, err = tx.Update(store.UpdateItem{
			Table: tables.Devices, Key: deviceKey(old.UserID, old.DeviceToken), Update: "REMOVE pushToStartToken, pushToStartAt",
		})
	}
	if err != nil || e.UserID == userID {
		return err
	}
	return Activities{}.endDevice(tx, e.UserID, old.DeviceID, len(all) == 1)
}

// remove deletes the row of a device and its entries.
func (Devices) remove(tx *store.Tx, d *Device) error {
	if _, err := tx.Delete(store.DeleteItem{Table: tables.Devices, Key: deviceKey(d.UserID, d.DeviceToken)}); err != nil {
		return err
	}
	return d.release(tx, d.tokenKeys()...)
}

// release deletes entries of a row, unless they belong to another row by now.
func (d *Device) release(tx *store.Tx, keys ...string) error {
	for _, key := range keys {
		_, err := tx.Delete(store.DeleteItem{
			Table: tables.DeviceTokens, Key: tokenKey(key), Condition: "userId = :u AND deviceToken = :d",
			Params: expr.Params{Values: attr.Item{":u": attr.S(d.UserID), ":d": attr.S(d.DeviceToken)}},
		})
		if tables.Unless(err) != nil {
			return err
		}
	}
	return nil
}

// deleteEntries deletes the entries of a deleted row, except those its successor keeps.
func deleteEntries(tx *store.Tx, old attr.Item, keep ...string) error {
	before := Device{
		UserID: old["userId"].Str(), DeviceToken: old["deviceToken"].Str(), PushToStartToken: old["pushToStartToken"].Str(),
	}
	gone := slices.DeleteFunc(before.tokenKeys(), func(key string) bool { return slices.Contains(keep, key) })
	return before.release(tx, gone...)
}

// updateEntries updates the entries of a changed row; old is nil for a new one.
func (ds Devices) updateEntries(tx *store.Tx, old attr.Item, d *Device) error {
	if old != nil {
		if err := deleteEntries(tx, old, d.tokenKeys()...); err != nil {
			return err
		}
	}
	return ds.claim(tx, d)
}

// endDevice ends a user's sessions, over all matches, on a device that now belongs to another user. only reports
// that it was their only device, so that sessions of an unnamed device are on it.
func (a Activities) endDevice(tx *store.Tx, userID, deviceID string, only bool) error {
	all, err := a.OfUser(tx, userID)
	if err != nil {
		return err
	}
	for i := range all {
		s := &all[i]
		if s.Status == SessionEnded || s.DeviceID != deviceID && !(only && s.DeviceID == UnnamedDevice) {
			continue
		}
		if _, err := a.end(tx, s.MatchID, s.Key, EndTokenInvalid, true); err != nil {
			return err
		}
	}
	return nil
}

// takeToken makes a session the owner of its update token: another user's session loses it.
func (a Activities) takeToken(tx *store.Tx, s *Session) error {
	key := kindActivity + s.UpdateToken
	e, err := tokenOwner(tx, key)
	if err != nil {
		return err
	}
	if e.UserID != "" && e.UserID != s.UserID {
		old, err := a.Get(tx, e.MatchID, e.SessionKey)
		if err == nil && old.UpdateToken == s.UpdateToken {
			err = a.loseToken(tx, &old)
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	e = tokenEntry{Token: key, UserID: s.UserID, MatchID: s.MatchID, SessionKey: s.Key, TTL: s.TTL}
	return e.put(tx)
}

// loseToken ends a session whose token now belongs to another one. Its phone is owed nothing: the activity continues.
func (a Activities) loseToken(tx *store.Tx, s *Session) (err error) {
	if s.Status == SessionEnded {
		_, err = a.RecordEndSent(tx, s)
	} else {
		_, err = a.RecordEnded(tx, s, EndTokenInvalid)
	}
	return err
}

// FillDeviceTokens creates entries for devices registered before there were any. If rows share a token, the most
// recently seen device gets it, and the others lose it as usual.
func FillDeviceTokens(tx *store.Tx) error {
	all, err := tables.Decode[Device](tx, tables.Devices, tx.ScanAll(store.Scan{Table: tables.Devices}))
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b Device) int { return a.LastSeenAt.Compare(b.LastSeenAt) })
	for i := range all {
		if err := (Devices{}).claim(tx, &all[i]); err != nil {
			return err
		}
	}
	return nil
}
