package pickem

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/table"
)

// isComputed reports whether the node itself made a write: a part of a scoring, or the lock of a due event.
func isComputed(r *table.Refused) bool {
	update := r.Updates()
	return strings.HasPrefix(r.Key["SK"].Str(), prefixStandings) || strings.HasPrefix(update, setMark) || strings.HasPrefix(update, setLock) ||
		strings.HasPrefix(update, setScored) || derived.IsUpdate(update) || strings.HasPrefix(update, setPoints) && userOf(r.Key) != ""
}

// SendBy returns the time until which a write may first be sent to the cloud, given its key and what it puts or how it updates. Picks were
// accepted before the lock, and may be sent until lockSettles after it. The lock of an event that is not due by the cloud's clock, which this
// machine had not heard when it locked, is never sent. Other writes may be sent at any time: the time is zero.
func (s *Service) SendBy(tx *store.Tx, key, item attr.Item, update string) (by time.Time, err error) {
	event, ok := strings.CutPrefix(key["SK"].Str(), prefixEvent)
	pick, lock := userOf(key) != "" && (item != nil || strings.HasPrefix(update, setPicks)), strings.HasPrefix(update, setLock)
	if !ok || !pick && !lock {
		return by, nil
	}
	it, err := tx.Get(s.Table, eventKey(event))
	if err != nil || it == nil {
		return by, err
	}
	e, err := eventOf(it)
	switch {
	case err != nil: // the cloud decides by the event's state
	case pick:
		by = e.LockAt.Add(lockSettles)
	case s.now(tx).Before(e.LockAt):
		by = time.Unix(0, 0)
	}
	return by, nil //nolint:nilerr // see above
}

// Secret reports whether an item contains picks that others may not see yet.
func (s *Service) Secret(tx *store.Tx, key attr.Item) (bool, error) {
	event, ok := strings.CutPrefix(key["SK"].Str(), prefixEvent)
	if !ok || userOf(key) == "" {
		return false, nil
	}
	p := s.plan(tx)
	return !p.open(event), p.Err()
}

// Merge decides about a transaction that the cloud refused (all), and about the later writes that went with it (tail). It returns the writes
// that take their place; if ok is false, a person decides.
//
//	points, standings, the mark of a scoring     drop: they are computed again once the cloud's rows are here
//	lock of a due event                          drop: the event is locked elsewhere, or its start was moved
//	first picks, but another node's came first   merge by match; of two picks for one match the later one counts
//	picks not sent within a minute of the lock   not counted, whatever the cloud has; the user is told by a note
//	other picks                                  the event was locked: not counted, with a note
//	a note of picks that were not counted        write it again: it is true whatever the cloud has
//	an admin's lock of an event that is locked   drop
//	a match that is the same in the cloud        drop: one form reached two nodes
//
// read returns another row as it is here.
func (s *Service) Merge(all, tail []table.Refused, read func(key attr.Item) (attr.Item, error)) (writes []store.WriteItem, ok bool) {
	byPerson := func(r table.Refused) bool { return !isComputed(&r) }
	later := slices.ContainsFunc(tail, byPerson)
	if !slices.ContainsFunc(all, byPerson) {
		return nil, !later
	}
	it := &all[0]
	event, isEvent := strings.CutPrefix(it.Key["SK"].Str(), prefixEvent)
	user := userOf(it.Key)
	switch {
	case len(all) != 1:
		return nil, false
	case strings.HasPrefix(it.Key["SK"].Str(), prefixLate):
		return it.Again, len(tail) == 0
	case !isEvent:
		return nil, it.Remote != nil && it.Base == nil && attr.EqualItems(it.View, it.Remote) && userOf(it.Key) == "" && !later
	case user == "":
		lock := it.Base["name"].Equal(it.View["name"]) && it.Base["startsAt"].Equal(it.View["startsAt"])
		return nil, lock && isLocked(it.Remote) && isLocked(it.View) && !later
	}
	row, err := read(eventKey(event))
	picks, at := map[string]*int{}, "" // from the writes: View lacks picks made once another node's row had arrived here
	for _, r := range append([]table.Refused{*it}, tail...) {
		if attr.EqualItems(r.Key, it.Key) && r.Again[0].Delete == nil {
			at = max(at, addPicks(&r, event, picks))
		}
	}
	switch {
	case err != nil:
		return nil, false
	case !it.Late && it.Base == nil && it.Remote != nil && it.View != nil && !isLocked(row):
		return s.mergePicks(user, event, it.Remote, picks, at)
	}
	var late []string
	for match := range picks {
		late = append(late, match+" "+at)
	}
	members, err := attr.SS(late...)
	note := attr.Item{":type": attr.S("notcounted"), ":picks": members}
	return []store.WriteItem{s.Update(lateKey(user, event), "SET #type = :type ADD picks :picks", table.IfTrue("", note))}, err == nil
}

// mergePicks merges picks of a refused first row, and of the writes behind it, into another node's row.
func (s *Service) mergePicks(user, event string, remote attr.Item, ours map[string]*int, at string) (writes []store.WriteItem, ok bool) {
	theirs, err := predictionOf(remote, event)
	if err != nil {
		return nil, false
	}
	theirAt := remote["updatedAt"].Str()
	for match, pick := range ours {
		if other, is := theirs.Picks[match]; is && at <= theirAt || !is && pick == nil || is && pick != nil && other == *pick {
			delete(ours, match)
		}
	}
	if len(ours) == 0 || len(ours) > MaxMatches {
		return nil, len(ours) == 0
	}
	moment, _ := time.Parse(stamp, max(at, theirAt))
	return []store.WriteItem{s.isOpen(event), s.change(user, event, ours, moment)}, true
}

// onePick matches the part of an update that sets a pick or, without a value, takes it back.
var onePick = regexp.MustCompile(`predictions\.(#\w+)(?: = (:\w+))?`)

// addPicks adds the picks of a write (see first and change) to picks, and returns the time at which they were made.
func addPicks(r *table.Refused, event string, picks map[string]*int) (at string) {
	again := r.Again[0]
	if again.Put != nil {
		first, _ := predictionOf(again.Put.Item, event) // a row that this program wrote
		for match, pick := range first.Picks {
			picks[match] = &pick
		}
		return again.Put.Item["updatedAt"].Str()
	}
	for _, m := range onePick.FindAllStringSubmatch(r.Updates(), -1) {
		var team *int
		if v, is := again.Update.Values[m[2]]; is {
			team = new(number(v))
		}
		picks[again.Update.Names[m[1]]] = team
	}
	for _, v := range again.Update.Values { // the time is the only string: teams are numbers
		at = max(at, v.Str())
	}
	return at
}
