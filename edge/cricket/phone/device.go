package phone

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// deviceLife is how long a device stays registered after it was last seen.
const deviceLife = 90 * 24 * time.Hour

// Device is a phone that may receive pushes.
type Device struct {
	UserID           string    `dynamodbav:"userId" json:"userId"`
	DeviceToken      string    `dynamodbav:"deviceToken" json:"deviceToken"`
	DeviceID         string    `dynamodbav:"deviceId" json:"deviceId"`
	Platform         string    `dynamodbav:"platform" json:"platform"`     // ios
	APNsToken        string    `dynamodbav:"apnsToken,omitempty" json:"-"` // the device token again, under the name that others read
	PushToStartToken string    `dynamodbav:"pushToStartToken,omitempty" json:"pushToStartToken,omitempty"`
	PushToStartAt    time.Time `dynamodbav:"pushToStartAt,omitempty" json:"pushToStartAt,omitzero"` // when that was registered
	OSVersion        string    `dynamodbav:"osVersion,omitempty" json:"osVersion,omitempty"`
	AppVersion       string    `dynamodbav:"appVersion,omitempty" json:"appVersion,omitempty"`
	Environment      string    `dynamodbav:"environment,omitempty" json:"environment,omitempty"`         // of its tokens: EnvironmentDevelopment; empty or another: production
	FrequentUpdates  *bool     `dynamodbav:"frequentUpdates,omitempty" json:"frequentUpdates,omitempty"` // false: the user has switched them off
	LastSeenAt       time.Time `dynamodbav:"lastSeenAt" json:"lastSeenAt"`
	TTL              int64     `dynamodbav:"ttl" json:"-"`

	Preference `json:"-"` // of the user, the same in all rows
}

// The environments of tokens: Apple has a host for each, and neither knows the tokens of the other.
const (
	EnvironmentDevelopment = "development"
	EnvironmentProduction  = "production"
)

// Develops reports whether the device's tokens belong to the development host.
func (d *Device) Develops() bool { return d.Environment == EnvironmentDevelopment }

// RefusesFrequentUpdates reports whether the user has switched frequent updates off.
func (d *Device) RefusesFrequentUpdates() bool {
	return d.FrequentUpdates != nil && !*d.FrequentUpdates
}

// Devices holds the registered devices. The zero value keeps one device per user, as the original application does.
type Devices struct {
	Multi bool // several devices per user: a registration replaces only the same device
}

func deviceKey(userID, token string) attr.Item {
	return attr.Item{"userId": attr.S(userID), "deviceToken": attr.S(token)}
}

func noDevice() error {
	return fault.New(fault.NotFound, "device_not_found", "the device is not registered")
}

// validToken reports an error unless token looks like Apple's: an even number of hex digits, 64 to 200.
func validToken(name, token string) error {
	const digits = "0123456789abcdefABCDEF"
	if len(token) < 64 || len(token) > 200 || len(token)%2 != 0 || strings.Trim(token, digits) != "" {
		return fault.New(fault.Invalid, "validation", "%s is not a hexadecimal token", name)
	}
	return nil
}

// Register stores a device when its app starts. The user's rows for other devices are removed (with Multi, only those of
// the same device with an older token); a known push-to-start token of the device is kept. A phone belongs to the user who
// registered it last: another user's row loses a token that this one registers, and their activities on that phone end.
func (ds Devices) Register(tx *store.Tx, d Device) (Device, error) {
	if err := ds.check(&d); err != nil {
		return Device{}, err
	}
	all, err := ds.OfUser(tx, d.UserID)
	if err != nil {
		return Device{}, err
	}
	var gone []store.ItemRef
	for i := range all {
		o := &all[i]
		if o.Alerts != "" || o.QuietFrom != "" {
			d.Preference = o.Preference // a new phone keeps what its user has chosen
		}
		same := o.DeviceID == d.DeviceID
		if o.DeviceToken == d.DeviceToken || ds.Multi && !same {
			continue
		}
		if same && d.PushToStartToken == "" {
			d.PushToStartToken, d.PushToStartAt = o.PushToStartToken, o.PushToStartAt
		}
		if err := ds.remove(tx, o); err != nil {
			return Device{}, err
		}
		gone = append(gone, store.ItemRef{Table: tables.Devices, Key: deviceKey(o.UserID, o.DeviceToken)})
	}
	return ds.upsert(tx, &d, gone)
}

