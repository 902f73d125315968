package page

import (
	"errors"
	"strings"
	"time"
)

// WaitingLine is what the line at the foot of a page says, for the gallery: on an open page a script does.
type WaitingLine struct {
	Say, Note string
	Bad       bool
	Rows      []Waiting
}

// kitParts is what the scene of the parts reads.
type kitParts struct {
	Scores    []Score
	Timelines []Timeline
	Table     Table
	Notes     []Note
	Tabs      Tabs
	Pads      []Pad
	Form      Form
	Countdown []Countdown
	QR        Figure
}

// Kit renders the parts that applications compose in all their states, from fixed data.
func (r *Renderer) Kit() ([]Scene, error) {
	code, err := QR("http://node.example:8080/game/-/games/g1", "node.example:8080/game/-/games/g1")
	if err != nil {
		return nil, err
	}
	parts := kitParts{
		Scores: sceneScores(), Timelines: sceneTimelines(), Notes: sceneNotes(), Pads: scenePads(), Form: sceneForm(), QR: code,
		Table: Table{
			ID: "standings", Title: "Standings", Heads: []string{"Side", "Played", "Won", "Drawn", "Lost", "Scored", "Points"},
			Rows: [][]string{{"Red", "4", "3", "0", "1", "12", "9"}, {"A side with quite a long name", "4", "1", "1", "2", "107", "4"}},
		},
		Tabs:      Tabs{Label: "Game", Links: []Tab{{Link{"#1", "Overview"}, false}, {Link{"#2", "Sides"}, false}, {Link{"#3", "Score"}, true}, {Link{"#4", "Results"}, false}}},
		Countdown: []Countdown{{Label: "Closes in", Until: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), Left: "1:04:09", Over: "closed"}, {Label: "Closes in", Left: "closed", Over: "closed"}},
	}
	var out []Scene
	for _, one := range []struct {
		name, what string
		data       any
	}{{"parts", "Parts that applications compose", parts}, {"waiting", "What waits to be sent", sceneWaiting()}} {
		v, err := r.Parts(View{}, one.what, []Block{{ID: "kit-" + one.name, Data: one.data}})
		if err != nil {
			return nil, err
		}
		v.Kind, v.Styles = "kit", []string{"kit.css"}
		s := Scene{Name: one.name, What: one.what, View: v}
		if s.Page, err = r.Bare(v, nil); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	people, err := r.peopleScenes()
	return append(out, people...), err
}

// peopleScenes are the node's own pages of people and their devices.
func (r *Renderer) peopleScenes() (out []Scene, err error) {
	add := func(name, what string, page []byte, failed error) {
		out, err = append(out, Scene{Name: name, What: what, Page: page}), errors.Join(err, failed)
	}
	at := []Link{{"#", "Cognito"}, {"#", "the club's accounts"}}
	page, failed := r.SignIn(SignInInput{To: "/", Issuers: at, Codes: true, Tokens: true})
	add("signin", "Signing in", page, failed)
	page, failed = r.SignIn(SignInInput{To: "/", Issuers: at, Codes: true, Problem: "That is no code that counts now: ask an admin for another one."})
	add("signin-refused", "A code that is refused", page, failed)
	page, failed = r.SignIn(SignInInput{To: "/", Issuers: at, Codes: true, Subject: "asha", Name: "Asha", Admin: true, Session: true})
	add("signed-in", "Who is signed in", page, failed)
	page, failed = r.SignIn(SignInInput{To: "/", Issuers: at, Codes: true, Out: &Link{"#", "Cognito"}})
	add("signed-out", "Signed out here, and not at the issuer", page, failed)
	page, failed = r.SignIn(SignInInput{To: "/"})
	add("signin-nobody", "No issuer is configured", page, failed)
	one := Session{ID: "1", User: "asha", Name: "Asha", Agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X)", Since: "2026-06-01 12:00:00", Until: "2026-07-01 12:00:00", Current: true}
	page, failed = r.Sessions(SessionsInput{User: "asha", Admin: true, All: true, Sessions: []Session{one, {ID: "2", User: "auth0|5f2", Agent: "curl", Since: one.Since, Until: one.Until, ByCode: true}}}, nil)
	add("sessions", "Sessions", page, failed)
	page, failed = r.Sessions(SessionsInput{User: "asha"}, nil)
	add("sessions-none", "No session", page, failed)
	page, failed = r.People(PeopleInput{Code: "7KQ4 M2XR", For: "asha", Until: "12:15:00", People: []Person{{User: "asha", Issuer: "https://issuer.example", Name: "Asha", Email: "asha@example.org", SignedIn: one.Since, Admin: true}}}, nil)
	add("people", "People, and a code for one", page, failed)
	page, failed = r.CA(CAInput{
		Address: "http://192.168.1.7:8080/_/tls", Secure: "https://192.168.1.7:8080/", Title: "touchline node 2026-06-01", Until: "29 May 2036",
		Fingerprint: strings.TrimSuffix(strings.Repeat("A7:", 32), ":"),
	})
	add("tls", "The CA, for devices", page, failed)
	v, failed := r.Operator(sceneStatus())
	err = errors.Join(err, failed)
	if err == nil {
		page, err = r.Bare(v, nil)
		add("status", "How the node is doing", page, nil)
	}
	return out, err
}

