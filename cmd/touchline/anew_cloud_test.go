//go:build long && linux

package main

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/internal/testrig/faultproxy"
)

// set sets an item's value through a node's endpoint, as a client does; remove deletes it.
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

// status returns the output of `sync status` as text.
func (n *cloudNode) status() string {
	var all json.RawMessage
	if !n.ask(&all, "sync", "status") {
		return "no answer"
	}
	return string(all)
}

// onlyHeld reports whether all waiting writes are held because a late copy of an earlier write may arrive, and how many there are.
func (n *cloudNode) onlyHeld() (held int, only bool) {
	var s struct {
		Waiting int
		Lanes   []struct{ Parked []struct{ Why string } }
	}
	if !n.ask(&s, "sync", "status") {
		return 0, false
	}
	for _, l := range s.Lanes {
		for _, p := range l.Parked {
			if p.Why == "hold" {
				held++
			}
		}
	}
	return held, held == s.Waiting
}

// feedPassed waits until the node's feed has passed a number of times from now on, with or without success. The rule of a table that is
// not the one that it was has no passes; others are due as often.
func (n *cloudNode) feedPassed(times int) {
	n.t.Helper()
	type rule struct {
		Rule, LastPass string
		Errors         int
	}
	last, passes := map[string]rule{}, map[string]int{}
	n.until("its feed passes", nodePatience, func() (passed bool) {
		var s struct{ Feed []rule }
		if !n.ask(&s, "sync", "status") {
			return false
		}
		for _, r := range s.Feed {
			if was, seen := last[r.Rule]; seen && r != was {
				passes[r.Rule]++
			}
			last[r.Rule] = r
			passed = passed || passes[r.Rule] >= times
		}
		return passed
	})
}

// A table is dropped and created again, empty, under running nodes. No node deletes its items, and waiting writes say why they wait.
// When the nodes are restarted, as they ask for, the cloud has everything again except what was deleted in the meantime, and nothing
// waits forever.
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
	b.until("it has what the other wrote", nodePatience, func() bool { return len(b.items()) == 5 })
	a.drained(nodePatience)

	rig.do("DeleteTable", `{"TableName":"`+cloudTable+`"}`)
	if _, code := rig.migrate(); code != 0 {
		t.Fatalf("migrate: exit %d", code)
	}
	a.remove("withdrawn")
	b.remove("withdrawnByB")
	b.set("changed", 2)
	a.set("new", 1)
	for _, n := range nodes {
		n.until("it is known, or nothing waits", nodePatience, func() bool { s := n.sync(); return len(s.Alarms) > 0 || s.Waiting == 0 && s.State != "no answer" })
	}
	for _, n := range nodes {
		n.feedPassed(2)
	}
	for _, n := range nodes {
		n.until("nothing waits, or its reason is told", nodePatience, func() bool {
			s := n.sync()
			return s.Waiting == 0 || strings.Contains(strings.Join(s.Alarms, " "), "created again")
		})
		have := n.items()
		for _, id := range []string{"kept", "changed", "late"} {
			if have[id] == "" {
				t.Errorf("%s has lost %s", n.name, id)
			}
		}
	}
	a.remove("late")

	for _, n := range nodes {
		n.stop()
		n.door.Set(faultproxy.Conditions{})
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
		n.until("nothing waits but for a hold", nodePatience, func() bool { _, only := n.onlyHeld(); return only })
	}
	// An item deleted while nothing was sent waits until no late copy of its repeated create can arrive. That is "late", and what was
	// deleted first, if the node had noticed the new table by then.
	want := map[string]string{
		"late": `{"teamId":"late","v":"1"}`,
		"kept": `{"teamId":"kept","v":"1"}`, "changed": `{"teamId":"changed","v":"2"}`, "new": `{"teamId":"new","v":"1"}`,
	}
	var got map[string]string
	defer func() {
		if t.Failed() {
			t.Logf("the cloud had %v, want %v", got, want)
		}
	}()
	a.until("the cloud has everything again", nodePatience, func() bool { // a node may notice only now what was lost
		got = table(t.Context(), t, foreign, cloudTable)
		got["late"] = want["late"] // there for as long as it is held
		if held, _ := a.onlyHeld(); held > 1 {
			delete(got, "withdrawn")
		}
		if held, _ := b.onlyHeld(); held > 0 {
			delete(got, "withdrawnByB")
		}
		return maps.Equal(got, want)
	})
	a.until("it is as the cloud, and without what was withdrawn there", nodePatience, func() bool {
		have := a.items()
		have["late"] = want["late"]
		delete(have, "withdrawnByB") // which it may keep, as b below
		return maps.Equal(have, want) && a.items()["late"] == ""
	})
	// b cannot distinguish what the other deleted from what was lost with the table, so it keeps it.
	want["withdrawn"] = `{"teamId":"withdrawn","v":"1"}`
	b.until("it is as the cloud, and has what it had", nodePatience, func() bool {
		have := b.items()
		have["late"] = want["late"]
		return maps.Equal(have, want)
	})
}