func (ds Devices) check(d *Device) error {
	switch {
	case d.UserID == "":
		return fault.New(fault.Invalid, "validation", "userId is required")
	case d.Platform != "ios":
		return fault.New(fault.Invalid, "validation", "platform must be ios")
	}
	if err := validToken("deviceToken", d.DeviceToken); err != nil {
		return err
	}
	d.DeviceToken = strings.ToLower(d.DeviceToken)
	if d.DeviceID == "" {
		d.DeviceID = d.DeviceToken // the app sends no id: one device per token
	}
	if d.PushToStartToken != "" {
		if err := validToken("pushToStartToken", d.PushToStartToken); err != nil {
			return err
		}
		d.PushToStartToken = strings.ToLower(d.PushToStartToken)
	}
	return nil
}

// upsert writes the row of a device. The rows that it replaces are deleted in the cloud first, because two rows
// for one phone would mean two starts.
func (ds Devices) upsert(tx *store.Tx, d *Device, inPlaceOf []store.ItemRef) (out Device, err error) {
	now := tx.Now()
	set := []string{"platform = :platform", "deviceId = :device", "lastSeenAt = :now", "#ttl = :ttl", "apnsToken = :token"}
	p := expr.Params{
		Names: map[string]string{"#ttl": "ttl"},
		Values: attr.Item{
			":platform": attr.S(d.Platform), ":device": attr.S(d.DeviceID), ":now": attr.Time(now),
			":ttl": attr.Int(now.Add(deviceLife).Unix()), ":token": attr.S(d.DeviceToken),
		},
	}
	optional := func(name, value string) {
		if value != "" {
			set = append(set, name+" = :"+name)
			p.Values[":"+name] = attr.S(value)
		}
	}
	optional("osVersion", d.OSVersion)
	optional("appVersion", d.AppVersion)
	optional("environment", d.Environment)
	if d.FrequentUpdates != nil {
		set = append(set, "frequentUpdates = :frequent")
		p.Values[":frequent"] = attr.Bool(*d.FrequentUpdates)
	}
	optional("pushToStartToken", d.PushToStartToken)
	optional("alerts", string(d.Alerts))
	optional("quietFrom", d.QuietFrom)
	optional("quietTo", d.QuietTo)
	optional("quietZone", d.TimeZone)
	if d.PushToStartToken != "" {
		at := d.PushToStartAt
		if at.IsZero() {
			at = now
		}
		set = append(set, "pushToStartAt = :at")
		p.Values[":at"] = attr.Time(at)
	}
	images, err := tx.Update(store.UpdateItem{
		Table: tables.Devices, Key: deviceKey(d.UserID, d.DeviceToken), Update: "SET " + strings.Join(set, ", "), Params: p,
		Sending: store.Sending{After: inPlaceOf},
	})
	if err != nil {
		return Device{}, err
	}
	if err := attr.Unmarshal(images.New, &out); err != nil {
		return Device{}, err
	}
	return out, ds.updateEntries(tx, images.Old, &out)
}

// SetPushToStart stores the token that starts Live Activities on a registered device, and counts as seeing the
// device. Another row with that token loses it, as in Register. NotFound if the device is not registered.
func (ds Devices) SetPushToStart(tx *store.Tx, userID, deviceToken, token string) (d Device, err error) {
	if err := validToken("pushToStartToken", token); err != nil {
		return Device{}, err
	}
	images, err := tx.Update(store.UpdateItem{
		Table: tables.Devices, Key: deviceKey(userID, strings.ToLower(deviceToken)),
		Update:    "SET pushToStartToken = :token, pushToStartAt = :now, lastSeenAt = :now, #ttl = :ttl",
		Condition: "attribute_exists(userId)",
		Params: expr.Params{Names: map[string]string{"#ttl": "ttl"}, Values: attr.Item{
			":token": attr.S(strings.ToLower(token)), ":now": attr.Time(tx.Now()),
			":ttl": attr.Int(tx.Now().Add(deviceLife).Unix()),
		}},
	})
	if fault.Is(err, fault.Conflict) {
		return Device{}, noDevice()
	}
	if err != nil {
		return Device{}, err
	}
	if err := attr.Unmarshal(images.New, &d); err != nil {
		return Device{}, err
	}
	return d, ds.updateEntries(tx, images.Old, &d)
}

