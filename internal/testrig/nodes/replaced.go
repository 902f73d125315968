package nodes

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// Replaced is a day on which machine a is replaced from a copy of its disk, while node b works on. Whatever a machine has acknowledged must
// be in the cloud and at both nodes in the end. Whatever is not, and no person is asked about it, was dropped in silence.
type Replaced struct {
	*Apart
	// Write makes the application acknowledge write number n at a machine. It calls Acknowledged.
	Write func(at string, n int)

	acks    []acknowledged
	asked   []string // the open conflicts, as JSON
	decided []string // conflicts that nobody was asked about, as JSON
}

// acknowledged is a write that a machine has acknowledged.
type acknowledged struct {
	what string
	mark string                                // a text that only this write has
	in   func(cloud map[string]attr.Item) bool // reports whether the cloud has it
}

// Acknowledged records that a write was acknowledged. mark is a text that no other write has, and in reports whether the cloud has the
// write.
func (r *Replaced) Acknowledged(what, mark string, in func(cloud map[string]attr.Item) bool) {
	r.acks = append(r.acks, acknowledged{fmt.Sprint(what, " ", mark), mark, in})
}

// disks is what there is to start from once machine a has lost its power.
type disks struct {
	backup string // copied while the machine ran: 6 writes that were sent came later, and 12 that were not
	old    string // the machine's own
}

// firstSchedule is the one that short runs play.
const firstSchedule = "the backup, then the old disk"

// PlayReplaced plays the schedules, each in a bubble and with a day of its own; with -short one of them.
func PlayReplaced(t *testing.T, begin func(t *testing.T) *Replaced) {
	t.Helper()
	for name, schedule := range replacedSchedules() {
		if testing.Short() && name != firstSchedule {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { begin(t).play(schedule) })
		})
	}
}

// later is how many writes are acknowledged at a copy of the machine.
const later = 9

// replacedSchedules returns the schedules by their names. Each ends with a machine a that runs.
func replacedSchedules() map[string]func(r *Replaced) {
	return map[string]func(r *Replaced){
		firstSchedule: func(r *Replaced) {
			d := r.losesPower()
			r.visits(d.backup)
			r.PowerOn("a", d.old)
		},
		"the old disk, then the backup": func(r *Replaced) {
			d := r.losesPower()
			r.visits(d.old)
			r.PowerOn("a", d.backup)
		},
		"the backup and the old disk, twice": func(r *Replaced) {
			d := r.losesPower()
			backup := r.visits(d.backup)
			old := r.visits(d.old)
			r.visits(backup)
			r.PowerOn("a", old)
		},
		"a snapshot elsewhere for 15 s": func(r *Replaced) {
			r.Cut("a")
			r.Pass(time.Minute) // it knows that it is cut off, so that it sends nothing in vain
			snapshot := r.CopyDisk("a")
			r.plays("a", 12)
			r.Pass(time.Minute)
			r.PowerOn("elsewhere", snapshot)
			r.plays("elsewhere", later)
			r.Pass(15 * time.Second)
			r.remember("elsewhere")
			r.PowerOff("elsewhere")
			r.plays("a", 6)
			r.Heal("a")
		},
	}
}

// play plays a schedule.
func (r *Replaced) play(schedule func(r *Replaced)) {
	r.T.Helper()
	schedule(r)
	r.settles("a")
	r.settles("b") // which has read everything by then
	cloud := r.Equal()
	r.remember("a")
	r.remember("b")
	asked := 0
	for _, a := range r.acks {
		about := slices.ContainsFunc(r.asked, func(conflict string) bool { return strings.Contains(conflict, a.mark) })
		if about {
			asked++
		}
		if !a.in(cloud) && !about {
			r.Bad("acknowledged, not in the cloud, and nobody is asked: %s", a.what)
		}
	}
	if asked > 0 { // nothing waited when the disk was copied, so it is certain which machine wrote what
		r.Bad("a person is asked about %d of %d writes", asked, len(r.acks))
	}
	r.T.Logf("%d writes acknowledged, about %d of them a person is asked, %d conflicts decided", len(r.acks), asked, len(r.decided))
	if wrong := r.Report(); wrong != "" {
		r.T.Error(wrong)
	}
}

// losesPower lets machine a write what it sends and what it cannot send, and switches it off.
func (r *Replaced) losesPower() (d disks) {
	r.T.Helper()
	d.backup = r.CopyDisk("a")
	r.plays("a", 6)
	r.Pass(2 * time.Minute)
	r.Cut("a")
	r.Pass(time.Minute)
	r.plays("a", 12)
	r.Pass(2 * time.Minute)
	d.old = r.PowerOff("a")
	return d
}

// visits starts machine a on a disk, writes there, and switches it off when everything is sent.
func (r *Replaced) visits(disk string) (left string) {
	r.T.Helper()
	r.PowerOn("a", disk)
	r.Pass(10 * time.Second)
	r.plays("a", later)
	r.settles("a")
	r.remember("a")
	return r.PowerOff("a")
}

// plays acknowledges writes at a machine.
func (r *Replaced) plays(at string, writes int) {
	r.T.Helper()
	for range writes {
		before := len(r.acks)
		if r.Write(at, before); len(r.acks) == before {
			r.T.Fatalf("write %d was not acknowledged at %s: %s", before, at, r.Trace[len(r.Trace)-1])
		}
	}
}

// settles waits until nothing waits at a machine.
func (r *Replaced) settles(at string) {
	r.T.Helper()
	r.Pass(2 * time.Minute)
	for range 60 {
		var st struct{ Waiting int }
		if r.Read(r.Want(at, Boss, http.MethodGet, "/_/api/sync", ""), &st); st.Waiting == 0 {
			return
		}
		r.Pass(time.Minute)
	}
	r.Bad("writes still wait at %s", at)
}

// remember remembers what a person is asked at a machine.
func (r *Replaced) remember(at string) {
	r.T.Helper()
	var list struct {
		Items []struct {
			ID    uint64
			State string
		}
	}
	r.Read(r.Want(at, Boss, http.MethodGet, "/_/api/conflicts?state=all&limit=100", ""), &list)
	for _, item := range list.Items {
		answer := r.Want(at, Boss, http.MethodGet, fmt.Sprint("/_/api/conflicts/", item.ID), "")
		r.Trace = append(r.Trace, at+" "+answer)
		if item.State == "open" {
			r.asked = append(r.asked, answer)
		} else {
			r.decided = append(r.decided, answer)
		}
	}
}
