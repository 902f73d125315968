package file

import (
	"encoding/json"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/pages"
)

// maxDamages is how many are kept. A disk that does more is known by then.
const maxDamages = 20

// Damage is what Open found wrong with the first pages of the file. It is kept in the file until somebody has read it.
type Damage struct {
	ID        int64       `json:"id"`
	Found     time.Time   `json:"found"`
	Page      int         `json:"page"`      // 0 or 1
	Which     pages.Which `json:"which"`     // commit: older, newest or unknown
	OneBit    bool        `json:"oneBit"`    // a single bit was wrong
	NoData    bool        `json:"noData"`    // no data changed between the readable commit and that one
	Corrected bool        `json:"corrected"` // the bit was set right again
	Seq       uint64      `json:"seq"`       // of the newest record that can be read
}

// Words says what is known about the damage, what it may have cost, and what to do.
func (d *Damage) Words() string {
	text := fmt.Sprintf("One of the two first pages of the database was damaged when it was opened on %s (page %d). ",
		d.Found.UTC().Format("2 January 2006 at 15:04 UTC"), d.Page)
	if d.Corrected {
		return text + fmt.Sprintf("A single bit was wrong and has been corrected: nothing is lost, up to sequence %d. ", d.Seq) + badDisk
	}
	return text + effect(d.Which, d.OneBit, d.NoData, d.Seq) + " " + badDisk
}

const badDisk = "Check the disk and the memory: what changes one bit changes others."

// effect says what a damaged page may have cost.
func effect(which pages.Which, oneBit, noData bool, seq uint64) string {
	text := fmt.Sprintf("The newest sequence that can be read is %d. ", seq)
	switch {
	case noData:
		return text + "No data changed between the two commits that the pages belong to: nothing is lost."
	case which == pages.Older:
		return text + "The page belongs to an earlier commit: nothing is lost."
	case which == pages.Newest:
		text += "The page belongs to the last commit, so the writes of that commit are lost here, although they may have been confirmed."
	default:
		text += "The page belongs to the last commit or to the one before it. If it was the last, its writes are lost here, although they may have been confirmed."
	}
	text += " Ask who wrote last whether it is there."
	if !oneBit {
		text += " A power cut during a commit leaves the same page: then nobody was told that the commit was done, and nothing is lost."
	}
	return text
}

// ReadableWords says the same of a file that is only read.
func ReadableWords(bad *pages.BadMeta, seq uint64) string {
	text := fmt.Sprintf("one of its two first pages is damaged (page %d). ", bad.Page)
	if bad.Which == pages.Newest && bad.OneBit {
		return text + fmt.Sprintf("Without it the newest sequence is %d, and the last commit is missing. A single bit of the page is wrong: "+
			"the node corrects it when it starts, if the pages of that commit are intact. %s", seq, badDisk)
	}
	return text + effect(bad.Which, bad.OneBit, bad.NoData, seq) + " " + badDisk
}

// DecodeDamages reads what is kept in the meta bucket.
func DecodeDamages(raw []byte) (kept []Damage, err error) {
	if raw == nil {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &kept); err != nil {
		return nil, fmt.Errorf("its notes of damage cannot be read: %w", err)
	}
	return kept, nil
}

// EncodeDamages returns what is kept in the meta bucket.
func EncodeDamages(kept []Damage) ([]byte, error) {
	return json.Marshal(kept[max(0, len(kept)-maxDamages):])
}

// noteDamage keeps what is wrong with the first pages. The commit replaces the damaged page. If it fails, as on a full disk, the damage is
// still known until the file is closed, and found again if nothing is written.
func (f *File) noteDamage(bad *pages.BadMeta, corrected bool, now time.Time) {
	found := Damage{
		ID: now.UnixMicro(), Found: now.UTC(), Page: bad.Page, Which: bad.Which, OneBit: bad.OneBit, NoData: bad.NoData, Corrected: corrected, Seq: f.State.Journal.Last,
	}
	f.State.Damages = append(f.State.Damages, found)
	raw, err := EncodeDamages(f.State.Damages)
	if err != nil {
		return
	}
	_ = f.Bolt.Update(func(btx *bolt.Tx) error { return btx.Bucket(format.BucketMeta).Put(format.MetaDamages, raw) })
}