// DropPushToStart forgets a push-to-start token that Apple has called dead since gone, unless the device has
// registered another one, or the same one again, since then.
func (Devices) DropPushToStart(tx *store.Tx, userID, deviceToken, token string, gone time.Time) error {
	_, err := tx.Update(store.UpdateItem{
		Table: tables.Devices, Key: deviceKey(userID, deviceToken),
		Update:    "REMOVE pushToStartToken, pushToStartAt",
		Condition: "pushToStartToken = :token AND pushToStartAt < :gone",
		Params:    expr.Params{Values: attr.Item{":token": attr.S(token), ":gone": attr.Time(gone)}},
	})
	if err != nil {
		return tables.Unless(err)
	}
	d := Device{UserID: userID, DeviceToken: deviceToken}
	return d.release(tx, kindStart+strings.ToLower(token))
}

// Drop forgets a device whose token Apple has called dead since gone, unless it registered again since then.
func (Devices) Drop(tx *store.Tx, userID, deviceToken string, gone time.Time) error {
	old, err := tx.Delete(store.DeleteItem{
		Table: tables.Devices, Key: deviceKey(userID, deviceToken), Condition: "lastSeenAt < :gone",
		Params: expr.Params{Values: attr.Item{":gone": attr.Time(gone)}},
	})
	if err != nil {
		return tables.Unless(err)
	}
	return deleteEntries(tx, old)
}

// Delete forgets a device; NotFound if it is not registered.
func (Devices) Delete(tx *store.Tx, userID, deviceToken string) error {
	old, err := tx.Delete(store.DeleteItem{Table: tables.Devices, Key: deviceKey(userID, strings.ToLower(deviceToken))})
	if err == nil && old == nil {
		return noDevice()
	}
	if err != nil {
		return err
	}
	return deleteEntries(tx, old)
}

// OfUser lists the devices of a user.
func (Devices) OfUser(tx *store.Tx, userID string) ([]Device, error) {
	return tables.Decode[Device](tx, tables.Devices, tx.QueryAll(store.Query{
		Table: tables.Devices, KeyCondition: "userId = :u", Params: expr.Params{Values: attr.Item{":u": attr.S(userID)}},
	}))
}

// Latest returns the user's most recently seen device; NotFound if there is none.
func (ds Devices) Latest(tx *store.Tx, userID string) (latest Device, err error) {
	all, err := ds.OfUser(tx, userID)
	if err != nil {
		return Device{}, err
	}
	if len(all) == 0 {
		return Device{}, noDevice()
	}
	return slices.MaxFunc(all, func(a, b Device) int { return a.LastSeenAt.Compare(b.LastSeenAt) }), nil
}

// channelsSince is the first version of iOS whose activities can listen to broadcast channels.
const channelsSince = 18

// HearsChannels reports whether the device can listen to a broadcast channel. Without a known version it cannot.
func (d *Device) HearsChannels() bool {
	major, _, _ := strings.Cut(strings.TrimSpace(d.OSVersion), ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= channelsSince
}

// StartsByPush reports whether an activity can be started on the device by push: iOS 17.2 and later. A version that is not known can.
func (d *Device) StartsByPush() bool {
	major, rest, _ := strings.Cut(strings.TrimSpace(d.OSVersion), ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(major)
	if err != nil || n >= channelsSince {
		return true
	}
	m, err := strconv.Atoi(minor)
	return n == startsSinceMajor && err == nil && m >= startsSinceMinor
}

// The first version of iOS that has push-to-start tokens.
const (
	startsSinceMajor = 17
	startsSinceMinor = 2
)

// TokenOf normalises a token of Apple's; ok is false if text is not one.
func TokenOf(text string) (token string, ok bool) {
	text = strings.TrimSpace(text)
	return strings.ToLower(text), validToken("token", text) == nil
}
