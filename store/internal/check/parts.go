package check

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/internal/format"
)

// sides checks the side spaces. Their contents are their owners' concern.
func (c *Checker) sides() error {
	return c.Tx.Btx.ForEach(func(name []byte, b *bolt.Bucket) error {
		if !bytes.HasPrefix(name, []byte(format.SidePrefix)) {
			return nil
		}
		c.startPart(string(name))
		if len(name) == len(format.SidePrefix) || len(name) > len(format.SidePrefix)+format.MaxSideName {
			return c.say("a space with a name of %d bytes", len(name)-len(format.SidePrefix))
		}
		return b.ForEach(func(k, v []byte) error {
			if len(k) == 0 || v == nil {
				return c.say("key %x is missing, or holds another bucket", k)
			}
			return nil
		})
	})
}

// tokens checks that every token is stored both by name and by time.
func (c *Checker) tokens() error {
	bucket := c.Tx.Btx.Bucket(format.BucketTokens)
	if bucket == nil {
		return nil
	}
	return bucket.ForEach(func(k, v []byte) error {
		switch {
		case len(k) > 1 && k[0] == 't':
			at, _, err := format.ReadToken(v)
			if err != nil || bucket.Get(format.TokenTime(at, string(k[1:]))) == nil {
				return c.say("token %q cannot be decoded or is not listed by its time", k[1:])
			}
		case len(k) > 9 && k[0] == 'a':
			at, _, err := format.ReadToken(bucket.Get(format.TokenKey(string(k[9:]))))
			if err != nil || !bytes.Equal(k, format.TokenTime(at, string(k[9:]))) {
				return c.say("the time of token %q belongs to no token", k[9:])
			}
		default:
			return c.say("key %x belongs to no token", k)
		}
		return nil
	})
}
