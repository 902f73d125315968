package replica

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

// sideShadow holds what the node knows of an item beside its row: by itemID.
const sideShadow = "shadow"

// shadow is that of one item.
type shadow struct {
	// known is the last confirmed image. With nothing pending it is not kept twice: the row is its item.
	known intent.Known
	// pending are the units that wait on the item, the oldest first: conditions of transactions and writes of policy
	// through among them.
	pending  []place
	doubtful int       // of them, not in the view because their condition does not hold on what is below
	lost     bool      // the table was restored without known.Item: readers see it until all have replayed, nothing is sent upon it
	set      time.Time // known was set: the server-corrected instant at which the read or the send began that told it
	gone     gone      // the life that ended here last; zero: none is remembered
}

// gone is the local tombstone of a base that went.
type gone struct {
	life string // value of _c, empty: it had none
	at   time.Time
}

// item is one item as the driver carries it about.
type item struct {
	spec *store.TableSpec
	key  attr.Item
	raw  []byte
}

// id names the item among all.
func (it *item) id() string { return it.spec.Name + "\x00" + string(it.raw) }

// itemOf finds an item's table and key. An unknown table is an error of the store.
func itemOf(tx *store.Tx, spec *store.TableSpec, key attr.Item) (*item, error) {
	raw, err := tx.RawKey(spec.Name, key)
	if err != nil {
		return nil, err
	}
	return &item{spec: spec, key: key, raw: raw}, nil
}

const (
	shadowVersion = 1

	shadowHasItem = 1 << 0 // the cloud has the item
	shadowSame    = 1 << 1 // the row is its image, only the sidecar is here
	shadowGone    = 1 << 2
	shadowLost    = 1 << 3
)

var errShadow = errors.New("a shadow is cut short or of an unknown version")

// shadowOf returns the shadow of an item, nil if the node has never heard of it in the cloud and nothing waits on it. The
// transaction is the driver's own: it is made to see expired items.
func (r *Replica) shadowOf(tx *store.Tx, it *item) (*shadow, error) {
	sh, same, err := readShadow(tx, it)
	if err != nil || sh == nil || !same {
		return sh, err
	}
	tx.ShowExpired()
	sh.known.Item, err = tx.Get(it.spec.Name, it.key)
	return sh, err
}

// readShadow is shadowOf with the base left out that is the row.
func readShadow(tx *store.Tx, it *item) (sh *shadow, same bool, err error) {
	b, err := tx.Side(sideShadow).Get([]byte(it.id()))
	if err != nil || b == nil {
		return nil, false, err
	}
	sh, same, err = decodeShadow(b)
	if err != nil {
		return nil, false, fault.Wrap(err, fault.Damaged, "shadow", "what is known of an item of %s cannot be read", it.spec.Name)
	}
	return sh, same, nil
}

// keepShadow stores it. The base is kept as long as anything is pending, and else the row has to be it.
func (r *Replica) keepShadow(tx *store.Tx, it *item, sh *shadow) error {
	side, key := tx.Side(sideShadow), []byte(it.id())
	if len(sh.pending) == 0 && sh.known.Item == nil && sh.gone == (gone{}) {
		return side.Delete(key)
	}
	return side.Set(key, sh.encode())
}

// setBase makes known what the cloud has; at is when the read or the send began that told it. The caller rebases the view
// and keeps the shadow. A base that goes leaves its tombstone.
func (r *Replica) setBase(it *item, sh *shadow, known intent.Known, at time.Time) {
	if sh.known.Item != nil && known.Item == nil {
		sh.gone = gone{life: sh.known.Side.Life, at: at}
	}
	sh.known, sh.set, sh.lost = known, at, false
	r.reads.touch(it.id())
}

func (sh *shadow) encode() []byte {
	same := len(sh.pending) == 0
	image := attr.Item{}
	var flags byte
	if sh.known.Item != nil {
		flags |= shadowHasItem
		if !same {
			image = sh.known.Item
		}
		image = sh.known.Side.Join(image)
	}
	if same {
		flags |= shadowSame
	}
	if sh.gone != (gone{}) {
		flags |= shadowGone
	}
	if sh.lost && !same {
		flags |= shadowLost
	}
	b := make([]byte, 0, 64+2*len(sh.pending)+64*len(image))
	b = append(b, shadowVersion, flags)
	b = binary.AppendVarint(b, millis(sh.set))
	b = binary.AppendUvarint(b, uint64(sh.doubtful))
	b = binary.AppendUvarint(b, uint64(len(sh.pending)))
	last := uint64(0)
	for _, p := range sh.pending {
		b = binary.AppendUvarint(b, p.seq-last)
		lane := p.lane
		if p.shared {
			lane |= placeShared
		}
		b = append(b, lane)
		last = p.seq
	}
	if flags&shadowGone != 0 {
		b = fields.Append(b, sh.gone.life)
		b = binary.AppendVarint(b, millis(sh.gone.at))
	}
	return attr.Encode(b, image)
}

func decodeShadow(b []byte) (sh *shadow, same bool, err error) {
	sh, flags, rest, err := decodeShadowHead(b)
	if err != nil || flags&shadowHasItem == 0 {
		return sh, false, err
	}
	image, err := attr.Encoded(rest).Decode()
	if err != nil {
		return nil, false, err
	}
	sh.known.Item, sh.known.Side = intent.Split(image)
	return sh, flags&shadowSame != 0, nil
}

// decodeShadowHead reads all but the image.
func decodeShadowHead(b []byte) (sh *shadow, flags byte, rest []byte, err error) {
	if len(b) < 2 || b[0] != shadowVersion {
		return nil, 0, nil, errShadow
	}
	flags = b[1]
	c := fields.Reader{B: b[2:]}
	sh = &shadow{set: fromMillis(c.Varint()), doubtful: int(c.Uvarint()), lost: flags&shadowLost != 0}
	n := c.Uvarint()
	if n > uint64(len(c.B)) {
		return nil, 0, nil, errShadow
	}
	if n > 0 {
		sh.pending = make([]place, 0, n+1)
	}
	last := uint64(0)
	for range n {
		last += c.Uvarint()
		lane := c.Byte()
		sh.pending = append(sh.pending, place{unitID{seq: last, lane: lane &^ placeShared}, lane&placeShared != 0})
	}
	if flags&shadowGone != 0 {
		sh.gone.life = string(c.Bytes())
		sh.gone.at = fromMillis(c.Varint())
	}
	if c.Bad {
		return nil, 0, nil, errShadow
	}
	return sh, flags, c.B, nil
}

// millis and fromMillis keep an instant; zero stays zero.
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
