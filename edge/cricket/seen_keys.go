package cricket

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fields"
)

// SeenKeys is a packed set of event keys: all keys of a four-day Test fit into a kilobyte. Keys that differ only in their
// numbers form a family ("w:#:#"). A family is stored as its numbers in order, each as the difference from the one before:
// "ov:1:3", "ov:1:6" and "ov:1:7" are the family "ov:#:#" with 1, 3, then +3 and +1. It is immutable: With returns a new set.
//
// Layout, per family: its name (one byte for an entry of familyNames, or 0, a length and the text), then a count
// of tokens, and the tokens. A token d > 0 is the previous key with d added to its last number; 0, k > 0 are the
// k consecutive keys after it; 0, 0 is a key written in full.
type SeenKeys []byte

// hole marks the place of a number in a family's name.
const hole = '\x00'

// familyNames lists the families that are stored as one byte, counted from 1. The order is part of the stored format: only append.
func familyNames() []string {
	const n = string(hole)
	return []string{
		oldBall, familyOver, familyMaiden, familyWicket, familyNewBatter, familyTeamRuns, familyStand, familyMilestone,
		familyHaul, familyBowlerFire, familyBatterFire, oldHatTrick, oldOnHatTrick, oldSixes, familyInningsEnd,
		"stumps:" + n, familyPowerplay, familySuperOver, familyDeclared, "int:" + n + "." + n,
		startKey, tossKey, lineupKey, resultKey, closeKey, followOnKey, bestKey,
		"dls:" + n + ":" + n, "corr:" + familyWicket, "corr:" + familyWicket + ":" + n,
		familyBoundary, familyHatTrick, familyOnHatTrick, familySixes,
	}
}

// keyFamily holds the keys of one family as their numbers, in order.
type keyFamily struct {
	name string
	keys [][]int64
}

// keySet is an unpacked SeenKeys, by family name.
type keySet map[string]*keyFamily

// splitKey returns the family of a key and its numbers. A number that would not be written back the same way (007) counts as text.
func splitKey(key string) (family string, numbers []int64) {
	var name [48]byte
	var values [6]int64
	f, n := appendSplit(name[:0], values[:0], key)
	return string(f), slices.Clone(n)
}

// appendSplit is splitKey into the caller's buffers: every key of a match is looked up in every tick.
func appendSplit(family []byte, numbers []int64, key string) ([]byte, []int64) {
	for i := 0; i < len(key); {
		j, n := i, int64(0)
		for j < len(key) && j-i < 18 && key[j] >= '0' && key[j] <= '9' {
			n = 10*n + int64(key[j]-'0')
			j++
		}
		more := j < len(key) && key[j] >= '0' && key[j] <= '9'
		if j > i && !more && (key[i] != '0' || j == i+1) {
			numbers = append(numbers, n)
			family = append(family, hole)
			i = j
			continue
		}
		for more {
			j++
			more = j < len(key) && key[j] >= '0' && key[j] <= '9'
		}
		j = max(j, i+1)
		for ; i < j; i++ {
			if key[i] != hole {
				family = append(family, key[i])
			}
		}
	}
	return family, numbers
}

func (ks keySet) has(key string) bool {
	var nameSpace [48]byte
	var numberSpace [6]int64
	name, numbers := appendSplit(nameSpace[:0], numberSpace[:0], key)
	f := ks[string(name)]
	return f != nil && f.has(numbers)
}

// holds is has for a key already split into family and numbers.
func (ks keySet) holds(family string, numbers ...int64) bool {
	f := ks[family]
	for _, n := range numbers {
		if n < 0 || n >= maxNumber {
			return ks.has(keyOf(family, numbers...)) // this number is stored as text
		}
	}
	return f != nil && f.has(numbers)
}

// maxNumber bounds the numbers of a key: larger ones are kept as text.
const maxNumber = 1e18

func (f *keyFamily) has(numbers []int64) bool {
	low, high := 0, len(f.keys)
	for low < high {
		switch mid := (low + high) / 2; slices.Compare(f.keys[mid], numbers) {
		case 0:
			return true
		case -1:
			low = mid + 1
		default:
			high = mid
		}
	}
	return false
}

func (ks keySet) add(key string) {
	name, numbers := splitKey(key)
	f := ks[name]
	if f == nil {
		f = &keyFamily{name: name}
		ks[name] = f
	}
	if i, found := slices.BinarySearchFunc(f.keys, numbers, slices.Compare); !found {
		f.keys = slices.Insert(f.keys, i, numbers)
	}
}

func (ks keySet) remove(key string) {
	name, numbers := splitKey(key)
	f := ks[name]
	if f == nil {
		return
	}
	if i, found := slices.BinarySearchFunc(f.keys, numbers, slices.Compare); found {
		f.keys = slices.Delete(f.keys, i, i+1)
	}
}

// all returns the keys, ordered by family name and then by number.
func (ks keySet) all() []string {
	var out []string
	for _, f := range ks.families() {
		for _, numbers := range f.keys {
			out = append(out, keyOf(f.name, numbers...))
		}
	}
	return out
}

func (ks keySet) families() []*keyFamily {
	out := make([]*keyFamily, 0, len(ks))
	for _, f := range ks {
		if len(f.keys) > 0 {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *keyFamily) int { return strings.Compare(a.name, b.name) })
	return out
}

