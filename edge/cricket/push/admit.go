package push

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/phone"
)

// Limits of a device, over all its matches.
const (
	maxCards     = 5         // Live Activities of one app at a time
	surplusEvery = passEvery // how often a match beyond them asks again
)

// admit chooses among a round's pushes those that their devices may have now. The token that starts cards, and the one for ordinary
// alerts, get one push a second over all matches: of matches that begin together, the earlier and more important one goes
// first. A device shows five cards at most.
func (c *Coordinator) admit(jobs []*job, now time.Time) (admitted []*job) {
	var shared []*job // pushes to tokens that matches share
	for _, j := range jobs {
		if j.lane() == "" {
			admitted = append(admitted, j)
		} else {
			shared = append(shared, j)
		}
	}
	if len(shared) == 0 {
		return admitted
	}
	slices.SortStableFunc(shared, func(a, b *job) int { return a.compareImportance(b) })
	maps.DeleteFunc(c.lanes, func(_ string, at time.Time) bool { return now.Sub(at) >= spacing })
	var cards map[string]int
	for _, j := range shared {
		if at, busy := c.lanes[j.lane()]; busy {
			j.match.next = earlier(j.match.next, at.Add(spacing))
			continue
		}
		if j.kind == start {
			if cards == nil {
				cards = c.countCards(now)
			}
			if !j.admitCard(cards, now) {
				continue
			}
		}
		c.lanes[j.lane()] = now
		admitted = append(admitted, j)
	}
	return admitted
}

// lane names the token of a device that several matches push to; empty for a token of one match.
func (j *job) lane() string {
	switch j.kind {
	case start:
		return "start " + j.session.row.Key
	case notify:
		return "alert " + j.session.row.Key
	default:
		return ""
	}
}

// compareImportance orders pushes for one device: alerts as they came, starts by start and importance of the match.
func (j *job) compareImportance(o *job) int {
	if j.alert != nil && o.alert != nil {
		return cmp.Compare(j.alert.no, o.alert.no)
	}
	important := func(m *match) int {
		if m.marquee {
			return 0
		}
		return 1
	}
	return cmp.Or(
		j.match.startsAt.Compare(o.match.startsAt), cmp.Compare(important(j.match), important(o.match)), cmp.Compare(j.match.id, o.match.id),
	)
}

// countCards counts the cards of each device that show or may come.
func (c *Coordinator) countCards(now time.Time) map[string]int {
	cards := map[string]int{}
	for _, m := range c.matches {
		for key, s := range m.sessions {
			if s.holdsCard(now) {
				cards[key]++
			}
		}
	}
	return cards
}

// holdsCard reports whether a session's card is on its phone, or may come.
func (s *session) holdsCard(now time.Time) bool {
	switch s.row.Status {
	case phone.SessionActive:
		return true
	case phone.SessionEnded:
		return s.row.UpdateToken != "" // its end has not been sent yet
	default:
		return !s.missing && !s.tokenDue().IsZero() && now.Before(s.row.StartSentAt.Add(cardLife))
	}
}

// admitCard takes a card from a device's five. Beyond them the session gets ordinary alerts, and asks again later.
func (j *job) admitCard(cards map[string]int, now time.Time) bool {
	s := j.session
	if cards[s.row.Key] >= maxCards {
		s.surplus, s.askAgain = true, now.Add(surplusEvery)
		j.match.dirty = true
		return false
	}
	cards[s.row.Key]++
	s.surplus = false
	return true
}
