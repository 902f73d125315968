package web

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Contact data is for oneself and for active members of a common team; anybody else sees a first name.
func TestContactDataIsForTheTeam(t *testing.T) {
	r := newRig(t)
	people := cast(r, false)
	whole := map[string]bool{"owner": true, "manager": true, "player": true, "gone": false, "stranger": false, "admin": false}
	for who, want := range whole {
		profile := r.want(200, "", who, "GET", people.Replace("/users/{owner}"), "")
		_, contact := profile["email"]
		if _, name := profile["lastName"]; contact != want || name != want || profile["firstName"] == nil {
			t.Errorf("%s sees %v", who, profile)
		}
	}
}

// contact checks whether somebody sees all of a user's profile, or the first name alone.
func (r *rig) contact(want bool, who, of string) {
	r.t.Helper()
	profile := r.want(200, `"firstName"`, who, "GET", "/users/"+of, "")
	for _, name := range []string{"email", "lastName", "phoneNumber"} {
		if _, ok := profile[name]; ok != want {
			r.t.Errorf("%s sees of %s: %v", who, of, profile)
			return
		}
	}
}

// Whoever makes a team and links a user to a player of it learns nothing of the user before the user has accepted. What the user accepted
// ends with the membership: who links them again or makes the membership active again has to ask them again.
func TestALinkByOthersShowsNoContactData(t *testing.T) {
	r := newRig(t)
	r.want(200, "", "victim", "PUT", "/users/victim", `{"firstName":"Vic","lastName":"Cole","phoneNumber":"+1555"}`)
	team, players := r.team("mallory", "victim", "manager")
	at := "/teams/" + team
	path, member := at+"/players/"+players[0], at+"/members/victim"
	apart := func() {
		t.Helper()
		r.contact(false, "mallory", "victim")
		r.contact(false, "manager", "victim")
		r.page("mallory", at+"/roster", 200, "linked to Vic, player")
		r.want(200, `"offered":true`, "victim", "GET", at, "")
		r.want(200, `"offered":true`, "victim", "GET", "/teams?userId=victim", "")
	}
	apart()
	r.contact(true, "victim", "victim")
	if text := r.ask("mallory", "GET", "/teams?userId=victim", "").Body.String(); strings.Contains(text, "offered") {
		t.Errorf("others learn what the user has accepted: %s", text)
	}
	r.page("victim", "/", 200, "Another member linked you to a player of Bad News.", `action="/hacktracker`+at+`/accept"`, `action="/hacktracker`+at+`/leave"`)
	r.want(200, `"role":"manager"`, "mallory", "PUT", member, `{"role":"manager"}`)
	r.want(200, `"role":"player"`, "mallory", "PUT", member, `{"role":"player"}`)
	apart()

	for _, again := range []func(){
		func() {
			r.want(200, "", "mallory", "PUT", member, `{"status":"inactive"}`)
			r.contact(false, "mallory", "victim")
			r.want(403, "not active", "victim", "POST", at+"/accept", "")
			r.want(200, "", "mallory", "PUT", member, `{"status":"active"}`)
		},
		func() {
			r.want(200, "", "mallory", "POST", path+"/unlink", "")
			r.want(200, "", "mallory", "PUT", member, `{"status":"active"}`)
			r.want(200, "", "mallory", "POST", path+"/link", `{"userId":"victim"}`)
		},
		func() {
			r.want(200, "", "mallory", "POST", path+"/unlink", "")
			r.want(200, "", "mallory", "POST", path+"/link", `{"userId":"victim"}`)
		},
		func() {
			r.want(204, "", "victim", "POST", at+"/leave", "")
			r.contact(false, "mallory", "victim")
			r.want(403, "not active", "victim", "GET", at, "")
			r.want(200, `"isGhost":true`, "mallory", "GET", path, "")
			r.want(200, "", "mallory", "POST", path+"/link", `{"userId":"victim"}`)
		},
	} {
		accepted := r.want(200, `"acceptedAt":"2026-05-01T18:00:00.000Z"`, "victim", "POST", at+"/accept", "")
		if again := r.want(200, "", "victim", "POST", at+"/accept", ""); !cmp.Equal(accepted, again) {
			t.Errorf("accepted again: %v", again)
		}
		r.contact(true, "mallory", "victim")
		r.contact(true, "manager", "victim")
		r.contact(false, "eve", "victim")
		r.page("mallory", at+"/roster", 200, "linked to Vic Cole, player")
		if text := r.page("victim", "/", 200, "My teams"); strings.Contains(text, "/accept") {
			t.Error("an accepted membership is offered")
		}
		r.page("victim", "/", 200, `action="/hacktracker`+at+`/leave"`)
		r.want(200, "", "mallory", "PUT", member, `{"status":"active","role":"player"}`) // as it is
		r.contact(true, "mallory", "victim")
		again()
		apart()
	}
	r.want(403, "User is not a member of this team", "eve", "POST", at+"/accept", "")
	r.want(403, "User is not a member of this team", "eve", "POST", at+"/leave", "")
	r.want(400, "The owner cannot leave the team", "mallory", "POST", at+"/leave", "")
}