// pack encodes the set for storage. Equal sets have equal encodings.
func (ks keySet) pack() SeenKeys {
	names := familyNames()
	var out []byte
	for _, f := range ks.families() {
		if i := slices.Index(names, f.name); i >= 0 {
			out = append(out, byte(i+1))
		} else {
			out = fields.Append(append(out, 0), f.name)
		}
		tokens, count := packKeys(f.keys)
		out = binary.AppendUvarint(out, uint64(count))
		out = append(out, tokens...)
	}
	return out
}

// packKeys encodes the keys of a family as tokens.
func packKeys(keys [][]int64) (tokens []byte, count int) {
	var last []int64
	for i := 0; i < len(keys); count++ {
		run := 0
		for last != nil && i+run < len(keys) && follows(last, keys[i+run], int64(run)+1) {
			run++
		}
		k := keys[i]
		switch {
		case run > 1:
			tokens = binary.AppendUvarint(append(tokens, 0), uint64(run))
			i += run
		case last != nil && len(k) > 0 && slices.Equal(last[:len(k)-1], k[:len(k)-1]):
			tokens = binary.AppendUvarint(tokens, uint64(k[len(k)-1]-last[len(k)-1]))
			i++
		default:
			tokens = append(tokens, 0, 0)
			for _, n := range k {
				tokens = binary.AppendUvarint(tokens, uint64(n))
			}
			i++
		}
		last = keys[i-1]
	}
	return tokens, count
}

// follows reports whether key is last with d added to its last number.
func follows(last, key []int64, d int64) bool {
	n := len(key) - 1
	return n >= 0 && key[n] == last[n]+d && slices.Equal(last[:n], key[:n])
}

// unpack decodes the set. From truncated or damaged data it returns the keys before the damage: a missing key is
// noticed when its row is to be created.
func (e SeenKeys) unpack() keySet {
	ks := make(keySet, 32)
	names := familyNames()
	r := packReader{Reader: fields.Reader{B: e}}
	for len(r.B) > 0 && !r.Bad {
		f := r.family()
		if code := int(r.Byte()); code == 0 {
			f.name = string(r.Bytes())
		} else if code <= len(names) {
			f.name = names[code-1]
		} else {
			break
		}
		r.keys(f)
		if len(f.keys) > 0 {
			ks[f.name] = f
		}
	}
	return ks
}

// packReader decodes what pack encoded.
type packReader struct {
	fields.Reader
	space []int64 // allocated ahead for the keys to come: there are hundreds
	heads [][]int64
	names []keyFamily
}

// family returns a zero keyFamily from preallocated space.
func (r *packReader) family() *keyFamily {
	if len(r.names) == 0 {
		r.names = make([]keyFamily, 32)
	}
	f := &r.names[0]
	r.names = r.names[1:]
	return f
}

// number reads a number of a key, or a count; neither may exceed the bound for keys.
func (r *packReader) number() int64 {
	n := r.Uvarint()
	r.Bad = r.Bad || n > 1<<60
	return int64(n)
}

// maxRun bounds a run of keys, in case the set is damaged.
const maxRun = 1 << 14

func (r *packReader) keys(f *keyFamily) {
	arity := strings.Count(f.name, string(hole))
	const few = 16
	if len(r.heads) < few {
		r.heads = make([][]int64, 32*few)
	}
	f.keys, r.heads = r.heads[:0:few], r.heads[few:]
	for count := r.number(); count > 0 && !r.Bad; count-- {
		if d := r.number(); d > 0 {
			r.appendNext(f, arity, d)
			continue
		}
		run := r.number()
		if run == 0 {
			r.whole(f, arity)
		}
		r.Bad = r.Bad || run > maxRun
		for ; run > 0 && !r.Bad; run-- {
			r.appendNext(f, arity, 1)
		}
	}
}

// whole reads a key written in full.
func (r *packReader) whole(f *keyFamily, arity int) {
	key := r.room(arity)
	for i := range key {
		key[i] = r.number()
	}
	if !r.Bad {
		f.keys = append(f.keys, key)
	}
}

// room returns space for a key of arity numbers.
func (r *packReader) room(arity int) []int64 {
	if len(r.space) < arity {
		r.space = make([]int64, max(256, arity))
	}
	key := r.space[:arity:arity]
	r.space = r.space[arity:]
	return key
}

// appendNext appends the last key with d added to its last number.
func (r *packReader) appendNext(f *keyFamily, arity int, d int64) {
	if r.Bad || arity == 0 || len(f.keys) == 0 {
		r.Bad = true
		return
	}
	last := f.keys[len(f.keys)-1]
	key := r.room(arity)
	copy(key, last)
	key[arity-1] += d
	f.keys = append(f.keys, key)
}

// Has reports whether a key is in the set.
func (e SeenKeys) Has(key string) bool { return e.unpack().has(key) }

// Keys returns the keys of the set.
func (e SeenKeys) Keys() []string { return e.unpack().all() }

// WithKeys returns the set with keys added.
func (e SeenKeys) WithKeys(keys ...string) SeenKeys {
	ks := e.unpack()
	for _, k := range keys {
		ks.add(k)
	}
	return ks.pack()
}
