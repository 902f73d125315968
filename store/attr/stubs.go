package attr

import "errors"

var errStub = errors.New("attr: not written yet")

func Marshal(v any) (Item, error)                       { return nil, errStub }
func Unmarshal(it Item, v any) error                    { return errStub }
func MarshalValue(v any) (Value, error)                 { return Value{}, errStub }
func UnmarshalValue(val Value, v any) error             { return errStub }
func (e Encoded) AppendJSON(dst []byte) ([]byte, error) { return nil, errStub }
func AppendJSON(dst []byte, it Item) []byte             { return dst }
func ParseJSON(src []byte) (Item, error)                { return nil, errStub }
