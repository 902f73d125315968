package dynamoapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// streamEvent is an expected stream record. Items are given by their number n; 0: none.
type streamEvent struct {
	key      string
	old, now int
}

// streamRun is a table with a stream, its expected contents and events, and readers at different positions.
type streamRun struct {
	rt   *rapid.T
	path string
	s    *store.Store
	a    *dynamoapi.API
	arn  string

	items   map[string]int
	events  []streamEvent
	numbers []string // SequenceNumbers of events read so far
	readers []*streamReader
}

type streamReader struct {
	iterator string
	seen     int // events read
}

func (r *streamRun) do(operation, body string) string {
	got, err := r.a.Do(context.Background(), operation, []byte(body))
	if err != nil {
		r.rt.Fatalf("%s %s: %v", operation, body, err)
	}
	return string(got)
}

func (r *streamRun) open() {
	s, err := store.Open(r.path, store.Options{NoSync: true})
	if err != nil {
		r.rt.Fatal(err)
	}
	r.s, r.a = s, dynamoapi.New(dynamoapi.Config{Store: s})
}

// set records that the item with a key is now n; 0: it is deleted.
func (r *streamRun) set(key string, n int) {
	old := r.items[key]
	if old == n {
		return // no change
	}
	r.events = append(r.events, streamEvent{key: key, old: old, now: n})
	if r.items[key] = n; n == 0 {
		delete(r.items, key)
	}
}

func drawKey(rt *rapid.T) string { return rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "key") }

func (r *streamRun) write(rt *rapid.T) {
	key, n := drawKey(rt), rapid.IntRange(1, 3).Draw(rt, "n")
	put := fmt.Sprintf(`"Item":{"a":{"S":"%s"},"n":{"N":"%d"}}`, key, n)
	byKey := fmt.Sprintf(`"Key":{"a":{"S":"%s"}}`, key)
	set := fmt.Sprintf(`%s,"UpdateExpression":"SET n = :n","ExpressionAttributeValues":{":n":{"N":"%d"}}`, byKey, n)
	switch rapid.IntRange(0, 4).Draw(rt, "write") {
	case 0:
		r.do("PutItem", `{"TableName":"tab",`+put+`}`)
		r.set(key, n)
	case 1:
		r.do("UpdateItem", `{"TableName":"tab",`+set+`}`)
		r.set(key, n)
	case 2:
		r.do("DeleteItem", `{"TableName":"tab",`+byKey+`}`)
		r.set(key, 0)
	case 3:
		r.do("BatchWriteItem", `{"RequestItems":{"other":[{"PutRequest":{`+put+`}}],"tab":[{"PutRequest":{`+put+`}}]}}`)
		r.set(key, n)
	case 4:
		r.do("TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"other",`+put+`}},{"Update":{"TableName":"tab",`+set+`}},
			{"Delete":{"TableName":"tab","Key":{"a":{"S":"w"}}}}]}`)
		r.set(key, n)
		r.set("w", 0)
	}
}

func (r *streamRun) begin(rt *rapid.T) {
	shard := text(rt, r.do("DescribeStream", `{"StreamArn":"`+r.arn+`"}`), "StreamDescription", "Shards", 0, "ShardId")
	kind, more, seen := "TRIM_HORIZON", "", 0
	switch rapid.IntRange(0, 3).Draw(rt, "begin") {
	case 0:
		kind, seen = "LATEST", len(r.events)
	case 1, 2:
		if len(r.numbers) == 0 {
			break
		}
		i := rapid.IntRange(0, len(r.numbers)-1).Draw(rt, "number")
		kind, seen, more = "AT_SEQUENCE_NUMBER", i, `,"SequenceNumber":"`+r.numbers[i]+`"`
		if rapid.Bool().Draw(rt, "after") {
			kind, seen = "AFTER_SEQUENCE_NUMBER", i+1
		}
	}
	got := r.do("GetShardIterator", `{"StreamArn":"`+r.arn+`","ShardId":"`+shard+`","ShardIteratorType":"`+kind+`"`+more+`}`)
	r.readers = append(r.readers, &streamReader{iterator: text(rt, got, "ShardIterator"), seen: seen})
}

// page is an answer of GetRecords.
type page struct {
	NextShardIterator string
	Records           []struct {
		EventName string `json:"eventName"`
		Dynamodb  struct {
			SequenceNumber           string
			Keys, OldImage, NewImage struct {
				A struct{ S string } `json:"a"`
				N struct{ N string } `json:"n"`
			}
		} `json:"dynamodb"`
	}
}

func readPage(t rapid.TB, body string) page {
	t.Helper()
	var p page
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return p
}

// read reads a page and compares it with the writes.
func (r *streamRun) read(rd *streamReader, limit int) (n int) {
	p := readPage(r.rt, r.do("GetRecords", fmt.Sprintf(`{"ShardIterator":%s,"Limit":%d}`, quote(rd.iterator), limit)))
	if len(p.Records) > limit {
		r.rt.Fatalf("%d records, the limit is %d", len(p.Records), limit)
	}
	for _, rec := range p.Records {
		if rd.seen == len(r.events) {
			r.rt.Fatalf("a record of nothing: %v", rec)
		}
		want := r.events[rd.seen]
		name := map[[2]bool]string{{false, true}: "INSERT", {true, true}: "MODIFY", {true, false}: "REMOVE"}[[2]bool{want.old != 0, want.now != 0}]
		old, _ := strconv.Atoi(rec.Dynamodb.OldImage.N.N)
		now, _ := strconv.Atoi(rec.Dynamodb.NewImage.N.N)
		if got := (streamEvent{rec.Dynamodb.Keys.A.S, old, now}); got != want || rec.EventName != name {
			r.rt.Fatalf("event %d is %s %v, want %s %v", rd.seen, rec.EventName, got, name, want)
		}
		if rd.seen == len(r.numbers) {
			r.numbers = append(r.numbers, rec.Dynamodb.SequenceNumber)
		} else if rd.seen < len(r.numbers) && r.numbers[rd.seen] != rec.Dynamodb.SequenceNumber {
			r.rt.Fatalf("event %d was %s and is %s", rd.seen, r.numbers[rd.seen], rec.Dynamodb.SequenceNumber)
		}
		rd.seen++
	}
	rd.iterator = p.NextShardIterator
	return len(p.Records)
}

// finish reads everything: each reader reaches the last event, and the events add up to the table.
func (r *streamRun) finish() {
	for _, rd := range r.readers {
		for rd.seen < len(r.events) {
			before := rd.iterator
			if r.read(rd, 1000) == 0 && rd.iterator == before {
				r.rt.Fatalf("a reader stands still at event %d of %d", rd.seen, len(r.events))
			}
		}
		if n := r.read(rd, 1000); n != 0 {
			r.rt.Fatalf("%d records behind the last", n)
		}
	}
	if !slices.IsSorted(r.numbers) {
		r.rt.Fatalf("out of order: %v", r.numbers)
	}
	state := map[string]int{}
	for _, e := range r.events {
		if state[e.key] = e.now; e.now == 0 {
			delete(state, e.key)
		}
	}
	if got := scanned(r.rt, r.do("Scan", `{"TableName":"tab"}`)); !maps.Equal(got, state) {
		r.rt.Fatalf("the table has %v, its stream gives %v", got, state)
	}
}

// scanned returns the numbers of the items in an answer of Scan.
func scanned(t rapid.TB, body string) map[string]int {
	t.Helper()
	var got struct {
		Items []struct {
			A struct{ S string } `json:"a"`
			N struct{ N string } `json:"n"`
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	items := map[string]int{}
	for _, it := range got.Items {
		items[it.A.S], _ = strconv.Atoi(it.N.N)
	}
	return items
}

// TestStreamTellsEachChangeOnceAndInOrder: whatever is written, however often the node restarts and wherever its readers are, they see
// each change once and in order, and the changes add up to the table.
func TestStreamTellsEachChangeOnceAndInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := &streamRun{rt: rt, path: filepath.Join(t.TempDir(), "store.db"), items: map[string]int{}}
		r.open()
		defer func() { _ = r.s.Close() }()
		r.do("CreateTable", `{"TableName":"other","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
		got := r.do("CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",`+simple+
			`,"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}}`)
		r.arn = text(rt, got, "TableDescription", "LatestStreamArn")
		rt.Repeat(map[string]func(*rapid.T){
			"write":  r.write,
			"write2": r.write,
			"begin":  r.begin,
			"read": func(rt *rapid.T) {
				if len(r.readers) == 0 {
					rt.Skip()
				}
				r.read(rapid.SampledFrom(r.readers).Draw(rt, "reader"), rapid.IntRange(1, 5).Draw(rt, "limit"))
			},
			"restart": func(rt *rapid.T) {
				if err := r.s.Close(); err != nil {
					rt.Fatal(err)
				}
				r.open()
			},
		})
		r.begin(rt)
		r.finish()
	})
}

