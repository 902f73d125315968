package outbox

import (
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// SideRemote holds what the node knows of each remote item, by item id.
const SideRemote = "shadow"

// Remote is what the node knows of one item in the cloud.
type Remote struct {
	// Known is the last confirmed image. With nothing pending it is not stored twice: the row is its item.
	Known intent.Known
	// Pending holds the batches that wait on the item, oldest first, including transactions' conditions and writes of
	// policy through.
	Pending  []Place
	doubtful int       // pending batches left out of the view because their condition fails on what precedes them
	Lost     bool      // the table was restored without Known.Item: readers see it until all nodes have replayed, and nothing is sent based on it
	Set      time.Time // server-corrected instant at which the read or send that showed Known began
	Gone     Gone      // the life that last ended here; zero: none remembered
	seen     []Seen    // images from before entries became doubtful, oldest first
}

// Seen is an item while an entry was in the view: the base the entry was written on, and what readers saw with it. It serves whoever
// decides about the entry when the cloud refuses it. nil: no item.
type Seen struct {
	Seq        uint64 // it applies to entries up to this one
	Base, View attr.Item
}

// Gone is the local tombstone of a deleted base.
type Gone struct {
	Life string // value of _c; "": none
	At   time.Time
}

// Item identifies an item: its table, key and encoded key.
type Item struct {
	Spec *store.TableSpec
	Key  attr.Item
	Raw  []byte
}

// ID identifies the item across all tables.
func (it *Item) ID() string { return it.Spec.Name + "\x00" + string(it.Raw) }

// ItemOf returns the Item of a key. An unknown table is an error of the store.
func ItemOf(tx *store.Tx, spec *store.TableSpec, key attr.Item) (*Item, error) {
	raw, err := tx.RawKey(spec.Name, key)
	if err != nil {
		return nil, err
	}
	return &Item{Spec: spec, Key: key, Raw: raw}, nil
}

// RemoteOf returns what is known of an item, or nil if the node never heard of it in the cloud and nothing waits on it. The
// transaction must be the replicator's own: it is made to see expired items.
func RemoteOf(tx *store.Tx, it *Item) (*Remote, error) {
	sh, same, err := ReadRemote(tx, it)
	if err != nil || sh == nil || !same {
		return sh, err
	}
	tx.ShowExpired()
	sh.Known.Item, err = tx.Get(it.Spec.Name, it.Key)
	return sh, err
}

// ReadRemote is RemoteOf without a base that equals the row.
func ReadRemote(tx *store.Tx, it *Item) (sh *Remote, same bool, err error) {
	b, err := tx.Side(SideRemote).Get([]byte(it.ID()))
	if err != nil || b == nil {
		return nil, false, err
	}
	sh, same, err = DecodeRemote(b)
	if err != nil {
		return nil, false, fault.Wrap(err, fault.Damaged, "shadow", "the replica metadata of an item of %s cannot be read", it.Spec.Name)
	}
	return sh, same, nil
}

// KeepRemote stores sh. The base is stored while anything is pending; otherwise the row must be the base.
func KeepRemote(tx *store.Tx, it *Item, sh *Remote) error {
	side, key := tx.Side(SideRemote), []byte(it.ID())
	if len(sh.Pending) == 0 && sh.Known.Item == nil && sh.Gone == (Gone{}) {
		return side.Delete(key)
	}
	return side.Set(key, sh.Encode())
}

// setBase sets what the cloud has; at is when the read or send that showed it began. The caller rebases the view and stores the
// result. A base that disappears leaves a tombstone.
func (sh *Remote) setBase(known intent.Known, at time.Time) {
	if sh.Known.Item != nil && known.Item == nil {
		sh.Gone = Gone{Life: sh.Known.Side.Life, At: at}
	}
	sh.Known, sh.Set, sh.Lost = known, at, false
}

// Encode returns the stored form, without the base if that is the row.
func (sh *Remote) Encode() []byte {
	return fields.Encode(64+2*len(sh.Pending)+64*len(sh.Known.Item), sh)
}

// DecodeRemote parses what Encode wrote; same: the base is the row and not stored here.
func DecodeRemote(b []byte) (sh *Remote, same bool, err error) {
	sh = &Remote{}
	err = fields.Decode(b, sh)
	return sh, sh.Known.Item != nil && len(sh.Pending) == 0, err
}

// Fields describes the stored form.
func (sh *Remote) Fields(c *fields.Codec) {
	c.Version(2)
	c.Time(1, &sh.Set)
	fields.Uint(c, 2, &sh.doubtful)
	last := uint64(0)
	fields.List(c, 3, &sh.Pending, func(p *Place) {
		more, worker := p.Seq-last, p.Worker
		if p.Shared {
			worker |= placeShared
		}
		fields.Number(c, &more)
		fields.Number(c, &worker)
		last += more
		*p = Place{ID{Seq: last, Worker: worker &^ placeShared}, worker&placeShared != 0}
	})
	if len(sh.Pending) > 0 {
		c.Flag(4, &sh.Lost)
	}
	fields.Text(c, 5, &sh.Gone.Life)
	c.Time(6, &sh.Gone.At)
	fields.List(c, 7, &sh.seen, func(was *Seen) {
		fields.Uint(c, 1, &was.Seq)
		intent.Item(c, 2, &was.Base)
		intent.Item(c, 3, &was.View)
		c.End()
	})
	image := sh.Known.Item
	if image != nil && len(sh.Pending) == 0 {
		image = attr.Item{} // the row is the base
	}
	image = sh.Known.Side.Join(image)
	intent.Item(c, 8, &image)
	c.End()
	if !c.Writing {
		sh.Known.Item, sh.Known.Side = intent.Split(image)
	}
}
