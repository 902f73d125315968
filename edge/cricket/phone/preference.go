package phone

import (
	"time"
	_ "time/tzdata" // a machine without time zones must know a user's night too

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// AlertChoice says which alerts reach a phone that shows no Live Activity of the match, as ordinary notifications. A card has its alerts
// by itself: nothing is sent twice.
type AlertChoice string

// The choices. Who has chosen nothing gets AlertsWickets.
const (
	AlertsOff     AlertChoice = "off"
	AlertsResults AlertChoice = "results"
	AlertsWickets AlertChoice = "wickets_and_results"
	AlertsAll     AlertChoice = "all"
)

// AlertChoices lists the choices.
func AlertChoices() []string {
	return []string{string(AlertsOff), string(AlertsResults), string(AlertsWickets), string(AlertsAll)}
}

// Preference is a user's choice of alerts, and the hours in which nothing lights up the phone: at From, until To, in the user's time zone.
// It is kept in the rows of the user's devices.
type Preference struct {
	Alerts    AlertChoice `dynamodbav:"alerts,omitempty" json:"alerts"`
	QuietFrom string      `dynamodbav:"quietFrom,omitempty" json:"quietFrom,omitempty"` // "22:00"; empty: no quiet hours
	QuietTo   string      `dynamodbav:"quietTo,omitempty" json:"quietTo,omitempty"`
	TimeZone  string      `dynamodbav:"quietZone,omitempty" json:"timeZone,omitempty"` // "Asia/Kolkata"
}

// clockTime is the format of the bounds of quiet hours.
const clockTime = "15:04"

// Check returns an error unless the preference can be stored.
func (p *Preference) Check() error {
	switch p.Alerts {
	case "", AlertsOff, AlertsResults, AlertsWickets, AlertsAll:
	default:
		return fault.New(fault.Invalid, "validation", "alerts is none of the choices")
	}
	if p.QuietFrom == "" && p.QuietTo == "" && p.TimeZone == "" {
		return nil
	}
	for _, text := range []string{p.QuietFrom, p.QuietTo} {
		if _, err := time.Parse(clockTime, text); err != nil || len(text) != len(clockTime) {
			return fault.New(fault.Invalid, "validation", "quietFrom and quietTo must be times of day such as 22:00 and 06:30")
		}
	}
	if _, err := time.LoadLocation(p.TimeZone); err != nil || p.TimeZone == "" || p.TimeZone == "Local" {
		return fault.New(fault.Invalid, "validation", "timeZone must be the zone of the quiet hours, such as Asia/Kolkata")
	}
	return nil
}

// Wants reports whether a phone without a card is told of a kind of news.
func (p *Preference) Wants(news cricket.News) bool {
	switch p.Alerts {
	case AlertsOff:
		return false
	case AlertsResults:
		return news == cricket.NewsResult
	case AlertsAll:
		return true
	default:
		return news == cricket.NewsResult || news == cricket.NewsWicket
	}
}

// Quiet reports whether a time is in the quiet hours.
func (p *Preference) Quiet(now time.Time) bool {
	if p.QuietFrom == "" || p.QuietFrom == p.QuietTo {
		return false
	}
	zone, err := time.LoadLocation(p.TimeZone)
	if err != nil {
		return false // written by another program
	}
	at := now.In(zone).Format(clockTime)
	if p.QuietFrom < p.QuietTo {
		return p.QuietFrom <= at && at < p.QuietTo
	}
	return at >= p.QuietFrom || at < p.QuietTo // over midnight
}

// SetPreference stores a user's preference in the rows of all their devices. NotFound if the user has none.
func (ds Devices) SetPreference(tx *store.Tx, userID string, p Preference) error {
	if err := p.Check(); err != nil {
		return err
	}
	all, err := ds.OfUser(tx, userID)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return noDevice()
	}
	for i := range all {
		if err := all[i].prefer(tx, p); err != nil {
			return err
		}
	}
	return nil
}

// prefer stores a preference in the row of a device.
func (d *Device) prefer(tx *store.Tx, p Preference) error {
	set, remove := "", ""
	values := attr.Item{}
	for _, f := range []struct{ name, value string }{
		{"alerts", string(p.Alerts)}, {"quietFrom", p.QuietFrom}, {"quietTo", p.QuietTo}, {"quietZone", p.TimeZone},
	} {
		if f.value == "" {
			remove += ", " + f.name
			continue
		}
		set += ", " + f.name + " = :" + f.name
		values[":"+f.name] = attr.S(f.value)
	}
	update := expr.Clauses{}
	if set != "" {
		update.Set = set[2:]
	}
	if remove != "" {
		update.Remove = remove[2:]
	}
	_, err := tx.Update(store.UpdateItem{
		Table: tables.Devices, Key: deviceKey(d.UserID, d.DeviceToken), Update: update.String(),
		Condition: "attribute_exists(userId)", Params: expr.Params{Values: values},
	})
	return tables.Unless(err)
}

// PreferenceOf returns a user's preference. NotFound if the user has no device.
func (ds Devices) PreferenceOf(tx *store.Tx, userID string) (Preference, error) {
	d, err := ds.Latest(tx, userID)
	if err != nil {
		return Preference{}, err
	}
	if d.Alerts == "" {
		d.Alerts = AlertsWickets
	}
	return d.Preference, nil
}
