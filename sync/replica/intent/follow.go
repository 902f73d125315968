package intent

import "github.com/touchline/touchline/store"

// Follow applies the outcome of an entry that has left the outbox to the later entries on its item. Those behind a create learn the
// life it began; those of policy newest get later stamps. now is the item's base by then. Call Tail first: later must not contain
// what the tail took. Follow returns the entries it changed.
func Follow(e *Entry, o Outcome, now Known, later []*Entry, env Env) (changed []*Entry) {
	life := lifeOf(now)
	shown, seen := e.shownBy(o, env.Node)
	ended := now.Item == nil || o.Code == CodeTombstone || o.Result == OutApplied && !e.IsProvedBy(now.Side, env.Node)
	switch {
	case ended && seen: // it was applied, whatever has become of the item before the answer was taken
		life = lifeOf(shown)
	case e.creates() && ended: // the life it began
		life = Life{Kind: LifeOurs, ID: e.lifeID(env.Node)}
	case now.Item == nil:
		life = e.Life
	}
	for _, l := range later {
		if l.follow(e, o.Result == OutApplied, life) {
			changed = append(changed, l)
		}
	}
	return changed
}

// shownBy returns the image of an answer that shows that the entry was applied.
func (e *Entry) shownBy(o Outcome, node string) (image Known, ok bool) {
	for _, k := range o.Known {
		if k != nil && k.Item != nil && e.IsProvedBy(k.Side, node) {
			return *k, true
		}
	}
	return image, false
}

// follow does Follow's work for one later entry.
func (e *Entry) follow(before *Entry, applied bool, life Life) (changed bool) {
	if before.Stamp != 0 && e.Sent == 0 && e.Stamp != 0 && e.Stamp <= before.Stamp {
		e.Stamp, changed = before.Stamp+1, true
	}
	switch {
	case e.Behind == before.Seq && e.Behind != 0:
		e.Life, e.Behind = life, 0
	case !applied || e.Sent > 0 || e.Behind != 0 || e.Life.Kind == LifeNone:
		return changed
	case before.From != "" && e.Life.ID == before.From:
		e.Life = life
	case before.Op != store.OpDelete && e.Life == (Life{Kind: LifeForeign}) && life.Kind == LifeForeign && life.ID != "":
		e.Life = life // the label that the earlier entry has set
	default:
		return changed
	}
	return true
}

// Rebase applies a base changed by a feed or a read to an item's pending entries, and returns the entries it changed. If the TTL has
// ended the item, an update that was never sent becomes a create of the whole view.
func Rebase(before, after Known, pending []*Entry, env Env) (changed []*Entry) {
	if after.Item != nil || before.Item == nil {
		return nil
	}
	for i, e := range pending {
		if e.isQuarantined() {
			continue
		}
		if e.Sent > 0 || e.Behind != 0 || !e.Life.matches(before.Item, before.Side) || !e.revive(before, env) {
			return nil
		}
		changed = append(changed, e)
		for _, l := range pending[i+1:] {
			if l.Behind == 0 && l.Life.ID == e.From && l.Life.Kind != LifeNone && l.Sent == 0 {
				l.Life, l.Behind = Life{Kind: LifeOurs}, e.Seq
				changed = append(changed, l)
			}
		}
		return changed
	}
	return nil
}

// IsProvedBy reports whether an image proves that the entry was applied: it carries the entry's exact mark.
func (e *Entry) IsProvedBy(side Sidecar, node string) bool {
	return e.Sent > 0 && side.Marks[node].Equal(e.Mark())
}
