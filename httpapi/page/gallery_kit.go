package page

import (
	"errors"
	"strings"
	"time"
)

// WaitingLine is the status line at the foot of a page, for the gallery; on an open page a script writes it.
type WaitingLine struct {
	Say, Note string
	Bad       bool
	Rows      []Waiting
}

// kitParts is the data of the kit's scene.
type kitParts struct {
	Timelines []Timeline
	Table     Table
	Countdown []Countdown
}

// Kit renders the parts from which applications compose pages, in all their states, with fixed data.
func (r *Renderer) Kit() ([]Scene, error) {
	parts := kitParts{
		Timelines: sceneTimelines(),
		Table: Table{
			ID: "standings", Title: "Standings", Heads: []string{"Side", "Played", "Won", "Drawn", "Lost", "Scored", "Points"},
			Rows: [][]string{{"Red", "4", "3", "0", "1", "12", "9"}, {"A side with quite a long name", "4", "1", "1", "2", "107", "4"}},
		},
		Countdown: []Countdown{{Label: "Closes in", Until: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), Left: "1:04:09", Over: "closed"}, {Label: "Closes in", Left: "closed", Over: "closed"}},
	}
	var out []Scene
	for _, scene := range []struct {
		name, what string
		data       any
	}{{"parts", "Parts that applications compose", parts}, {"waiting", "Waiting to be sent", sceneWaiting()}} {
		v, err := r.Parts(View{}, scene.what, []Block{{ID: "kit-" + scene.name, Data: scene.data}})
		if err != nil {
			return nil, err
		}
		v.Kind, v.Styles = "kit", []string{"kit.css"}
		s := Scene{Name: scene.name, What: scene.what, View: v}
		if s.Page, err = r.Bare(v, nil); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	node, err := r.nodeScenes()
	return append(out, node...), err
}

// nodeScenes returns scenes of the node's own pages, about people and their devices.
func (r *Renderer) nodeScenes() (out []Scene, err error) {
	at := []Link{{"#", "Cognito"}, {"#", "the club's accounts"}}
	since := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	one := map[string]any{
		"ID": "1", "Subject": "asha", "Name": "Asha", "Agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X)", "Current": true,
		"Issuer": "https://issuer.example", "Email": "asha@example.org", "Admin": true, "CreatedAt": since, "SeenAt": since, "ExpiresAt": since.AddDate(0, 1, 0),
	}
	two := map[string]any{"ID": "2", "Subject": "auth0|5f2", "Agent": "curl", "CreatedAt": since, "ExpiresAt": since.AddDate(0, 1, 0), "ByCode": true}
	for _, s := range []struct {
		name, what, kind string
		data             any
	}{
		{"signin", "Signing in", "signin", SignInInput{To: "/", Issuers: at, Codes: true, Tokens: true}},
		{"signin-refused", "A code that was refused", "signin", SignInInput{To: "/", Issuers: at, Codes: true, Problem: "That code is not valid now: ask an admin for a new one."}},
		{"signed-in", "Already signed in", "signin", SignInInput{To: "/", Issuers: at, Codes: true, Subject: "asha", Name: "Asha", Admin: true, Session: true}},
		{"signed-out", "Signed out here, but not at the issuer", "signin", SignInInput{To: "/", Issuers: at, Codes: true, Out: &Link{"#", "Cognito"}}},
		{"signin-nobody", "No issuer is configured", "signin", SignInInput{To: "/"}},
		{"sessions", "Sessions", "sessions", SessionsInput{Admin: true, All: true, Sessions: []any{one, two}}},
		{"sessions-none", "No session", "sessions", SessionsInput{}},
		{"people", "People, and a code for one", "people", PeopleInput{Code: "7KQ4 M2XR", For: "asha", Until: "12:15:00", People: []any{one}}},
	} {
		page, failed := r.Still(s.kind, s.what, s.data, nil)
		out, err = append(out, Scene{Name: s.name, What: s.what, Page: page}), errors.Join(err, failed)
	}
	ca, failed := r.CA(CAInput{
		Address: "http://192.168.1.7:8080/_/tls", Secure: "https://192.168.1.7:8080/", Title: "touchline node 2026-06-01", Until: "29 May 2036",
		Fingerprint: strings.TrimSuffix(strings.Repeat("A7:", 32), ":"),
	})
	status, bad := r.Operator(sceneStatus())
	if err = errors.Join(err, failed, bad); err != nil {
		return nil, err
	}
	hub, err := r.Bare(status, nil)
	return append(out, Scene{Name: "tls", What: "The CA, for devices", Page: ca}, Scene{Name: "status", What: "How the node is doing", Page: hub}), err
}

