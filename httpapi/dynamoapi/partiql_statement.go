package dynamoapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/httpapi/dynamoapi/partiql"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// maxStatement is the longest PartiQL text, in characters, and the maximum number of its parameters.
const maxStatement = 8192

// statement is a PartiQL statement of a request with its parameters.
type statement struct {
	text       wire.Opt[string]
	parameters wire.Opt[[]wire.Value]
	consistent wire.Opt[bool]
	onFailure  wire.Opt[string] // ReturnValuesOnConditionCheckFailure

	read *partiql.Statement // nil: not parsed yet, or refused
	err  error              // why it was refused
}

func (s *statement) members(m *wire.Member) {
	m.Text("Statement", &s.text)
	wire.Array(m, "Parameters", maxStatement, &s.parameters, (*wire.Decoder).Value)
	m.Bool("ConsistentRead", &s.consistent)
	m.Text("ReturnValuesOnConditionCheckFailure", &s.onFailure)
}

// constrain checks a statement at a location, which is empty or ends with a dot.
func (s *statement) constrain(c *constraints, at string) {
	if c.require(at+"statement", s.text.Set) {
		c.count(at+"statement", quote(s.text.V), utf8.RuneCountInString(s.text.V), 1, maxStatement)
	}
	if s.parameters.Set {
		c.elements(at+"parameters", len(s.parameters.V), maxStatement)
	}
	c.onConditionCheckFailure(at+"returnValuesOnConditionCheckFailure", s.onFailure)
}

// parse parses the text, once.
func (s *statement) parse() (*partiql.Statement, error) {
	if s.read == nil && s.err == nil {
		s.read, s.err = partiql.Parse(s.text.V)
	}
	return s.read, s.err
}

// tableOf describes the table of a parsed statement.
func (s *statement) tableOf(c *call) (*store.TableSpec, error) {
	d, err := c.table(s.read.Table)
	return &d.Spec, err
}

// alone makes the checks of a statement outside of a transaction, as far as possible without its item.
func (s *statement) alone(c *call) (spec *store.TableSpec, params []attr.Value, err error) {
	if params, err = s.values(); err != nil {
		return nil, nil, err
	}
	read, err := s.parse()
	if err != nil {
		return nil, nil, err
	}
	if read.Kind == partiql.Exists {
		return nil, nil, errValidation("EXISTS can only be used in ExecuteTransaction write requests.")
	}
	spec, err = s.tableOf(c)
	return spec, params, err
}

// touches is request.touches for a statement. A statement that cannot be parsed touches nothing.
func (s *statement) touches(_ string, visit func(action, table string)) {
	read, err := s.parse()
	if err != nil {
		return
	}
	switch read.Kind {
	case partiql.Select, partiql.Exists:
		visit("PartiQLSelect", read.Table)
	case partiql.Insert:
		visit("PartiQLInsert", read.Table)
	case partiql.Update:
		visit("PartiQLUpdate", read.Table)
	case partiql.Delete:
		visit("PartiQLDelete", read.Table)
	}
}

// values returns the parameters. Their errors are reported before the text is parsed.
func (s *statement) values() ([]attr.Value, error) {
	values := make([]attr.Value, len(s.parameters.V))
	for i, v := range s.parameters.V {
		if v.Err != nil {
			return nil, v.Err
		}
		values[i] = v.V
	}
	return values, nil
}

// keyOf converts a key for package partiql.
func keyOf(k store.KeySpec) partiql.Key {
	convert := func(a store.KeyAttr) partiql.Attr { return partiql.Attr{Name: a.Name, Kind: a.Type.Kind()} }
	key := partiql.Key{Partition: convert(k.Partition)}
	if k.Sort.Name != "" {
		key.Sort = convert(k.Sort)
	}
	return key
}

// source returns what a SELECT reads from.
func (s *statement) source(spec *store.TableSpec) (partiql.Source, error) {
	src := partiql.Source{Table: keyOf(spec.Key)}
	if s.read.Index == "" {
		return src, nil
	}
	ix := indexOf(spec, s.read.Index)
	if ix == nil {
		return src, errValidation("The table does not have the specified index")
	}
	if s.consistent.V && !ix.Local {
		return src, errValidation("Strongly consistent read is not supported on Global Secondary Indexes")
	}
	src.Index = &partiql.Index{Name: ix.Name, Key: keyOf(ix.Key), Shows: func(name string) bool { return shows(spec, ix, name) }}
	return src, s.checkIndex(spec)
}

// checkIndex refuses an index with several attributes in a part of its key. That is the service's rule, although its message is about
// tables.
func (s *statement) checkIndex(spec *store.TableSpec) error {
	if ix := indexOf(spec, s.read.Index); ix != nil && ix.Key.Multi() {
		return errValidation("PartiQL statements cannot be executed on tables with multi-attribute HASH keys " +
			"or multi-attribute RANGE keys.")
	}
	return nil
}

// shows reports whether an index contains an attribute of the items.
func shows(spec *store.TableSpec, ix *store.IndexSpec, name string) bool {
	if ix.Projection == store.ProjectAll {
		return true
	}
	ofKey := func(a store.KeyAttr) bool { return a.Name == name }
	if slices.ContainsFunc(spec.Key.Attrs(), ofKey) || slices.ContainsFunc(ix.Key.Attrs(), ofKey) {
		return true
	}
	return ix.Projection == store.ProjectInclude && slices.Contains(ix.Include, name)
}

// plain removes the name of the expression from an error, because the request has no expressions.
func plain(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if ok && strings.HasPrefix(f.Message, tooDeep) && strings.Contains(f.Message, ":") {
		return errValidation(tooDeep)
	}
	if !ok || f.Kind != fault.Invalid || !strings.HasPrefix(f.Message, "Invalid ") {
		return err
	}
	if name, rest, ok := strings.Cut(f.Message, "Expression: "); ok && strings.IndexByte(name[len("Invalid "):], ' ') < 0 {
		return errValidation("%s", rest)
	}
	return err
}

const tooDeep = "Nesting Levels have exceeded supported limits"

const duplicateItem = "Duplicate primary key exists in table"

const (
	// tokenLife is how long a NextToken is valid, as in DynamoDB.
	tokenLife = time.Hour
	// maxToken is the longest NextToken, in characters.
	maxToken = 32768
)

// nextToken is where a SELECT continues. It is valid only for the same statement and parameters.
type nextToken struct {
	Made time.Time
	Mark []byte // hash of the statement and its parameters
	Step int
	Key  attr.Item `json:",omitempty"`
}

func (s *statement) mark() []byte {
	b := binary.AppendUvarint(nil, uint64(len(s.text.V)))
	b = append(b, s.text.V...)
	for _, v := range s.parameters.V {
		value := attr.AppendValueJSON(nil, v.V)
		b = append(binary.AppendUvarint(b, uint64(len(value))), value...)
	}
	sum := sha256.Sum256(b)
	return sum[:16]
}

// position parses a NextToken. The store checks whether its key fits the table.
func (s *statement) position(now time.Time, token wire.Opt[string], steps int) (position, error) {
	if !token.Set {
		return position{}, nil
	}
	var t nextToken
	switch {
	case !fromOpaque(token.V, &t) || t.Step < 0 || t.Step >= steps:
		return position{}, errValidation("Invalid NextToken")
	case !bytes.Equal(t.Mark, s.mark()):
		return position{}, errValidation("NextToken does not match request")
	case now.Sub(t.Made) > tokenLife:
		return position{}, errValidation("Given NextToken has already expired")
	}
	return position{step: t.Step, key: t.Key}, nil
}
