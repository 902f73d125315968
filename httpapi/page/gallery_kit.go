package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// WaitingLine is the status line at the foot of a page, for the gallery; on an open page a script writes it.
type WaitingLine struct {
	Say, Note string
	Bad       bool
	Rows      []Waiting
}

// kitScenes is kit.json: the data of the kit's scenes and of the Status page.
type kitScenes struct {
	Parts struct {
		Timelines []Timeline
		Table     Table
		Countdown []Countdown
	}
	Waiting []WaitingLine
	Status  OperatorInput
}

// Kit renders the parts from which applications compose pages, in all their states, with fixed data.
func (r *Renderer) Kit() ([]Scene, error) {
	var kit kitScenes
	raw, err := nodeFiles.ReadFile("kit.json")
	if err = errors.Join(err, json.Unmarshal(raw, &kit)); err != nil {
		return nil, fmt.Errorf("read the scenes: %w", err)
	}
	var out []Scene
	for _, scene := range []struct {
		name, what string
		data       any
	}{{"parts", "Parts that applications compose", kit.Parts}, {"waiting", "Waiting to be sent", kit.Waiting}} {
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
	node, err := r.nodeScenes(kit.Status)
	return append(out, node...), err
}

// nodeScenes returns scenes of the node's own pages, about people and their devices.
func (r *Renderer) nodeScenes(status OperatorInput) (out []Scene, err error) {
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
		page, failed := r.RenderStill(s.kind, s.what, s.data, nil)
		out, err = append(out, Scene{Name: s.name, What: s.what, Page: page}), errors.Join(err, failed)
	}
	ca, failed := r.CA(CAInput{
		Address: "http://192.168.1.7:8080/_/tls", Secure: "https://192.168.1.7:8080/", Title: "touchline node 2026-06-01", Until: "29 May 2036",
		Fingerprint: strings.TrimSuffix(strings.Repeat("A7:", 32), ":"),
	})
	view, bad := r.Operator(status)
	if err = errors.Join(err, failed, bad); err != nil {
		return nil, err
	}
	hub, err := r.Bare(view, nil)
	return append(out, Scene{Name: "tls", What: "The CA, for devices", Page: ca}, Scene{Name: "status", What: "How the node is doing", Page: hub}), err
}