// TestStreamBesideWriters: a reader with many concurrent writers misses nothing and sees nothing twice.
func TestStreamBesideWriters(t *testing.T) {
	const writers, writes = 4, 100
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "store.db"), store.Options{NoSync: true})
	a := dynamoapi.New(dynamoapi.Config{Store: s})
	arn := streamed(t, a, "tab", "NEW_AND_OLD_IMAGES")
	next := iterator(t, a, arn, "TRIM_HORIZON", "")
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range writes {
				body := fmt.Sprintf(`{"TableName":"tab","Key":{"a":{"S":"%d"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"1"}}}`, i%3)
				if _, err := a.Do(context.Background(), "UpdateItem", []byte(body)); err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	state, last, seen := map[string]int{}, "", 0
	wait.Until(t, "every write is in the stream", func() bool {
		p := readPage(t, accepted(t, a, "GetRecords", `{"ShardIterator":`+quote(next)+`,"Limit":7}`))
		for _, rec := range p.Records {
			key := rec.Dynamodb.Keys.A.S
			old, _ := strconv.Atoi(rec.Dynamodb.OldImage.N.N)
			now, _ := strconv.Atoi(rec.Dynamodb.NewImage.N.N)
			if old != state[key] || now != old+1 || rec.Dynamodb.SequenceNumber <= last {
				t.Fatalf("%s goes from %d to %d at %s; it was %d at %s", key, old, now, rec.Dynamodb.SequenceNumber, state[key], last)
			}
			state[key], last = now, rec.Dynamodb.SequenceNumber
			seen++
		}
		next = p.NextShardIterator
		return seen == writers*writes
	}, func() any { return fmt.Sprintf("%d of %d records", seen, writers*writes) })
	all.Wait()
	if got := scanned(t, accepted(t, a, "Scan", `{"TableName":"tab"}`)); !maps.Equal(got, state) {
		t.Errorf("the table has %v, its stream gives %v", got, state)
	}
}
