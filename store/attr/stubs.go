package attr

import "errors"

var errStub = errors.New("attr: not written yet")

func Size(it Item) int    { return 0 }
func Check(it Item) error { return nil }

const MaxItemSize = 409600

func Marshal(v any) (Item, error)           { return nil, errStub }
func Unmarshal(it Item, v any) error        { return errStub }
func MarshalValue(v any) (Value, error)     { return Value{}, errStub }
func UnmarshalValue(val Value, v any) error { return errStub }

type Encoded []byte

func Encode(dst []byte, it Item) []byte                            { return dst }
func (e Encoded) Decode() (Item, error)                            { return nil, errStub }
func (e Encoded) Get(name string) (Value, bool, error)             { return Value{}, false, errStub }
func (e Encoded) AppendJSON(dst []byte) ([]byte, error)            { return nil, errStub }
func AppendKey(dst []byte, v Value) ([]byte, error)                { return nil, errStub }
func AppendKeyPrefix(dst []byte, v Value) ([]byte, error)          { return nil, errStub }
func ReadKey(src []byte, k Kind) (v Value, rest []byte, err error) { return Value{}, nil, errStub }
func AppendJSON(dst []byte, it Item) []byte                        { return dst }
func ParseJSON(src []byte) (Item, error)                           { return nil, errStub }