// A first name that was made from the e-mail address, for want of another, is not shown to strangers: it is half of the address.
func TestFirstNameFromTheAddress(t *testing.T) {
	r := newRig(t)
	for who, first := range map[string]string{"vic": "vic.cole83", "ann": "Ann"} {
		r.put(`{"PK":{"S":"USER#` + who + `"},"SK":{"S":"METADATA"},"userId":{"S":"` + who + `"},"email":{"S":"vic.cole83@example.org"},"firstName":{"S":"` + first + `"},"lastName":{"S":"User"}}`)
	}
	team, players := r.team("owner")
	players = append(players, id(r.want(201, "", "owner", "POST", "/teams/"+team+"/players", `{"firstName":"Bench"}`), "playerId"))
	r.want(200, "", "owner", "POST", "/teams/"+team+"/players/"+players[0]+"/link", `{"userId":"vic"}`)
	r.want(200, `{"userId":"vic","firstName":"Player"}`, "eve", "GET", "/users/vic", "")
	r.want(200, `{"userId":"ann","firstName":"Ann"}`, "eve", "GET", "/users/ann", "")
	r.page("owner", "/teams/"+team+"/roster", 200, "linked to Player, player")
	r.want(200, `"firstName":"vic.cole83"`, "vic", "GET", "/users/vic", "")
	r.want(200, "", "vic", "POST", "/teams/"+team+"/accept", "")
	r.page("owner", "/teams/"+team+"/roster", 200, "linked to vic.cole83 User, player")
}

// Members who link themselves have accepted. So have the owners in rows of the original, which wrote no other memberships; a membership that
// somebody else wrote, and that does not say so, is not accepted.
func TestAcceptedMemberships(t *testing.T) {
	r := newRig(t)
	team, players := r.team("ana", "manager")
	at := "/teams/" + team
	r.want(200, "", "manager", "PUT", "/users/manager", `{"phoneNumber":"+1555"}`)
	r.want(200, "", "ana", "POST", at+"/players/"+players[0]+"/unlink", "")
	r.want(200, "", "ana", "PUT", at+"/members/manager", `{"status":"active"}`)
	r.contact(false, "ana", "manager")
	r.want(200, `"userId":"manager"`, "manager", "POST", at+"/players/"+players[0]+"/link", `{"userId":"manager"}`)
	r.contact(true, "ana", "manager")

	for who, row := range map[string]string{
		"founder":  `"role":{"S":"owner"},"invitedBy":{"NULL":true}`,
		"former":   `"role":{"S":"owner"}`,
		"invited":  `"role":{"S":"manager"},"invitedBy":{"S":"ana"}`,
		"imported": `"role":{"S":"manager"},"invitedBy":{"NULL":true}`,
	} {
		r.want(200, "", who, "PUT", "/users/"+who, `{"phoneNumber":"+1555"}`)
		r.put(`{"PK":{"S":"USER#` + who + `"},"SK":{"S":"TEAM#` + team + `"},"userId":{"S":"` + who + `"},"teamId":{"S":"` + team + `"},"status":{"S":"active"},"joinedAt":{"S":"2025-10-25T12:00:00.000Z"},` + row + `}`)
		r.contact(who == "founder" || who == "former", "ana", who)
	}
	r.want(200, "", "invited", "POST", at+"/accept", "")
	r.contact(true, "ana", "invited")
}
