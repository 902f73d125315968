package sse

// Frame is one server-sent event.
type Frame struct {
	Name string
	Seq  uint64 // journal sequence, sent as id; 0: no id
	Slot string // frames of the same slot replace each other; empty: never replaced
	Of   string // subject within the topic, for readers of only some (Subscriber.RestrictTo)
	Data []byte // JSON

	enc *encoded
}

// NewFrame returns a frame with JSON data.
func NewFrame(name string, seq uint64, data []byte) Frame {
	return Frame{Name: name, Seq: seq, Data: data, enc: encode(name, seq, data)}
}

// Topic is what a stream or page follows: one thing of an application, or everything if Name is empty. Names are per application.
type Topic struct{ App, Name string }

// Change is what a journal record changes for the readers of an application.
type Change struct {
	Topic string // topic whose readers receive Frame
	Frame Frame  // zero: nothing is sent, but pages check for updates

	// All returns the frame for readers of everything, which must name the topic; nil: they get none. It is called only if there are
	// such readers.
	All func() Frame
}

// all returns the frame for readers of everything; ok is false if there is none.
func (ch *Change) all() (f Frame, ok bool) {
	if ch.All == nil || ch.Frame.Name == "" {
		return Frame{}, false
	}
	f = ch.All()
	f.Slot = ch.Frame.Slot
	return f, true
}

// FrameFor returns the frame for a reader of a topic; ok is false if there is none.
func (ch *Change) FrameFor(topic string) (f Frame, ok bool) {
	if topic == "" {
		return ch.all()
	}
	return ch.Frame, ch.Topic == topic && ch.Frame.Name != ""
}

// Join combines frames into one. Only the last has an id: if the connection breaks in the middle, the client has no new id, and
// reconnects from where it was. ok is false if frames is empty.
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
