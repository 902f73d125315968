//go:build long && linux

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/touchline/touchline/edge/cricket/cricketapp"
)

// differs returns where a node's data differs from the cloud's; empty: nowhere. Data of other nodes' matches is read on request, as
// here.
func (f *fleet) differs(n *cloudNode) string {
	f.t.Helper()
	for _, p := range f.phones {
		for _, path := range []string{"/matches/" + p.match + "/events", "/user/follow/" + p.match} {
			if status := f.as(n, p.UserID, http.MethodGet, path, nil, nil); status != http.StatusOK {
				return fmt.Sprintf("GET %s: %d", path, status)
			}
		}
	}
	for table, keys := range map[string][]string{
		"active-matches": {"matchId"}, "cricket-events": {"matchId", "eventKey"}, "cricket-match-follows": {"matchId", "userId"},
	} {
		there, here := byKey(f.items(table), keys), byKey(allOf(f.t.Context(), f.t, n.api, table), keys)
		for key, item := range there {
			if here[key] != item {
				return fmt.Sprintf("%s %s\ncloud: %s\nnode: %s", table, key, item, here[key])
			}
			delete(here, key)
		}
		for key, item := range here {
			return fmt.Sprintf("%s %s is not in the cloud: %s", table, key, item)
		}
	}
	return ""
}

// byKey returns items as text, without the nodes' own attributes.
func byKey(items []map[string]types.AttributeValue, keys []string) map[string]string {
	out := map[string]string{}
	for _, it := range items {
		var key []string
		for _, name := range keys {
			key = append(key, text(it[name]))
		}
		flat := map[string]any{}
		for name, v := range it {
			if !strings.HasPrefix(name, "_") {
				flat[name] = plainValue(v)
			}
		}
		raw, err := json.Marshal(flat)
		if err != nil {
			raw = []byte(err.Error())
		}
		out[strings.Join(key, " ")] = string(raw)
	}
	return out
}

// plainValue is a value for comparing.
func plainValue(v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		out := map[string]any{}
		for name, inner := range v.Value {
			out[name] = plainValue(inner)
		}
		return out
	case *types.AttributeValueMemberL:
		out := make([]any, 0, len(v.Value))
		for _, inner := range v.Value {
			out = append(out, plainValue(inner))
		}
		return out
	case *types.AttributeValueMemberN:
		return json.Number(v.Value)
	default:
		return v
	}
}

// judge checks what the phones received, and everything ever written to the cloud. It returns the matches as a single node plays them.
func (f *fleet) judge() (alone []*cricketapp.ReplayReport) {
	f.t.Helper()
	alone = f.alone()
	for i, m := range f.matches {
		f.judgeRows(m)
		f.judgeEvents(m, alone[i])
	}
	return alone
}

