package phone

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// sends is a replicator that lists, for each write, the writes of other rows it waits for.
type sends struct{ list []string }

// Compile implements store.Replicator.
func (s *sends) Compile(_ *store.Tx, writes []store.Write) error {
	for i := range writes {
		w := &writes[i]
		text := fmt.Sprint(w.Op, " ", sortKey(w.Key))
		for _, ref := range w.Sending.After {
			text += " after " + sortKey(ref.Key)
		}
		s.list = append(s.list, text)
	}
	return nil
}

// Expire implements store.Replicator.
func (s *sends) Expire(*store.Tx, *store.TableSpec, attr.Item) (bool, error) { return true, nil }

func sortKey(key attr.Item) string {
	if token := key["deviceToken"].Str(); token != "" {
		return token[:1]
	}
	return key["userId#deviceId"].Str()
}

// A row that replaces others is sent after the writes to those, so that no node sees a phone or a token in two rows.
func TestReplacementsAreSentAfter(t *testing.T) {
	r := newUserRig(t)
	s := &sends{}
	r.s.Replicate(s)
	r.register(Devices{}, Device{UserID: "u1", DeviceToken: token("a"), DeviceID: "d1"})
	r.register(Devices{}, Device{UserID: "u1", DeviceToken: token("b"), DeviceID: "d1"})
	r.got("u1", "d1", token("c"), r.now)
	r.got("u1", "d2", token("c"), r.now)
	want := []string{
		"UpdateItem a", "DeleteItem a", "UpdateItem b after a", "UpdateItem u1#d1", "UpdateItem u1#d1", "UpdateItem u1#d2 after u1#d1",
	}
	if fmt.Sprint(s.list) != fmt.Sprint(want) {
		t.Errorf("sent %q, want %q", s.list, want)
	}
}
