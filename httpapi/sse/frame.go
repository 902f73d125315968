package sse

// Frame is one server-sent event.
type Frame struct {
	Name string
	Seq  uint64 // of the journal; 0: the frame has no id
	Slot string // frames of one slot replace each other; empty: each one counts
	Of   string // what it is of, within its topic, for readers whom only some of a topic concerns (Subscriber.Only)
	Data []byte // JSON

	enc *encoded
}

// NewFrame creates an event of data, which is JSON.
func NewFrame(name string, seq uint64, data []byte) Frame {
	return Frame{Name: name, Seq: seq, Data: data, enc: encode(name, seq, data)}
}

// Topic is what a stream or a page follows: one thing of an application, or with an empty name everything of it. Two
// applications may use one name.
type Topic struct{ App, Name string }

// Change is what a journal record means to the readers of an application.
type Change struct {
	Topic string // whose readers get the frame
	Frame Frame  // the zero value: nothing is sent, but pages look again

	// All makes the frame for readers of everything, who need to see which topic it is of; nil: they get none. It is called only
	// where there is such a reader.
	All func() Frame
}

// all is the frame for readers of everything; ok is false where there is none.
func (ch *Change) all() (f Frame, ok bool) {
	if ch.All == nil || ch.Frame.Name == "" {
		return Frame{}, false
	}
	f = ch.All()
	f.Slot = ch.Frame.Slot
	return f, true
}

// For returns the frame that a reader of a topic gets; ok is false where it gets none.
func (ch *Change) For(topic string) (f Frame, ok bool) {
	if topic == "" {
		return ch.all()
	}
	return ch.Frame, ch.Topic == topic && ch.Frame.Name != ""
}

// Join makes one of several frames. Only the last has an id: a client whose connection breaks in the middle has not seen it and
// asks again from where it was. ok is false where there is nothing to join.
func Join(frames []Frame, seq uint64) (all Frame, ok bool) {
	var text []byte
	for i := range frames {
		id := uint64(0)
		if i == len(frames)-1 {
			id = seq
		}
		text = append(text, encode(frames[i].Name, id, frames[i].Data).plain...)
	}
	return Frame{enc: &encoded{plain: text}}, len(frames) > 0
}
