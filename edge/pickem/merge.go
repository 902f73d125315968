package pickem

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// computed reports whether it is of a scoring, or a lock that was due.
func computed(r *table.Refused) bool {
	update := r.Updates()
	return strings.HasPrefix(r.Key["SK"].Str(), prefixStandings) || strings.HasPrefix(update, setMark) || strings.HasPrefix(update, setLock) ||
		strings.HasPrefix(update, setScored) || strings.HasPrefix(update, setPoints) && userOf(r.Key) != ""
}

// SendBy is until when a write may be sent to the cloud for the first time, given its key and what it puts or how it updates: picks
// were taken before the lock, and have until the state says so. A lock that is not due yet, by the clock of a cloud that this machine had
// not heard when it locked, is never sent. Zero: any other may be sent at any time.
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
	switch e := eventOf(it); {
	case pick:
		by = e.LockAt.Add(lockSettles)
	case s.now(tx).Before(e.LockAt):
		by = time.Unix(0, 0)
	}
	return by, nil
}

// Secret reports whether an item has picks that others may not see yet.
func (s *Service) Secret(tx *store.Tx, key attr.Item) (bool, error) {
	event, ok := strings.CutPrefix(key["SK"].Str(), prefixEvent)
	if !ok || userOf(key) == "" {
		return false, nil
	}
	open, err := s.open(tx, event)
	return !open, err
}

// Merge answers for the writes of a transaction that the cloud has refused, with those behind them that go with them. Of everything else a
// person is asked.
//
//	points, standings, the mark of a scoring       dropped: they are counted again when what the cloud has is here
//	a lock that was due                            dropped: the event is locked elsewhere, or its start was moved
//	first row here, another node's in the cloud    picks by match, of one match the later one
//	not sent within a minute behind the lock       not counted, whatever the cloud has
//	a row that the cloud does not have as such     the event was locked: not counted, and the owner is told
//	a note of what was not counted                 written again: it holds whatever the cloud has
//	a person's lock, and the cloud's is locked     dropped
//	a match, and the cloud has it so               dropped: one form reached two nodes
//
// read reads another row, as it is here.
func (s *Service) Merge(all, tail []table.Refused, read func(key attr.Item) (attr.Item, error)) (writes []store.WriteItem, ok bool) {
	byPerson := func(r table.Refused) bool { return !computed(&r) }
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
		return nil, lock && locked(it.Remote) && locked(it.View) && !later
	}
	is, err := read(eventKey(event))
	picks, at := map[string]*int{}, "" // by the writes themselves: what was picked when another's row was here already is not in what was seen
	for _, r := range append([]table.Refused{*it}, tail...) {
		if attr.EqualItems(r.Key, it.Key) && r.Again[0].Delete == nil {
			at = max(at, said(&r, event, picks))
		}
	}
	switch {
	case err != nil:
		return nil, false
	case !it.Late && it.Base == nil && it.Remote != nil && it.View != nil && !locked(is):
		return s.joined(user, event, it.Remote, picks, at)
	}
	var late []string
	for match := range picks {
		late = append(late, match+" "+at)
	}
	members, err := attr.SS(late...)
	note := attr.Item{":type": attr.S("notcounted"), ":picks": members}
	return []store.WriteItem{s.update(lateKey(user, event), "SET #type = :type ADD picks :picks", "", note)}, err == nil
}

// joined adds picks of a first row, with those behind it, to the row of another node.
func (s *Service) joined(user, event string, remote attr.Item, ours map[string]*int, at string) (writes []store.WriteItem, ok bool) {
	theirs, ok := predictionOf(remote, event)
	if !ok {
		return nil, false
	}
	there := remote["updatedAt"].Str()
	for match, pick := range ours {
		if other, is := theirs.Picks[match]; is && at <= there || !is && pick == nil || is && pick != nil && other == *pick {
			delete(ours, match)
		}
	}
	if len(ours) == 0 {
		return nil, true
	}
	moment, _ := time.Parse(stamp, max(at, there))
	return []store.WriteItem{s.isOpen(event), s.change(user, event, ours, moment)}, true
}

// onePick is what an update does with a pick: it sets it, or takes it back.
var onePick = regexp.MustCompile(`predictions\.(#\w+)(?: = (:\w+))?`)

// said adds the picks of a write (first, change) to those before it, and returns when they were made.
func said(r *table.Refused, event string, picks map[string]*int) (at string) {
	again := r.Again[0]
	if again.Put != nil {
		first, _ := predictionOf(again.Put.Item, event)
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
	for _, v := range again.Update.Values { // the teams are numbers, and one text is the time
		at = max(at, v.Str())
	}
	return at
}
