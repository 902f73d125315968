package recording

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
)

// maxUnpacked bounds a recording; the longest Test takes a third of it.
const maxUnpacked = 4 << 20

// Pack encodes a match as the project stores it: compressed JSON of the non-zero values.
func Pack(m *Match) ([]byte, error) {
	src, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(src); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}

// Unpack decodes the result of Pack.
func Unpack(packed io.Reader) (*Match, error) {
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	src, err := io.ReadAll(io.LimitReader(z, maxUnpacked))
	if err != nil {
		return nil, err
	}
	m := new(Match)
	return m, json.Unmarshal(src, m)
}