// alone plays each match on a single node.
func (f *fleet) alone() (out []*cricketapp.ReplayReport) {
	f.t.Helper()
	var recordings []string
	for _, m := range f.matches {
		recordings = append(recordings, m.recording)
	}
	err := cricketapp.Replay(f.t.Context(), cricketapp.ReplayConfig{Sources: recordings, Phones: 1, Report: func(r *cricketapp.ReplayReport) error {
		out = append(out, r)
		return nil
	}})
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

// judgeRows checks all versions of a match's row: fences only grow, and each belongs to one node. It reports the longest silence.
func (f *fleet) judgeRows(m fleetMatch) {
	f.t.Helper()
	var last fleetRow
	var longest time.Duration
	var by []string
	for _, c := range f.history("active-matches") {
		if c.key["matchId"] != m.id || c.item == nil {
			continue
		}
		r := rowOf(c.item)
		switch {
		case r.fence < last.fence:
			f.t.Errorf("match %s: fence %d after %d", m.id, r.fence, last.fence)
		case r.fence == last.fence && r.node != last.node:
			f.t.Errorf("match %s: two nodes wrote under fence %d: %s and %s", m.id, r.fence, last.node, r.node)
		case r.fence > last.fence:
			by = append(by, f.byID(r.node).name)
		}
		if !last.at.IsZero() && !last.over {
			longest = max(longest, r.at.Sub(last.at))
		}
		last = r
	}
	f.say("match %s was told by %s in turn; it was silent for %v at most", m.id, strings.Join(by, ", "), longest.Round(100*time.Millisecond))
	if len(by) == 0 || longest > fleetTTL+fleetWait+fleetSlack {
		f.t.Errorf("match %s was told by %v, and silent for %v", m.id, by, longest)
	}
}

// fleetEvent is an event as stored in the cloud.
type fleetEvent struct {
	key, kind, text, dropped, node string
	at                             time.Time
	alert                          bool
}

// judgeEvents checks the events of a match: each was created once, all events that count exist, and every follower received each
// claimed one once.
func (f *fleet) judgeEvents(m fleetMatch, alone *cricketapp.ReplayReport) {
	f.t.Helper()
	events := map[string]fleetEvent{}
	made := map[string]int{}
	for _, c := range f.history("cricket-events") {
		if c.key["matchId"] != m.id {
			continue
		}
		key := c.key["eventKey"]
		if c.made {
			made[key]++
		}
		if c.item == nil || made[key] > 1 {
			f.t.Errorf("match %s: event %s was made %d times, or removed", m.id, key, made[key])
			continue
		}
		e := fleetEvent{key: key, kind: text(c.item["type"]), text: text(c.item["text"]), dropped: text(c.item["dropped"])}
		e.at, _ = time.Parse(time.RFC3339, text(c.item["at"]))
		e.node, _, _ = strings.Cut(text(c.item["_c"]), ".")
		b, _ := c.item["alert"].(*types.AttributeValueMemberBOOL)
		e.alert = b != nil && b.Value
		events[key] = e
	}
	f.judgeRecord(m, events, alone)
	for _, p := range f.phones {
		if p.match == m.id {
			f.judgePhone(&p, events)
		}
	}
}

// judgeRecord compares the events with those of a single node that plays the match: all key events up to the last one found must exist.
func (f *fleet) judgeRecord(m fleetMatch, events map[string]fleetEvent, alone *cricketapp.ReplayReport) {
	f.t.Helper()
	last, found := -1, map[string]int{}
	for i := range alone.Record {
		if _, there := events[alone.Record[i].Key]; there {
			last = i
		}
	}
	for i := range alone.Record[:last+1] {
		e := &alone.Record[i]
		if kind := string(e.Type); slices.Contains([]string{"wicket", "fifty", "hundred", "innings_end", "result"}, kind) {
			if got, there := events[e.Key]; !there || got.kind != kind {
				f.t.Errorf("match %s: %s %q is missing, or is %+v", m.id, e.Key, e.Text, got)
			}
			found[kind]++
		}
	}
	fate := map[string]int{} // of those that were not there before
	for _, e := range events {
		switch {
		case e.alert:
			fate["told"]++
		case e.dropped != "":
			fate[e.dropped]++
		}
	}
	f.say("match %s: %d events of %d, %v among them; %v", m.id, len(events), len(alone.Record), found, fate)
}

// judgePhone checks what a phone received.
func (f *fleet) judgePhone(p *fleetPhone, events map[string]fleetEvent) {
	f.t.Helper()
	said := map[string]int{} // how many events have a text
	for _, e := range events {
		said[e.text]++
	}
	heard := map[string]int{}
	for _, r := range f.box.Records(0) {
		if r.Phone == p.Name && r.Alert != nil && r.Event != "start" && r.Status == 200 {
			heard[textOf(r.Alert.Body, said)]++
		}
	}
	told := 0
	for body, n := range heard {
		told += n
		if n > max(1, said[body]) {
			f.t.Errorf("%s heard %d times %q", p.Name, n, body)
		}
	}
	for key, e := range events {
		_, was := heard[e.text]
		delete(heard, e.text)
		switch {
		case said[e.text] > 1: // nobody knows which one was heard
		case was && !e.alert:
			f.t.Errorf("%s heard of what nobody claimed: %+v", p.Name, e)
		case was || !e.alert:
		case f.hadTrouble(e):
			f.say("%s did not hear %s %q of %s, claimed by %s, which had trouble then", p.Name, key, e.text, e.at.Format("15:04:05"), f.byID(e.node).name)
		default:
			f.t.Errorf("%s did not hear %s %q of %s, claimed by %s", p.Name, key, e.text, e.at.Format("15:04:05"), e.node)
		}
	}
	if len(heard) > 0 {
		f.t.Errorf("%s heard of what is no event: %v", p.Name, heard)
	}
	f.say("%s heard %d alerts", p.Name, told)
}

// textOf returns the text of the event that an alert tells: the body of a result has the scores after it.
func textOf(body string, said map[string]int) string {
	for text := range said {
		if strings.HasPrefix(body, text+" · ") {
			return text
		}
	}
	return body
}

// hadTrouble reports whether the node that claimed an alert was killed, paused or cut off at that time: nobody else sends what it had
// claimed.
func (f *fleet) hadTrouble(e fleetEvent) bool {
	return slices.ContainsFunc(f.spells, func(s spell) bool {
		return f.ids[s.node] == e.node && e.at.After(s.from.Add(-2*fleetTTL)) && (s.to.IsZero() || e.at.Before(s.to))
	})
}

// fleetChange is one write that the cloud accepted.
type fleetChange struct {
	key  map[string]string
	item map[string]types.AttributeValue // nil: it was deleted
	made bool
}

// history returns everything ever written to a table, from its stream.
func (f *fleet) history(table string) (out []fleetChange) {
	f.t.Helper()
	c := dynamodbstreams.New(dynamodbstreams.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(strings.TrimSuffix(f.URL, "/")), HTTPClient: reader{f.Client},
		Credentials: credentials.NewStaticCredentialsProvider("node", "secret", ""),
	})
	ctx := f.t.Context()
	must := func(err error) {
		if err != nil {
			f.t.Fatal(err)
		}
	}
	list, err := c.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: aws.String("p-" + table)})
	must(err)
	stream, err := c.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: list.Streams[0].StreamArn})
	must(err)
	for _, shard := range stream.StreamDescription.Shards {
		at, err := c.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
			StreamArn: list.Streams[0].StreamArn, ShardId: shard.ShardId, ShardIteratorType: streams.ShardIteratorTypeTrimHorizon,
		})
		must(err)
		for next := at.ShardIterator; next != nil; {
			page, err := c.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: next})
			must(err)
			if len(page.Records) == 0 {
				break
			}
			for i := range page.Records {
				out = append(out, changeOf(&page.Records[i]))
			}
			next = page.NextShardIterator
		}
	}
	return out
}

func changeOf(r *streams.Record) fleetChange {
	c := fleetChange{key: map[string]string{}, made: r.EventName == streams.OperationTypeInsert}
	for name, v := range r.Dynamodb.Keys {
		c.key[name] = text(fromStream(v))
	}
	if r.EventName != streams.OperationTypeRemove {
		c.item = map[string]types.AttributeValue{}
		for name, v := range r.Dynamodb.NewImage {
			c.item[name] = fromStream(v)
		}
	}
	return c
}

// fromStream converts a value to the type of the tables' client, as far as the test uses it.
func fromStream(v streams.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *streams.AttributeValueMemberS:
		return s(v.Value)
	case *streams.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: v.Value}
	case *streams.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}
	default:
		return nil
	}
}