func sceneStatus() OperatorInput {
	return OperatorInput{At: "12:00:07", Problems: []string{"The disk is almost full: the database can grow by only 80.1 MB. Free some space."}, Tables: []Table{
		{ID: "node", Title: "This node", Heads: []string{"What", "Figure"}, Rows: [][]string{{"Running for", "3 h 12 min"}, {"Database", "12.0 MB, 3.4 MB of it used"}}},
		{ID: "applications", Title: "Applications", Heads: []string{"Application", "State", "Requests", "Failed"}, Rows: [][]string{{"The counter", "ok", "1204", "0"}, {"The tally", "1 problem, see above", "7", "1"}}},
		{ID: "cloud", Title: "Cloud", None: "No cloud is configured: nothing is replicated."},
	}}
}

func sceneTimelines() []Timeline {
	return []Timeline{
		{ID: "happened", Title: "What happened", Rest: "4 older not shown", Items: []Happening{
			{Key: "1", Kind: "good", Mark: "+1", Text: "Goal by A. Player", Where: "Third 2, 31'", At: "15:41", Note: "Told 3 readers", NoteIcon: "clock"},
			{Key: "2", Kind: "bad", Mark: "!", Text: "Sent off", At: "15:39"},
			{Key: "3", Kind: "edge", Mark: "2", Text: "Two at once, of somebody whose name is rather long and takes a second line on a narrow screen", At: "15:30", Note: "Corrected"},
			{Key: "4", Kind: "end", Icon: "clock", Text: "Half time", At: "15:20"}, {Key: "5", Kind: "mark", Icon: "play", Text: "Begins", At: "14:35"},
		}},
		{ID: "nothing", Title: "What happened", None: "Nothing yet."},
	}
}

func sceneWaiting() []WaitingLine {
	row := func(what, state, say, words string) Waiting { return Waiting{what, state, say, words} }
	return []WaitingLine{
		{Say: "2 not sent, oldest 4 s.", Rows: []Waiting{row("+1 for Red", "sending", "being sent, 4 s ago", ""), row("+2 for Blue", "queued", "not sent, 1 s ago", "")}},
		{Say: "No connection to the node. What you see is 4 min old. 5 not sent, oldest 3 min.", Bad: true, Rows: []Waiting{row("+1 for Red", "queued", "not sent, 3 min ago", "")}},
		{Say: "3 received by the node, not yet confirmed by the cloud.", Rows: []Waiting{row("+1 for Red", "taken", "received by the node, not yet confirmed by the cloud, 20 s ago", "")}},
		{Say: "1 refused: open this list to retry or discard.", Bad: true, Rows: []Waiting{row("+1 for a side with a long name", "refused", "refused, 2 min ago", "The game is over: nothing can be added to it.")}},
		{Say: "1 not sent, oldest 9 s.", Note: "This browser's storage is full: what is not sent is lost when you close this page. Keep it open.", Rows: []Waiting{row("+1 for Red", "queued", "not sent, 9 s ago", "")}},
		{Say: "1 not sent, oldest 9 s. Sign in to send.", Bad: true, Note: "Without HTTPS this page cannot be opened while the node is unreachable: keep it open."},
	}
}
