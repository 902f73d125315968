package intent

import "github.com/touchline/touchline/store"

// Follow applies the outcome of an entry that has left the outbox to the later entries on its item: those behind a create
// learn the life that it has begun, those of policy newest come after it. Now is the item's base by then. Tail comes
// before it, and what the tail has taken is not in later. It gives those it has changed.
func Follow(e *Entry, o Outcome, now Known, later []*Entry, env Env) (changed []*Entry) {
	life := lifeOf(now)
	shown, seen := e.shownBy(o, env.Node)
	ended := now.Item == nil || o.Code == CodeTombstone || o.Result == OutApplied && !e.Shown(now.Side, env.Node)
	switch {
	case ended && seen: // where it was applied, whatever has become of that before the answer was taken
		life = lifeOf(shown)
	case e.creates() && ended: // what it began
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

// shownBy returns the image of an answer that shows that the entry was applied to it.
func (e *Entry) shownBy(o Outcome, node string) (image Known, ok bool) {
	for _, k := range o.Known {
		if k != nil && k.Item != nil && e.Shown(k.Side, node) {
			return *k, true
		}
	}
	return image, false
}

// follow is Follow for one later entry.
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
		e.Life = life // the label that the entry before has set
	default:
		return changed
	}
	return true
}

// Rebase applies a base that a feed or a read has changed to the pending entries of an item. It returns those it has
// changed: an update, never sent, of an item that has come to the end of its TTL becomes the create of the whole view.
func Rebase(before, after Known, pending []*Entry, env Env) (changed []*Entry) {
	if after.Item != nil || before.Item == nil {
		return nil
	}
	for i, e := range pending {
		if e.aside() {
			continue
		}
		if e.Sent > 0 || e.Behind != 0 || !e.Life.on(before.Item, before.Side) || !e.revive(before, env) {
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

// Shown reports whether an image proves that the entry was applied: it carries the entry's exact mark.
func (e *Entry) Shown(side Sidecar, node string) bool {
	return e.Sent > 0 && side.Marks[node].Equal(e.Mark())
}
