package attr

import "unsafe"

// Encoded is the binary form of an item, as Encode writes it. It is read in place, in a page of the store. What its methods return is a
// copy, which remains valid when the page is gone.
type Encoded []byte

// Get returns one attribute without decoding the others, or false if the item does not have it.
func (e Encoded) Get(name string) (Value, bool, error) {
	start, end, found, ok := e.find(name)
	if !ok {
		return Value{}, false, damagedBytes("an item")
	}
	if !found {
		return Value{}, false, nil
	}
	s := scanner{buf: string(e[start:end])}
	v, ok := s.value(1)
	if !ok || s.pos != len(s.buf) {
		return Value{}, false, damagedBytes("an attribute")
	}
	return v, true, nil
}

// Has reports whether the item has an attribute with the given name.
func (e Encoded) Has(name string) (bool, error) {
	_, _, found, ok := e.find(name)
	if !ok {
		return false, damagedBytes("an item")
	}
	return found, nil
}

// Len returns the number of attributes, or 0 if it cannot be read.
func (e Encoded) Len() int {
	_, n, _ := e.scan()
	return n
}

// find returns where the value of an attribute lies. Names ascend, so a first byte above that of the name ends the search; comparing
// whole names would cost more than it saves.
func (e Encoded) find(name string) (start, end int, found, ok bool) {
	s, n, ok := e.scan()
	if !ok {
		return 0, 0, false, false
	}
	for range n {
		have, start, ok := s.entry()
		switch {
		case !ok:
			return 0, 0, false, false
		case have == name:
			return start, s.pos, true, true
		case have != "" && name != "" && have[0] > name[0]:
			return 0, 0, false, true
		}
	}
	return 0, 0, false, true
}

// scan returns a scanner positioned after the number of attributes.
func (e Encoded) scan() (s scanner, n int, ok bool) {
	if len(e) == 0 || e[0] != wireVersion {
		return scanner{}, 0, false
	}
	s = scanner{buf: e.view(), pos: 1}
	n, ok = s.count(2)
	return s, n, ok
}

// view returns the bytes as a string without copying them. The string must not outlive the method that calls view: results are copied
// from it.
func (e Encoded) view() string {
	return unsafe.String(unsafe.SliceData(e), len(e)) //nolint:gosec // G103: nobody changes the bytes of an Encoded
}