func sceneStatus() OperatorInput {
	return OperatorInput{At: "12:00:07", Problems: []string{"The disk is almost full: the database can grow by 80.1 MB."}, Tables: []Table{
		{ID: "node", Title: "This node", Heads: []string{"What", "Figure"}, Rows: [][]string{{"Running for", "3 h 12 min"}, {"Database", "12.0 MB, 3.4 MB of it used"}}},
		{ID: "applications", Title: "Applications", Heads: []string{"Application", "State", "Requests", "Failed"}, Rows: [][]string{{"The counter", "well", "1204", "0"}, {"The tally", "1 problem, see above", "7", "1"}}},
		{ID: "cloud", Title: "Cloud", None: "No cloud is configured: nothing is replicated."},
	}}
}

func sceneScores() []Score {
	live := Pill{"live", "dot", "Live"}
	return []Score{
		{
			Title: "Red v Blue, second half", Pill: live, Sides: []ScoreSide{{Name: "Red", Figure: "12"}, {Name: "Blue", Figure: "107"}},
			Line: "Blue lead by 95", Context: "Last point 40 s ago", Stats: []Stat{{"Period", "2"}, {"Clock", "17:04"}, {"Fouls", "3"}},
		},
		{Title: "Three sides", Pill: Pill{"pause", "clock", "Break"}, Sides: []ScoreSide{{Name: "Red", Figure: "2", Aside: "scored 4"}, {Name: "Blue", Figure: "0", Aside: "scored 1"}, {Name: "Yellow", Figure: "11", Aside: "scored 3"}}},
		{Title: "Before the start", Pill: Pill{"soon", "clock", "Upcoming"}, Sides: []ScoreSide{{Name: "Red", Figure: "–"}, {Name: "Blue", Figure: "–"}}, Line: "Begins at 15:00"},
		{Title: "Result", Pill: Pill{"over", "dot", "Final"}, Sides: []ScoreSide{{Name: "Red", Figure: "3"}, {Name: "Blue", Figure: "3"}}, Line: "A draw"},
	}
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

func sceneNotes() []Note {
	return []Note{
		{"", "", "The table counts finished games."}, {"good", "dot", "Saved."}, {"warn", "clock", "Another has scored the same: look before you go on."},
		{"bad", "offline", "Not counted: sent after the lock."},
	}
}

func scenePads() []Pad {
	keys := []Key{{Text: "+1", Aside: "point", Main: true}, {Text: "+2"}, {Text: "+3"}, {Text: "K", Aside: "strike-out"}, {Text: "BB", Aside: "walk"}, {Text: "Undo", Off: true}}
	return []Pad{
		{Label: "Points", Action: "#", Keys: keys},
		{Label: "Sides", Action: "#", Wide: true, Keys: []Key{{Text: "Red", Aside: "12", Main: true}, {Text: "Blue", Aside: "107"}, {Text: "A side with a long name", Aside: "0"}}},
	}
}

func sceneForm() Form {
	return Form{ID: "form", Action: "#", Button: "Save", Fields: []Field{
		{Name: "name", Label: "Name", Value: "Asha", Hint: "As it is shown to all.", Most: 40},
		{Name: "number", Label: "Number", Type: "number", Value: "120", Problem: "must be at most 99"},
		{Name: "half", Label: "Half", Choices: []Choice{{"1", "First", false}, {"2", "Second", true}, {"3", "Extra time", false}}},
	}}
}

func sceneWaiting() []WaitingLine {
	row := func(what, state, say, words string) Waiting { return Waiting{what, state, say, words} }
	return []WaitingLine{
		{Say: "2 not sent, the oldest 4 s ago.", Rows: []Waiting{row("+1 for Red", "sending", "being sent, 4 s ago", ""), row("+2 for Blue", "queued", "not sent, 1 s ago", "")}},
		{Say: "No connection to the node. What you see is 4 min old. 5 not sent, the oldest 3 min ago.", Bad: true, Rows: []Waiting{row("+1 for Red", "queued", "not sent, 3 min ago", "")}},
		{Say: "3 taken by the node, not confirmed by the cloud yet.", Rows: []Waiting{row("+1 for Red", "taken", "taken by the node, not confirmed by the cloud, 20 s ago", "")}},
		{Say: "1 refused.", Bad: true, Rows: []Waiting{row("+1 for a side with a long name", "refused", "refused, 2 min ago", "The game is over: nothing can be added to it.")}},
		{Say: "1 not sent, the oldest 9 s ago.", Note: "The storage of this browser is full: what waits is lost when the page is closed. Keep it open.", Rows: []Waiting{row("+1 for Red", "queued", "not sent, 9 s ago", "")}},
		{Say: "1 not sent, the oldest 9 s ago. Sign in to send.", Bad: true, Note: "Without HTTPS this page cannot be opened while the node is away: keep it open."},
	}
}
