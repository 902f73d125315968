package cricket

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// EventType is the kind of an event, named as in the event catalogue.
type EventType string

// The event types.
const (
	EventMatchStart       EventType = "match_start"
	EventToss             EventType = "toss"
	EventLineup           EventType = "lineup"
	EventDelayed          EventType = "delayed"
	EventPostponed        EventType = "postponed"
	EventCancelled        EventType = "cancelled"
	EventWicket           EventType = "wicket"
	EventHatTrick         EventType = "hat_trick"
	EventOnHatTrick       EventType = "on_hat_trick"
	EventFiveFor          EventType = "five_for"
	EventTenFor           EventType = "ten_for"
	EventSix              EventType = "six"
	EventFour             EventType = "four"
	EventConsecutiveSixes EventType = "consecutive_sixes"
	EventFifty            EventType = "fifty"
	EventHundred          EventType = "hundred"
	EventHundred50        EventType = "hundred_fifty"
	EventTwoHundred       EventType = "two_hundred"
	Event250              EventType = "two_hundred_fifty"
	Event300              EventType = "three_hundred"
	EventNineties         EventType = "nineties" // only in the banner: it has no key
	EventTeamMilestone    EventType = "team_milestone"
	EventPartnership      EventType = "partnership"
	EventOverEnd          EventType = "over_end"
	EventMaiden           EventType = "maiden"
	EventBowlerOnFire     EventType = "bowler_on_fire"
	EventBatsmanOnFire    EventType = "batsman_on_fire"
	EventNewBatsman       EventType = "new_batsman"
	EventPowerplayEnd     EventType = "powerplay_end"
	EventDrinks           EventType = "drinks"
	EventLunch            EventType = "lunch"
	EventTea              EventType = "tea"
	EventDinner           EventType = "dinner"
	EventStumps           EventType = "stumps"
	EventInterrupted      EventType = "interrupted"
	EventResumed          EventType = "resumed"
	EventTargetRevised    EventType = "target_revised"
	EventInningsEnd       EventType = "innings_end"
	EventFollowOn         EventType = "follow_on"
	EventDeclared         EventType = "declared"
	EventSuperOver        EventType = "super_over_start"
	EventChaseClose       EventType = "chase_close"
	EventResult           EventType = "result"
	EventTie              EventType = "tie"
	EventDraw             EventType = "draw"
	EventNoResult         EventType = "no_result"
	EventAbandoned        EventType = "abandoned"
	EventPlayerOfMatch    EventType = "player_of_match"
	EventCorrection       EventType = "correction"
)

// Details of a result that needs explaining. The type stays result, so that clients wait for one type.
const (
	detailTarget  = "target_reached" // known from the score before the feed says so
	detailAwarded = "awarded"
)

// Event is something that happened in a match. Its Key is derived from the source (innings, over, batter, count), never
// from the poller or the feed's numbers, so that two pollers, a restart and a revision all give the same event the same key.
type Event struct {
	Key     string    `dynamodbav:"eventKey" json:"key"`
	Type    EventType `dynamodbav:"type" json:"type"`
	Text    string    `dynamodbav:"text" json:"text"`
	At      time.Time `dynamodbav:"at" json:"at"` // when it was confirmed
	Innings int       `dynamodbav:"innings" json:"innings"`
	Over    string    `dynamodbav:"over,omitempty" json:"over,omitempty"` // label of the ball, "12.4"
	BallID  int64     `dynamodbav:"ballId,omitempty" json:"ballId,omitempty"`
	Detail  string    `dynamodbav:"detail,omitempty" json:"detail,omitempty"`   // kind of wicket, cause of an innings end, how a result was found
	Alert   bool      `dynamodbav:"alert" json:"alert"`                         // claimed: announced to phones, once
	Dropped string    `dynamodbav:"dropped,omitempty" json:"dropped,omitempty"` // the rule that kept it from being an alert
	Owed    bool      `dynamodbav:"owed,omitempty" json:"-"`                    // an alert that must reach phones, even late
	Told    string    `dynamodbav:"told,omitempty" json:"-"`                    // the text announced to phones, if it differs from Text now
	Instead string    `dynamodbav:"instead,omitempty" json:"-"`                 // of a correction: the corrected event's text, empty if it did not happen
}

// StaleRule is the rule that drops an alert whose news is old.
const StaleRule = "stale"

// News says for whom an event is news: users choose by it which alerts they get without a Live Activity.
type News string

// The kinds of news.
const (
	NewsResult News = "result" // how the match ended, or that it will not begin as planned
	NewsWicket News = "wicket" // wickets, and what ends an innings
	NewsOther  News = "other"
)

// News returns the kind of news that an event is. A correction is of the same kind as what it corrects.
func (e *Event) News() News {
	switch e.Type {
	case EventResult, EventTie, EventDraw, EventNoResult, EventAbandoned, EventDelayed, EventPostponed, EventCancelled:
		return NewsResult
	case EventWicket, EventHatTrick, EventFiveFor, EventTenFor, EventInningsEnd, EventSuperOver:
		return NewsWicket
	}
	if e.Type != EventCorrection {
		return NewsOther
	}
	if family, _ := splitKey(e.FactKey()); family == resultKey {
		return NewsResult
	} else if slices.Contains(familiesOfWickets(), family) {
		return NewsWicket
	}
	return NewsOther
}

func familiesOfWickets() []string {
	return []string{familyWicket, familyHatTrick, familyHaul, familyInningsEnd, familySuperOver, oldBall, oldHatTrick}
}

// FactKey returns the key of what an event is news of. An event and its corrections have the same one: "w:1:3" is that of w:1:3,
// corr:w:1:3 and corr:w:1:3:2.
func (e *Event) FactKey() string {
	if e.Type != EventCorrection {
		return factKey(e)
	}
	key := strings.TrimPrefix(e.Key, correctionPrefix)
	if family, _ := splitKey(key); slices.Contains(familyNames(), family) {
		return key
	}
	i := strings.LastIndexByte(key, ':')
	if i < 0 {
		return key
	}
	if _, err := strconv.Atoi(key[i+1:]); err != nil {
		return key
	}
	return key[:i]
}
