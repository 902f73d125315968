package store_test

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

func batchGet(t testing.TB, s *store.Store, b store.BatchGet) (result store.BatchGetResult, err error) {
	t.Helper()
	storetest.View(t, s, func(tx *store.Tx) error {
		result, err = tx.BatchGet(b)
		return nil
	})
	return result, err
}

// ballKeys returns the keys of the balls from, inclusive, to to, exclusive.
func ballKeys(from, to int) []attr.Item {
	var keys []attr.Item
	for i := from; i < to; i++ {
		keys = append(keys, storetest.Ball("final", i))
	}
	return keys
}

func TestBatchGet(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	past := int(time.Now().Unix()) - 10
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", 1), storetest.Ball("final", 2, "runs", 2, "ttl", past), storetest.Ball("final", 3, "runs", 3))
	storetest.Put(t, s, "matches", storetest.Item("match", "final", "m", attr.M(storetest.Item("x", 1, "y", 2))))
	result, err := batchGet(t, s, store.BatchGet{
		"balls": {Keys: []attr.Item{storetest.Ball("final", 3), storetest.Ball("final", 2), storetest.Ball("final", 9), storetest.Ball("final", 1)}},
		"matches": {
			Keys: []attr.Item{storetest.Item("match", "final")}, Projection: "m.#x",
			Params: expr.Params{Names: map[string]string{"#x": "x"}},
		},
	})
	if err != nil || result.Unprocessed != nil {
		t.Fatalf("%+v, %v", result, err)
	}
	found := result.Items["balls"]
	if len(found) != 2 || len(result.Items["matches"]) != 1 {
		t.Fatalf("%+v", result.Items)
	}
	storetest.WantItem(t, "first", found[0], storetest.Ball("final", 3, "runs", 3))
	storetest.WantItem(t, "last", found[1], storetest.Ball("final", 1, "runs", 1))
	storetest.WantItem(t, "part", result.Items["matches"][0], storetest.Item("m", attr.M(storetest.Item("x", 1))))
	result, err = batchGet(t, s, store.BatchGet{"balls": {Keys: ballKeys(50, 60)}})
	if _, ok := result.Items["balls"]; !ok || err != nil || len(result.Items["balls"]) != 0 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestBatchGetRefused(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	const failed = "1 validation error detected: Value at '"
	one := []attr.Item{storetest.Ball("final", 1)}
	cases := map[string]struct {
		batch store.BatchGet
		says  string
	}{
		"none":    {nil, failed + "RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		"no keys": {store.BatchGet{"balls": {}}, failed + "RequestItems.balls.member.Keys' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		"too many": {
			store.BatchGet{"balls": {Keys: ballKeys(0, 101)}},
			failed + "RequestItems.balls.member.Keys' failed to satisfy constraint: Member must have length less than or equal to 100",
		},
		"too many together": {
			store.BatchGet{"balls": {Keys: ballKeys(0, 60)}, "matches": {Keys: ballKeys(0, 41)}},
			"Too many items requested for the BatchGetItem call",
		},
		"twice": {
			store.BatchGet{"balls": {Keys: []attr.Item{storetest.Ball("final", 1), storetest.Ball("final", 2), storetest.Ball("final", 1)}}},
			"Provided list of item keys contains duplicates",
		},
		"schema": {store.BatchGet{"balls": {Keys: []attr.Item{storetest.Item("match", "x")}}}, "The provided key element does not match the schema"},
		"names": {
			store.BatchGet{"balls": {Keys: one, Params: expr.Params{Names: map[string]string{"#n": "n"}}}},
			"ExpressionAttributeNames can only be specified when using expressions",
		},
		"projection": {
			store.BatchGet{"balls": {Keys: one, Projection: "a, a"}},
			"Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these " +
				"paths; path one: [a], path two: [a]",
		},
	}
	for name, c := range cases {
		_, err := batchGet(t, s, c.batch)
		storetest.WantFault(t, err, fault.Invalid, "validation")
		if err != nil && err.Error() != c.says {
			t.Errorf("%s:\n%s, want\n%s", name, err, c.says)
		}
	}
	_, err := batchGet(t, s, store.BatchGet{"bowls": {Keys: one}})
	storetest.WantFault(t, err, fault.NotFound, "table_not_found")
}

// TestBatchGetIsBounded: 41 items of 409,016 bytes fit into 16 MB, as in DynamoDB Local, whatever the projection.
func TestBatchGetIsBounded(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	for i := 100; i < 150; i++ {
		storetest.Put(t, s, "balls", storetest.Ball("final", i, "t", strings.Repeat("x", 409_000)))
	}
	storetest.Put(t, s, "matches", storetest.Item("match", "m"))
	ask := store.BatchGet{
		"balls": {
			Keys: ballKeys(100, 150), Projection: "#b", Params: expr.Params{Names: map[string]string{"#b": "ball"}},
		},
		"matches": {Keys: []attr.Item{storetest.Item("match", "m")}},
	}
	result, err := batchGet(t, s, ask)
	if err != nil || len(result.Items["balls"]) != 41 || len(result.Items) != 1 {
		t.Fatalf("%d items, %v", len(result.Items["balls"]), err)
	}
	rest := result.Unprocessed
	if len(rest["balls"].Keys) != 9 || len(rest["matches"].Keys) != 1 || rest["balls"].Projection != "#b" {
		t.Fatalf("%+v", rest)
	}
	storetest.WantItem(t, "first of the rest", rest["balls"].Keys[0], storetest.Ball("final", 141))
	again, err := batchGet(t, s, rest)
	if err != nil || again.Unprocessed != nil || len(again.Items["balls"]) != 9 || len(again.Items["matches"]) != 1 {
		t.Errorf("%+v, %v", again, err)
	}
	storetest.WantItem(t, "shown", again.Items["balls"][8], storetest.Item("ball", 149))
	if len(ask["balls"].Keys) != 50 {
		t.Error("the request was changed")
	}
}

func batchWrite(t testing.TB, s *store.Store, b store.BatchWrite) (err error) {
	t.Helper()
	storetest.Update(t, s, func(tx *store.Tx) error {
		err = tx.BatchWrite(b)
		return nil
	})
	return err
}

func TestBatchWrite(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", 1), storetest.Ball("final", 2, "runs", 2))
	before := s.Seq()
	err := batchWrite(t, s, store.BatchWrite{
		"matches": {{Put: storetest.Item("match", "final")}},
		"balls":   {{Delete: storetest.Ball("final", 1)}, {Put: storetest.Ball("final", 2, "runs", 6)}, {Delete: storetest.Ball("final", 9)}, {Put: storetest.Ball("final", 3)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	storetest.WantItem(t, "deleted", storetest.Get(t, s, "balls", storetest.Ball("final", 1)), nil)
	storetest.WantItem(t, "replaced", storetest.Get(t, s, "balls", storetest.Ball("final", 2)), storetest.Ball("final", 2, "runs", 6))
	storetest.WantItem(t, "other table", storetest.Get(t, s, "matches", storetest.Item("match", "final")), storetest.Item("match", "final"))
	records := storetest.Journal(t, s, before)
	var told []string
	for _, r := range records {
		told = append(told, r.Table+" "+r.Op.String()+" "+strconv.FormatUint(r.Txn-before, 10))
	}
	if got := strings.Join(told, ", "); got != "balls DeleteItem 1, balls PutItem 1, balls PutItem 1, matches PutItem 1" {
		t.Error(got)
	}
}

// TestBatchWriteRefused: one bad request refuses the whole batch, and nothing is done.
func TestBatchWriteRefused(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	const failed = "1 validation error detected: Value at '"
	var many []store.WriteRequest
	for _, key := range ballKeys(0, 26) {
		many = append(many, store.WriteRequest{Put: key})
	}
	cases := map[string]struct {
		requests []store.WriteRequest
		says     string
	}{
		"none":     {nil, failed + "RequestItems.balls.member' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		"too many": {many, failed + "RequestItems.balls.member' failed to satisfy constraint: Member must have length less than or equal to 25"},
		"twice":    {[]store.WriteRequest{{Put: storetest.Ball("final", 1)}, {Delete: storetest.Ball("final", 1)}}, "Provided list of item keys contains duplicates"},
		"both": {
			[]store.WriteRequest{{Put: storetest.Ball("final", 1), Delete: storetest.Ball("final", 1)}},
			"Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
		},
		"neither": {
			[]store.WriteRequest{{}},
			"Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
		},
		"too large": {
			[]store.WriteRequest{{Put: storetest.Ball("final", 1)}, {Put: storetest.Ball("final", 2, "t", strings.Repeat("x", 409_600))}},
			"Item size has exceeded the maximum allowed size",
		},
		"key of another type": {[]store.WriteRequest{{Put: storetest.Ball("final", 1)}, {Put: storetest.Item("match", "final", "ball", "x")}}, "The provided key element does not match the schema"},
		"no key":              {[]store.WriteRequest{{Put: storetest.Item("match", "final")}}, "The provided key element does not match the schema"},
		"key to delete":       {[]store.WriteRequest{{Delete: storetest.Item("match", "final")}}, "The provided key element does not match the schema"},
		"empty key": {
			[]store.WriteRequest{{Put: storetest.Ball("", 1)}},
			"One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty " +
				"string value. Key: match",
		},
		"index key": {
			[]store.WriteRequest{{Put: storetest.Ball("final", 1)}, {Put: storetest.Ball("final", 2, "bowler", 1)}},
			"One or more parameter values were invalid: Type mismatch for Index Key bowler Expected: S Actual: N " +
				"IndexName: bowler-index",
		},
	}
	before := s.Seq()
	for name, c := range cases {
		err := batchWrite(t, s, store.BatchWrite{"balls": c.requests})
		storetest.WantFault(t, err, fault.Invalid, "validation")
		if err != nil && err.Error() != c.says {
			t.Errorf("%s:\n%s, want\n%s", name, err, c.says)
		}
	}
	storetest.WantFault(t, batchWrite(t, s, nil), fault.Invalid, "validation")
	err := batchWrite(t, s, store.BatchWrite{"balls": many[:20], "matches": many[:6]})
	if err == nil || err.Error() != "Too many items requested for the BatchWriteItem call" {
		t.Error(err)
	}
	err = batchWrite(t, s, store.BatchWrite{"balls": many[:1], "bowls": many[:1]})
	storetest.WantFault(t, err, fault.NotFound, "table_not_found")
	if s.Seq() != before {
		t.Error("a refused batch has written")
	}
}

func TestImagesUpdated(t *testing.T) {
	base := storetest.Item("match", "final", "n", 1, "gone", "x",
		"m", attr.M(storetest.Item("x", 1, "y", 2, "in", attr.M(storetest.Item("a", 1, "b", 2)))),
		"l", attr.L(attr.Int(0), attr.Int(1), attr.Int(2), attr.Int(3)))
	nine := storetest.Values(":v", 9)
	list := func(ns ...int64) attr.Value {
		var elems []attr.Value
		for _, n := range ns {
			elems = append(elems, attr.Int(n))
		}
		return attr.L(elems...)
	}
	cases := []struct {
		update   string
		params   expr.Params
		old, new attr.Item
	}{
		{"SET n = :v", nine, storetest.Item("n", 1), storetest.Item("n", 9)},
		{"SET fresh = :v", nine, storetest.Item(), storetest.Item("fresh", 9)},
		{"REMOVE gone", expr.Params{}, storetest.Item("gone", "x"), storetest.Item()},
		{"REMOVE m.gone", expr.Params{}, storetest.Item(), storetest.Item()},
		{"SET m.x = :v, m.z = :v", nine, storetest.Item("m", attr.M(storetest.Item("x", 1))), storetest.Item("m", attr.M(storetest.Item("x", 9, "z", 9)))},
		{"SET m.#in.a = m.x REMOVE m.y", expr.Params{Names: map[string]string{"#in": "in"}},
			storetest.Item("m", attr.M(storetest.Item("y", 2, "in", attr.M(storetest.Item("a", 1))))), storetest.Item("m", attr.M(storetest.Item("in", attr.M(storetest.Item("a", 1)))))},
		{"SET l[3] = :v, l[1] = :v", nine, storetest.Item("l", list(1, 3)), storetest.Item("l", list(9, 9))},
		{"SET l[7] = :v", nine, storetest.Item(), storetest.Item()},
		{"", expr.Params{}, storetest.Item(), storetest.Item()},
	}
	for _, c := range cases {
		s := storetest.Open(t, storetest.Matches())
		storetest.Put(t, s, "matches", base)
		storetest.Update(t, s, func(tx *store.Tx) error {
			images, err := tx.Update(store.UpdateItem{
				Table: "matches", Key: storetest.Item("match", "final"), Update: c.update, Params: c.params,
			})
			whole := maps.Clone(images.New)
			part := images.OnlyUpdated()
			storetest.WantItem(t, c.update+": old", part.Old, c.old)
			storetest.WantItem(t, c.update+": new", part.New, c.new)
			storetest.WantItem(t, c.update+": the images themselves", images.New, whole)
			return err
		})
	}
	s := storetest.Open(t, storetest.Matches())
	storetest.Update(t, s, func(tx *store.Tx) error {
		images, err := tx.Update(store.UpdateItem{Table: "matches", Key: storetest.Item("match", "semi"), Update: "SET n = :v", Params: nine})
		part := images.OnlyUpdated()
		storetest.WantItem(t, "no item before", part.Old, nil)
		storetest.WantItem(t, "made", part.New, storetest.Item("n", 9))
		return err
	})
}
