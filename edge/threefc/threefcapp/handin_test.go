package threefcapp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/testrig/web"
)

// handIn has a node record a file of entries, and returns how many it says to count now and before.
func (f *pairOfNodes) handIn(at string, entries []handover.Entry) (counted, already int) {
	f.T.Helper()
	raw, err := (&handover.File{Scope: "/3fc/-/", Entries: entries}).Encode()
	if err != nil {
		f.T.Fatal(err)
	}
	form, kind := web.Form(f.T, "entries", string(raw), false)
	page := f.want(200, at, "POST", "/-/handover", form, "Content-Type", kind, "Sec-Fetch-Site", "same-origin")
	return strings.Count(page, `data-state="counted"`), strings.Count(page, `data-state="already"`)
}

// Two nodes that cannot reach the cloud take the same file, and the phone itself sends it too: each goal counts once, at each node, and nobody is asked.
func TestHandInAtTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPairOfNodes(t)
		f.game("l1", "g1")
		f.Pass(time.Minute)
		f.want(200, "b", "GET", "/v1/games/g1", "")
		f.Pass(time.Minute)
		phone := handover.NewDevice()
		hash, _ := handover.DeviceHash(phone)
		var file []handover.Entry
		for i, body := range []string{goalBy("red", "blue", "redg1"), goalBy("yellow", "red", "yellowg1"), goalBy("red", "blue", "redg1")} {
			made := time.Now().Add(time.Duration(10*i-60) * time.Second)
			file = append(file, handover.Entry{
				Key: fmt.Sprintf("01K4D2Z9C%dZZZZZZZZZZZZZZ%02d", i, i), Device: hash, Method: "POST", Path: "/3fc/v1/games/g1/goals", Body: body, At: made.UnixMilli(),
			})
		}
		f.Cut("a", "b")
		for _, at := range []string{"a", "b"} {
			if counted, already := f.handIn(at, file); counted != 3 || already != 0 {
				t.Errorf("%s: %d counted, %d already", at, counted, already)
			}
		}
		f.Heal("a", "b")
		f.Pass(5 * time.Minute)
		if counted, already := f.handIn("b", file); counted != 0 || already != 3 {
			t.Errorf("again: %d counted, %d already", counted, already)
		}
		for i := range file {
			ago := fmt.Sprint(time.Since(time.UnixMilli(file[i].At)).Seconds())
			f.want(201, "a", "POST", "/v1/games/g1/goals", file[i].Body, "Idempotency-Key", file[i].Key, "Touchline-Occurred-Ago", ago,
				"Cookie", f.cookie+"; touchline_device="+phone, "Sec-Fetch-Site", "same-origin")
		}
		f.Pass(time.Minute)
		f.Quiet()
		for _, at := range []string{"a", "b"} {
			if goals := f.want(200, at, "GET", "/v1/games/g1/goals", ""); strings.Count(goals, `"eventId"`) != 3 {
				t.Errorf("%s: %s", at, goals)
			}
			if page := f.want(200, at, "GET", "/-/games/g1/score", "", "Accept", "text/html"); strings.Count(page, "handed in by") != 3 || strings.Contains(page, "refused") {
				t.Errorf("%s: %s", at, page)
			}
		}
	})
}
