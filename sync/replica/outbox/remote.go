package outbox

import (
	"encoding/binary"
	"errors"
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

const (
	remoteVersion = 1

	remoteHasItem = 1 << 0 // the cloud has the item
	remoteSame    = 1 << 1 // the row is its image; only the sidecar is stored here
	remoteGone    = 1 << 2
	remoteLost    = 1 << 3
	remoteSeen    = 1 << 4
)

var errRemote = errors.New("the metadata is cut short or has an unknown version")

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
	same := len(sh.Pending) == 0
	image := attr.Item{}
	var flags byte
	if sh.Known.Item != nil {
		flags |= remoteHasItem
		if !same {
			image = sh.Known.Item
		}
		image = sh.Known.Side.Join(image)
	}
	if same {
		flags |= remoteSame
	}
	if sh.Gone != (Gone{}) {
		flags |= remoteGone
	}
	if sh.Lost && !same {
		flags |= remoteLost
	}
	if len(sh.seen) > 0 {
		flags |= remoteSeen
	}
	b := make([]byte, 0, 64+2*len(sh.Pending)+64*len(image))
	b = append(b, remoteVersion, flags)
	b = binary.AppendVarint(b, millis(sh.Set))
	b = binary.AppendUvarint(b, uint64(sh.doubtful))
	b = binary.AppendUvarint(b, uint64(len(sh.Pending)))
	last := uint64(0)
	for _, p := range sh.Pending {
		b = binary.AppendUvarint(b, p.Seq-last)
		worker := p.Worker
		if p.Shared {
			worker |= placeShared
		}
		b = append(b, worker)
		last = p.Seq
	}
	if flags&remoteGone != 0 {
		b = fields.Append(b, sh.Gone.Life)
		b = binary.AppendVarint(b, millis(sh.Gone.At))
	}
	if flags&remoteSeen != 0 {
		b = binary.AppendUvarint(b, uint64(len(sh.seen)))
		for _, was := range sh.seen {
			b = binary.AppendUvarint(b, was.Seq)
			b = appendImage(appendImage(b, was.Base), was.View)
		}
	}
	return attr.Encode(b, image)
}

// DecodeRemote parses what Encode wrote; same: the base is the row and not stored here.
func DecodeRemote(b []byte) (sh *Remote, same bool, err error) {
	sh, flags, rest, err := decodeRemoteHead(b)
	if err != nil || flags&remoteHasItem == 0 {
		return sh, false, err
	}
	image, err := attr.Encoded(rest).Decode()
	if err != nil {
		return nil, false, err
	}
	sh.Known.Item, sh.Known.Side = intent.Split(image)
	return sh, flags&remoteSame != 0, nil
}

// decodeRemoteHead parses all but the image.
func decodeRemoteHead(b []byte) (sh *Remote, flags byte, rest []byte, err error) {
	if len(b) < 2 || b[0] != remoteVersion {
		return nil, 0, nil, errRemote
	}
	flags = b[1]
	c := fields.Reader{B: b[2:]}
	sh = &Remote{Set: fromMillis(c.Varint()), doubtful: int(c.Uvarint()), Lost: flags&remoteLost != 0}
	n := c.Uvarint()
	if n > uint64(len(c.B)) {
		return nil, 0, nil, errRemote
	}
	if n > 0 {
		sh.Pending = make([]Place, 0, n+1)
	}
	last := uint64(0)
	for range n {
		last += c.Uvarint()
		worker := c.Byte()
		sh.Pending = append(sh.Pending, Place{ID{Seq: last, Worker: worker &^ placeShared}, worker&placeShared != 0})
	}
	if flags&remoteGone != 0 {
		sh.Gone.Life = string(c.Bytes())
		sh.Gone.At = fromMillis(c.Varint())
	}
	if flags&remoteSeen != 0 {
		for range c.Count() {
			was := Seen{Seq: c.Uvarint()}
			if was.Base, err = imageOf(c.Bytes()); err == nil {
				was.View, err = imageOf(c.Bytes())
			}
			if err != nil {
				return nil, 0, nil, err
			}
			sh.seen = append(sh.seen, was)
		}
	}
	if c.Bad {
		return nil, 0, nil, errRemote
	}
	return sh, flags, c.B, nil
}

// appendImage and imageOf store an image; no item is an empty string.
func appendImage(b []byte, it attr.Item) []byte {
	if it == nil {
		return fields.Append(b, "")
	}
	return fields.Append(b, attr.Encode(nil, it))
}

func imageOf(b []byte) (attr.Item, error) {
	if len(b) == 0 {
		return nil, nil
	}
	return attr.Encoded(b).Decode()
}

// millis and fromMillis store an instant; zero stays zero.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
