//go:build long && linux

package main

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/internal/testrig/faultproxy"
)

// set gives an item a value through a node's endpoint, remove takes one away, as a client does.
func (n *cloudNode) set(id string, v int) {
	n.t.Helper()
	_, err := n.api.UpdateItem(n.t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(nodeTable), Key: key(id), UpdateExpression: aws.String("SET v = :v"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":v": num(v)},
	})
	if err != nil {
		n.t.Fatal(err)
	}
}

func (n *cloudNode) remove(id string) {
	n.t.Helper()
	if _, err := n.api.DeleteItem(n.t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(nodeTable), Key: key(id)}); err != nil {
		n.t.Fatal(err)
	}
}

func (n *cloudNode) items() map[string]string {
	n.t.Helper()
	return table(n.t.Context(), n.t, n.api, nodeTable)
}

// status is all that `sync status` says, as text.
func (n *cloudNode) status() string {
	var all json.RawMessage
	if !n.ask(&all, "sync", "status") {
		return "no answer"
	}
	return string(all)
}

// holds counts the writes that wait because a late copy of an earlier one may come.
func (n *cloudNode) holds() (held int) {
	var s struct {
		Lanes []struct{ Parked []struct{ Why string } }
	}
	n.ask(&s, "sync", "status")
	for _, l := range s.Lanes {
		for _, p := range l.Parked {
			if p.Why == "hold" {
				held++
			}
		}
	}
	return held
}

// A table is dropped under running nodes and made anew, empty. Nobody deletes what they have; what waits says why; and when
// the nodes are started anew, as they ask, the cloud has everything again but what was withdrawn, and nothing waits for ever.
func TestTableMadeAnewUnderNodes(t *testing.T) {
	rig := newCloudRig(t)
	if _, code := rig.migrate(); code != 0 {
		t.Fatalf("migrate: exit %d", code)
	}
	foreign := rig.foreign()
	a, b := rig.node("a", 1), rig.node("b", 2)
	nodes := []*cloudNode{a, b}
	t.Cleanup(func() { keepLogs(t, nodes) })
	for _, n := range nodes {
		n.start()
	}
	for _, id := range []string{"kept", "changed", "withdrawn", "withdrawnByB", "late"} {
		a.set(id, 1)
	}
	b.until("it has what the other wrote", time.Minute, func() bool { return len(b.items()) == 5 })
	a.drained(time.Minute)

	rig.do("DeleteTable", `{"TableName":"`+cloudTable+`"}`)
	if _, code := rig.migrate(); code != 0 {
		t.Fatalf("migrate: exit %d", code)
	}
	a.remove("withdrawn")
	b.remove("withdrawnByB")
	b.set("changed", 2)
	a.set("new", 1)
	for _, n := range nodes {
		n.until("it is known, or nothing waits", time.Minute, func() bool { s := n.sync(); return len(s.Alarms) > 0 || s.Waiting == 0 && s.State != "no answer" })
	}
	<-time.After(10 * time.Second) // two passes of the feed
	for _, n := range nodes {
		s, have := n.sync(), n.items()
		if s.Waiting > 0 && !strings.Contains(strings.Join(s.Alarms, " "), "made again") {
			t.Errorf("%s: %d writes wait, and nobody is told why", n.name, s.Waiting)
		}
		for _, id := range []string{"kept", "changed", "late"} {
			if have[id] == "" {
				t.Errorf("%s has lost %s", n.name, id)
			}
		}
	}
	a.remove("late")

	for _, n := range nodes {
		n.stop()
		n.door.Set(faultproxy.Weather{})
		n.start()
	}
	for _, n := range nodes {
		defer func() {
			if t.Failed() {
				var log json.RawMessage
				n.ask(&log, "conflicts", "list")
				t.Logf("%s: %s; %s", n.name, n.status(), log)
			}
			n.stop()
		}()
		n.until("nothing waits but for a hold", 150*time.Second, func() bool { return n.holds() == n.sync().Waiting })
	}
	// What was withdrawn while nothing was sent waits until no late copy of its repeated create can come. That is "late", and
	// what was withdrawn first, if the node had noticed by then that the table is another.
	want := map[string]string{
		"late": `{"teamId":"late","v":"1"}`,
		"kept": `{"teamId":"kept","v":"1"}`, "changed": `{"teamId":"changed","v":"2"}`, "new": `{"teamId":"new","v":"1"}`,
	}
	got := table(t.Context(), t, foreign, cloudTable)
	got["late"] = want["late"] // there for as long as it is held
	if a.holds() > 1 {
		delete(got, "withdrawn")
	}
	if b.holds() > 0 {
		delete(got, "withdrawnByB")
	}
	if !maps.Equal(got, want) {
		t.Errorf("the cloud has %v, want %v", got, want)
	}
	a.until("it is as the cloud, and without what was withdrawn there", time.Minute, func() bool {
		have := a.items()
		have["late"] = want["late"]
		delete(have, "withdrawnByB") // which it may keep, as b below
		return maps.Equal(have, want) && a.items()["late"] == ""
	})
	// b cannot tell what the other has withdrawn from what was lost with the table: it keeps it.
	want["withdrawn"] = `{"teamId":"withdrawn","v":"1"}`
	b.until("it is as the cloud, and has what it had", time.Minute, func() bool {
		have := b.items()
		have["late"] = want["late"]
		return maps.Equal(have, want)
	})
}
