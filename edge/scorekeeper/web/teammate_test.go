package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// team creates a team of admin, to which admin adds members, who do not accept.
func (r *rig) team(admin string, members ...string) (id string) {
	r.t.Helper()
	var team struct {
		ID string `json:"team_id"`
	}
	if err := json.Unmarshal(r.want(201, "", admin, "POST", "/team", `{"team_name":"Wizards"}`).Body.Bytes(), &team); err != nil {
		r.t.Fatal(err)
	}
	for _, who := range members {
		r.want(200, "", admin, "PUT", "/team/teammate", fmt.Sprintf(`{"team_id":%q,"user_id":%q,"role":"member"}`, team.ID, who))
	}
	return team.ID
}

// Whoever makes a team and adds a player learns nothing of the player before the player has accepted: no name, no picture, no score, and not
// that they have played. A player who was removed and added again has to accept again.
func TestTeammateByOthersShowsNothing(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	r.want(200, "", "victim", "PUT", "/profile", `{"displayName":"Vic Cole","avatarUrl":"https://pictures.example/vic"}`)
	r.want(200, `"won":true`, "victim", "POST", "/guess", guessBody("manna"))
	team := r.team("mallory", "victim")
	of := "team_id=" + team
	mate := fmt.Sprintf(`{"team_id":%q,"user_id":"victim"`, team)
	sees := func(want bool) {
		t.Helper()
		all := map[string]string{}
		for _, path := range []string{"/team?" + of, "/scoreboard?" + of + "&puzzle_date_iso_day=" + day} {
			all[path] = r.want(200, "", "mallory", "GET", path, "").Body.String()
		}
		for _, path := range []string{"", "/week"} {
			all["page "+path] = r.page(200, "Wizards", "mallory", "/teams/"+team+path)
		}
		text := fmt.Sprint(all)
		for _, part := range []string{"Vic Cole", "https://pictures.example/vic", "🟩🟩🟩🟩🟩", `"participants_qty":1`, "1 of 2 have played", `<th scope="row">Vic Cole</th>`} {
			if strings.Contains(text, part) != want {
				t.Errorf("%s: seen %t", part, !want)
			}
		}
		if want {
			r.want(200, "🟩", "mallory", "GET", "/score?user_id=victim", "")
		} else {
			r.want(404, "User not found", "mallory", "GET", "/score?user_id=victim", "")
			r.want(200, `"participants_qty":0`, "mallory", "GET", "/scoreboard?"+of, "")
			r.page(200, "0 of 1 have played", "mallory", "/teams/"+team)
			r.page(200, "has not accepted yet", "mallory", "/teams/"+team)
			r.want(200, `"accepted":false`, "mallory", "GET", "/team?"+of, "")
		}
	}
	sees(false)
	r.page(200, "An admin added you to Wizards.", "victim", "/teams")
	r.want(200, `"role":"admin"`, "mallory", "PUT", "/team/teammate", mate+`,"role":"admin"}`)
	r.want(200, `"role":"member"`, "mallory", "PUT", "/team/teammate", mate+`,"role":"member"}`)
	sees(false)
	for range 2 {
		r.want(200, `"accepted":true`, "victim", "POST", "/team/accept", `{"team_id":"`+team+`"}`)
	}
	sees(true)
	if text := r.page(200, "Wizards", "victim", "/teams"); strings.Contains(text, "/team/accept") {
		t.Error("an accepted membership is offered")
	}
	r.want(200, `"role":"admin"`, "mallory", "PUT", "/team/teammate", mate+`,"role":"admin"}`)
	sees(true)
	r.want(200, "", "victim", "DELETE", "/team/teammate", mate+`}`)
	r.want(404, "User not found", "mallory", "GET", "/score?user_id=victim", "")
	r.want(200, `"accepted":false`, "mallory", "PUT", "/team/teammate", mate+`,"role":"member"}`)
	sees(false)

	r.want(403, "FORBIDDEN", "eve", "POST", "/team/accept", `{"team_id":"`+team+`"}`)
	r.want(404, "Team not found", "eve", "POST", "/team/accept", `{"team_id":"none"}`)
	r.want(422, `"field":"team_id"`, "eve", "POST", "/team/accept", `{}`)
	if w := r.want(200, "", "mallory", "POST", "/team/accept", `{"team_id":"`+team+`"}`); strings.Contains(w.Body.String(), "accepted") {
		t.Errorf("the creator's own membership: %s", w.Body)
	}
}
