package web

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/edge/hacktracker"
)

// An owner has at most 200 teams. The one that is too many is refused in words, and a deleted team makes room.
func TestMostTeamsOfAnOwner(t *testing.T) {
	r := newRig(t)
	team := ""
	for n := range hacktracker.MaxTeams {
		team = id(r.want(201, "", "ana", "POST", "/teams", fmt.Sprintf(`{"name":"Team %d","teamType":"MANAGED"}`, n)), "teamId")
	}
	const oneMore = `{"name":"One More","teamType":"MANAGED"}`
	r.want(409, "There are 200 teams of yours, the most allowed: delete some first.", "ana", "POST", "/teams", oneMore)
	r.want(201, "", "ben", "POST", "/teams", oneMore)
	r.want(204, "", "ana", "DELETE", "/teams/"+team, "")
	r.want(201, "", "ana", "POST", "/teams", oneMore)
	r.want(409, "the most allowed", "ana", "POST", "/teams", oneMore)
}
