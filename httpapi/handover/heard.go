package handover

import (
	"regexp"
	"strconv"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

const (
	tableHeard = "touchline-devices"
	keepHeard  = 60 * 24 * time.Hour // without a word of the device
)

// Tables returns the tables that a node's store needs.
func Tables() []store.TableSpec {
	return []store.TableSpec{{
		Name: tableHeard, Internal: true, Policy: store.PolicyLocal, Why: "what devices have said to this node", TTL: "ttl",
		Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}},
	}}
}

// Counts is what a device says with each entry: how many entries it has made in the present storage of its browser, and how many of them wait
// besides this one. Store identifies the storage: the browser may empty it.
type Counts struct {
	Store   string `dynamodbav:"store" json:"store"`
	Made    int64  `dynamodbav:"made" json:"made"`
	Waiting int64  `dynamodbav:"waiting" json:"waiting"`
}

var countsForm = regexp.MustCompile(`^([0-9]{1,12}) ([0-9]{1,4}) ([0-9A-Za-z.-]{1,40})$`)

// ParseCounts parses the header of a request: "12 4 1757080000000-0.123"; ok is false if it does not have that form.
func ParseCounts(header string) (c Counts, ok bool) {
	parts := countsForm.FindStringSubmatch(header)
	if parts == nil {
		return c, false
	}
	c.Store = parts[3]
	c.Made, _ = strconv.ParseInt(parts[1], 10, 64)
	c.Waiting, _ = strconv.ParseInt(parts[2], 10, 64)
	return c, true
}

// Heard is what a node has heard of a device's entries of an application last.
type Heard struct {
	Counts
	At   int64  `dynamodbav:"at" json:"at"`                         // Unix milliseconds
	Lost *Heard `dynamodbav:"lost,omitempty" json:"lost,omitempty"` // what was heard last of the storage before this one
}

// heardRow is a Heard as stored.
type heardRow struct {
	ID string `dynamodbav:"id"`
	Heard
	TTL int64 `dynamodbav:"ttl"`
}

func heardKey(device, app string) string { return device + " " + app }

// Hear stores what a device has said. If its storage is a new one, what was heard of the one before stays known.
func Hear(tx *store.Tx, device, app string, said Counts) error {
	last, err := LastHeard(tx, device, app)
	if err != nil {
		return err
	}
	row := heardRow{ID: heardKey(device, app), Heard: Heard{Counts: said, At: tx.Now().UnixMilli()}, TTL: tx.Now().Add(keepHeard).Unix()}
	switch {
	case last == nil:
	case last.Store == said.Store:
		row.Lost = last.Lost
	default:
		row.Lost = last
		row.Lost.Lost = nil
	}
	item, err := attr.Marshal(row)
	if err == nil {
		_, err = tx.Put(store.PutItem{Table: tableHeard, Item: item, NoOld: true})
	}
	return err
}

// LastHeard returns what was heard of a device's entries of an application last; nil: nothing.
func LastHeard(tx *store.Tx, device, app string) (*Heard, error) {
	item, err := tx.Get(tableHeard, attr.Item{"id": attr.S(heardKey(device, app))})
	var row heardRow
	if err != nil || item == nil || attr.Unmarshal(item, &row) != nil {
		return nil, err
	}
	return &row.Heard, nil
}
