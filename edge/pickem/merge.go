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

// Merge decides about a transaction that the cloud refused, and about the later writes that went with it (see mergeRules). It returns the writes
// that take their place; if ok is false, a person decides. read returns another row as it is here.
func (s *Service) Merge(all, tail []table.Refused, read func(key attr.Item) (attr.Item, error)) (writes []store.WriteItem, ok bool) {
	return table.Merge(s.mergeRules(), &table.Refusal{Writes: all, Later: tail, Get: read})
}

// mergeRules are tried in order.
func (s *Service) mergeRules() []table.MergeRule {
	return []table.MergeRule{
		{
			Kind:    "Points, standings, the mark of a scoring, the lock of a due event: dropped, they are computed again once the cloud's rows are here.",
			Applies: func(r *table.Refusal) bool { return !byPerson(r.Writes) },
			Resolve: func(r *table.Refusal) ([]store.WriteItem, bool) { return nil, !byPerson(r.Later) },
		},
		{
			Kind:    "Several writes by a person: a person decides.",
			Applies: func(r *table.Refusal) bool { return len(r.Writes) > 1 },
			Resolve: func(*table.Refusal) ([]store.WriteItem, bool) { return nil, false },
		},
		{
			Kind:    "A note of picks that were not counted: written again, it is true whatever the cloud has.",
			Applies: func(r *table.Refusal) bool { return strings.HasPrefix(r.First().Key["SK"].Str(), prefixLate) },
			Resolve: func(r *table.Refusal) ([]store.WriteItem, bool) { return r.First().Again, r.IsAlone() },
		},
		{
			Kind:    "A match that is the same in the cloud: dropped, one form reached two nodes.",
			Applies: func(r *table.Refusal) bool { return eventOfKey(r.First().Key) == "" },
			Resolve: func(r *table.Refusal) ([]store.WriteItem, bool) {
				match := r.First()
				return nil, match.IsTaken() && match.IsThere() && userOf(match.Key) == "" && !byPerson(r.Later)
			},
		},
		{
			Kind:    "An admin's lock of an event that is locked: dropped.",
			Applies: func(r *table.Refusal) bool { return userOf(r.First().Key) == "" },
			Resolve: func(r *table.Refusal) ([]store.WriteItem, bool) {
				return nil, isLockedThere(r.First()) && !byPerson(r.Later)
			},
		},
		{
			Kind:    "First picks, but another node's came first: merged by match; of two picks for one match the later one counts.",
			Applies: picksCameFirst,
			Resolve: s.mergePicks,
		},
		{
			Kind:    "Other picks: the event was locked, or they were not sent within a minute of the lock: not counted, and a note tells the user.",
			Applies: func(*table.Refusal) bool { return true },
			Resolve: s.notePicks,
		},
	}
}

// byPerson reports whether a person made one of the writes.
func byPerson(all []table.Refused) bool {
	return slices.ContainsFunc(all, func(r table.Refused) bool { return !isComputed(&r) })
}

// eventOfKey returns the event of the row of an event or of picks; empty for other rows.
func eventOfKey(key attr.Item) string {
	event, _ := strings.CutPrefix(key["SK"].Str(), prefixEvent)
	if event == key["SK"].Str() {
		return ""
	}
	return event
}

// isLockedThere reports whether a write only locked an event, which the cloud has as locked.
func isLockedThere(r *table.Refused) bool {
	onlyLock := r.Base["name"].Equal(r.View["name"]) && r.Base["startsAt"].Equal(r.View["startsAt"])
	return onlyLock && isLocked(r.Remote) && isLocked(r.View)
}

// picksCameFirst reports whether another node's first picks of an open event came before ours.
func picksCameFirst(r *table.Refusal) bool {
	picks := r.First()
	event, err := r.Get(eventKey(eventOfKey(picks.Key)))
	return err == nil && !picks.Late && picks.IsTaken() && picks.View != nil && !isLocked(event)
}

// refusedPicks returns the picks of all writes that were refused, and when the last was made. It reads the writes, because View lacks picks that
// were made once another node's row had arrived here.
func refusedPicks(r *table.Refusal) (picks map[string]*int, at string) {
	key := r.First().Key
	picks = map[string]*int{}
	for _, write := range r.To(key) {
		if write.Again[0].Delete == nil {
			at = max(at, addPicks(&write, eventOfKey(key), picks))
		}
	}
	return picks, at
}

// notePicks writes a note that the picks were not counted.
func (s *Service) notePicks(r *table.Refusal) ([]store.WriteItem, bool) {
	user, event := userOf(r.First().Key), eventOfKey(r.First().Key)
	if _, err := r.Get(eventKey(event)); err != nil {
		return nil, false
	}
	picks, at := refusedPicks(r)
	var late []string
	for match := range picks {
		late = append(late, match+" "+at)
	}
	members, err := attr.SS(late...)
	note := attr.Item{":type": attr.S("notcounted"), ":picks": members}
	return []store.WriteItem{s.Update(lateKey(user, event), "SET #type = :type ADD picks :picks", table.IfTrue("", note))}, err == nil
}

// mergePicks merges the refused picks into another node's row.
func (s *Service) mergePicks(r *table.Refusal) ([]store.WriteItem, bool) {
	user, event := userOf(r.First().Key), eventOfKey(r.First().Key)
	theirs, err := predictionOf(r.First().Remote, event)
	if err != nil {
		return nil, false
	}
	ours, at := refusedPicks(r)
	theirAt := r.First().Remote["updatedAt"].Str()
	for match, pick := range ours {
		other, both := theirs.Picks[match]
		theirsIsLater := both && at <= theirAt
		nothingToTakeBack := !both && pick == nil
		same := both && pick != nil && other == *pick
		if theirsIsLater || nothingToTakeBack || same {
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
