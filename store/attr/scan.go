package attr

// scanner walks over an encoding. It trusts nothing: every length is checked against the remaining bytes before it is used. A failure is
// reported as false.
type scanner struct {
	buf string
	pos int
}

// uvarint reads a number in its shortest form. It refuses longer forms, which would give an item a second encoding.
func (s *scanner) uvarint() (int, bool) {
	n, shift := uint64(0), 0
	for i := s.pos; i < len(s.buf) && shift < 35; i++ {
		b := s.buf[i]
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			s.pos = i + 1
			return int(n), b != 0 || shift == 0
		}
		shift += 7
	}
	return 0, false
}

// count reads a number of elements that take at least size bytes each. It refuses more than the remaining bytes can hold, before anything
// is allocated for them.
func (s *scanner) count(size int) (int, bool) {
	n, ok := s.uvarint()
	return n, ok && n <= (len(s.buf)-s.pos)/size
}

// text reads a length and that many bytes. Nearly all lengths are one byte: most of the time is spent here.
func (s *scanner) text() (string, bool) {
	if p := s.pos + 1; p <= len(s.buf) {
		n := int(s.buf[p-1])
		if n < 0x80 && n <= len(s.buf)-p {
			s.pos = p + n
			return s.buf[p : p+n], true
		}
	}
	return s.longText()
}

func (s *scanner) longText() (string, bool) {
	n, ok := s.uvarint()
	if !ok || n > len(s.buf)-s.pos {
		return "", false
	}
	s.pos += n
	return s.buf[s.pos-n : s.pos], true
}

// tag reads a tag; 0 at the end.
func (s *scanner) tag() byte {
	if s.pos >= len(s.buf) {
		return 0
	}
	s.pos++
	return s.buf[s.pos-1]
}

// peek returns the next tag without consuming it.
func (s *scanner) peek() byte {
	if s.pos >= len(s.buf) {
		return 0
	}
	return s.buf[s.pos]
}

// size reads the size in front of elements and returns the position after the last of them.
func (s *scanner) size() (end int, ok bool) {
	if len(s.buf)-s.pos < sizeBytes {
		return 0, false
	}
	b := s.buf[s.pos : s.pos+sizeBytes]
	n := int(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
	s.pos += sizeBytes
	return s.pos + n, n <= len(s.buf)-s.pos
}

// entry reads a name, returns where its value starts, and skips the value. Most values are texts and most lengths are one byte: a single
// check covers that case, which makes finding an attribute cheap.
func (s *scanner) entry() (name string, start int, ok bool) {
	if p := s.pos; p < len(s.buf) && s.buf[p] < 0x80 {
		v := p + 1 + int(s.buf[p]) // where the value is, if the name ends within the buffer
		if v+1 < len(s.buf) && s.buf[v]-tagS <= tagB-tagS && s.buf[v+1] < 0x80 {
			s.pos = v + 2 + int(s.buf[v+1])
			return s.buf[p+1 : v], v, s.pos <= len(s.buf)
		}
	}
	name, ok = s.text()
	start = s.pos
	return name, start, ok && s.skip()
}

// skip skips a value.
func (s *scanner) skip() bool {
	switch s.tag() {
	case tagS, tagN, tagB:
		_, ok := s.text()
		return ok
	case tagTrue, tagFalse, tagNull:
		return true
	case tagL, tagM, tagSS, tagNS, tagBS:
		end, ok := s.size()
		if ok {
			s.pos = end
		}
		return ok
	default:
		return false
	}
}
