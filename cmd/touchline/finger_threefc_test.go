//go:build long && linux

package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// fingerThreeFC is a game of 3FC. Each goal has a scorer of its own, by whom the judge knows it.
type fingerThreeFC struct {
	id     string // of season, day and game
	league string
	next   map[string]int // by team: its next scorer
}

const fingerGoals = 14 // of a team, at most

func fingerTeams() []string { return []string{"red", "blue", "yellow"} }

func (f *fingerThreeFC) scope() string { return "/3fc/-/" }

func (f *fingerThreeFC) page(p *fingerPhone) string {
	if p.user == "fan" {
		return fmt.Sprintf("/3fc/-/%s/%s/%[2]s", f.league, f.id)
	}
	return f.scope() + "games/" + f.id + "/score"
}

// begin creates a season with a game whose last third began fourteen hours ago, so that goals of a phone that was put away for thirteen hours
// belong to it.
func (f *fingerThreeFC) begin(g *fingerSeed) {
	g.t.Helper()
	n := g.hall.nodes[0]
	f.next = map[string]int{}
	f.id, f.league = fmt.Sprintf("s%d-%d", g.n, g.began.UnixNano()), fmt.Sprintf("l%d-%d", g.n, g.began.UnixNano())
	boss := func(path, body string, headers ...string) {
		g.want(n, "boss", http.MethodPost, "/3fc/v1/"+path, body, headers...)
	}
	boss("leagues", fmt.Sprintf(`{"leagueId":%q,"name":"League","slug":%[1]q}`, f.league))
	boss("leagues/"+f.league+"/access", fmt.Sprintf(`{"userId":%q,"role":"scorekeeper"}`, emailOf("keeper")))
	g.want(n, "keeper", http.MethodPost, "/3fc/v1/leagues/"+f.league+"/access/accept", "")
	boss("leagues/"+f.league+"/seasons", fmt.Sprintf(`{"seasonId":%q,"name":"Season","slug":%[1]q,"startsOn":null}`, f.id))
	boss("seasons/"+f.id+"/sessions", fmt.Sprintf(`{"sessionId":%q,"sessionDate":%q}`, f.id, g.began.UTC().Format(time.DateOnly)))
	boss("sessions/"+f.id+"/games", fmt.Sprintf(`{"gameId":%q,"gameStartTs":%q}`, f.id, g.began.UTC().Format(time.RFC3339)))
	for _, team := range fingerTeams() {
		for i := range fingerGoals {
			player := fmt.Sprintf("%s%d-%s", team, i, f.id)
			boss("games/"+f.id+"/players", fmt.Sprintf(`{"playerId":%q,"nickname":"%s %d"}`, player, team, i))
			g.want(n, "boss", http.MethodPut, "/3fc/v1/games/"+f.id+"/roster/"+player, fmt.Sprintf(`{"teamId":%q}`, team))
		}
	}
	for i, third := range []string{"1/start", "1/finish", "2/start", "2/finish", "3/start"} {
		ago := 14*time.Hour + time.Duration(10-i)*time.Minute
		boss("games/"+f.id+"/thirds/"+third, "", "Touchline-Occurred-Ago", fmt.Sprint(ago.Seconds()), "Touchline-Occurred-Confirmed", "1")
	}
	for _, n := range g.hall.nodes {
		for _, user := range []string{"keeper", "boss"} {
			g.until(n.name+" has the game as it is", func() bool {
				status, answer := g.hall.ask(g.t.Context(), n, user, http.MethodGet, "/3fc/v1/games/"+f.id, "")
				return status == http.StatusOK && strings.Contains(answer, `"activeThird":3`)
			})
		}
		g.until(n.name+" has the players", func() bool {
			_, answer := g.hall.ask(g.t.Context(), n, "boss", http.MethodGet, "/3fc/v1/games/"+f.id+"/roster", "")
			return strings.Count(answer, `"nickname"`) == 3*fingerGoals
		})
	}
}

func (f *fingerThreeFC) tap(g *fingerSeed) (tap *fingerTap, script string) {
	scoring := fingerTeams()[g.rng.IntN(3)]
	if f.next[scoring] >= fingerGoals {
		return nil, ""
	}
	conceding := fingerTeams()[(slices.Index(fingerTeams(), scoring)+1+g.rng.IntN(2))%3]
	player := fmt.Sprintf("%s%d-%s", scoring, f.next[scoring], f.id)
	f.next[scoring]++
	tap = &fingerTap{
		kind: "goal", what: fmt.Sprintf("a goal of %s against %s", strings.TrimSuffix(player, "-"+f.id), conceding), mark: player,
		fields: map[string]string{"scoring": scoring, "conceding": conceding},
	}
	return tap, fmt.Sprintf(`(() => {
		const key = (selector) => document.querySelector("form[data-goal] " + selector);
		if (!key("[data-scoring]")) return "the game is over";
		if (key("[data-scoring]").closest("[inert]")) return "the keys are set aside";
		if (key("[data-scoring]").disabled) return key("[data-why]").textContent;
		key('[data-scoring="%s"]').click();
		key('[data-conceding="%s"]').click();
		const scorer = key('[data-scorer="%s"]');
		if (!scorer) return "the page does not have the player";
		scorer.click();
		key("[type=submit]").click();
		return "";
	})()`, scoring, conceding, player)
}

func (f *fingerThreeFC) keyed() bool { return false }

func (f *fingerThreeFC) finish() []string {
	var scripts []string
	for _, step := range []string{"5", "6"} {
		scripts = append(scripts, fmt.Sprintf(`(() => {
			const form = document.querySelector('form[data-step="%s"]');
			if (!form) return "the game is over";
			if (form.hidden) return "it is not the next step";
			const button = form.querySelector("button");
			if (button.closest("[inert]")) return "the keys are set aside";
			button.click();
			button.click();
			return "";
		})()`, step))
	}
	return scripts
}

// correct changes a goal on its page, which an admin may after the end.
func (f *fingerThreeFC) correct(g *fingerSeed, p *fingerPhone) {
	g.t.Helper()
	if p.user != "boss" {
		return
	}
	board := f.board(g, p.node)
	if len(board.Timeline) == 0 {
		return
	}
	goal := board.Timeline[g.rng.IntN(len(board.Timeline))]
	i := slices.IndexFunc(g.taps, func(one *fingerTap) bool { return one.mark == goal.ScorerPlayerID })
	to := fingerTeams()
	to = slices.DeleteFunc(to, func(team string) bool { return team == goal.ScoringTeamID || team == goal.ConcedingTeamID })
	if i < 0 || !p.open(g, f.scope()+"games/"+f.id+"/goals/"+goal.EventID) {
		return
	}
	_, why := p.press(g, fmt.Sprintf(`(() => {
		const key = (selector) => document.querySelector("form[data-goal] " + selector);
		if (!key("[data-scoring]")) return "the goal cannot be changed";
		key('[data-scoring="%s"]').click();
		key('[data-conceding="%s"]').click();
		key('[data-scorer="%s"]').click();
		key("[type=submit]").click();
		return "";
	})()`, goal.ScoringTeamID, to[0], goal.ScorerPlayerID))
	g.say("%s corrects %s to be against %s: %s", p.name, g.taps[i].what, to[0], why)
	if why == "" {
		g.strike("a tap corrected after the end")
		g.taps[i].fields["conceding"] = to[0]
		p.settle(g)
	}
	p.open(g, f.page(p))
}

// resume is not possible: the rules of 3FC do not open a game again.
func (f *fingerThreeFC) resume(*fingerSeed, *fingerPhone) bool { return false }

// fingerBoard is the answer of the route of goals.
type fingerBoard struct {
	Timeline []struct {
		EventID, ScorerPlayerID, ScoringTeamID, ConcedingTeamID string
	}
}

type fingerTally struct {
	TeamID           string
	Scored, Conceded int
}

func (f *fingerThreeFC) board(g *fingerSeed, n *cloudNode) fingerBoard {
	g.t.Helper()
	return fingerRead[fingerBoard](g, n, "boss", "/3fc/v1/games/"+f.id+"/goals")
}

func (f *fingerThreeFC) effects(g *fingerSeed, n *cloudNode) (marks []string) {
	g.t.Helper()
	for _, goal := range f.board(g, n).Timeline {
		marks = append(marks, goal.ScorerPlayerID)
	}
	return marks
}

// tally counts goals by team.
func (f *fingerThreeFC) tally(counted []*fingerTap) map[string]fingerTally {
	all := map[string]fingerTally{}
	for _, team := range fingerTeams() {
		all[team] = fingerTally{TeamID: team}
	}
	for _, one := range counted {
		scored, conceded := all[one.fields["scoring"]], all[one.fields["conceding"]]
		scored.Scored++
		conceded.Conceded++
		all[scored.TeamID], all[conceded.TeamID] = scored, conceded
	}
	return all
}

func (f *fingerThreeFC) recount(g *fingerSeed, n *cloudNode, counted []*fingerTap) error {
	g.t.Helper()
	want := f.tally(counted)
	game := fingerRead[struct {
		Teams  []fingerTally
		Result struct {
			Teams []fingerTally
		}
	}](g, n, "boss", "/3fc/v1/public/games/"+f.id)
	table := fingerRead[struct {
		Standings []struct {
			fingerTally
			Played int
		}
	}](g, n, "boss", "/3fc/v1/public/seasons/"+f.id+"/standings")
	var rows []fingerTally
	for _, row := range table.Standings {
		if row.Played != 1 {
			return fmt.Errorf("the table has %d games of %s", row.Played, row.TeamID)
		}
		rows = append(rows, row.fingerTally)
	}
	for name, have := range map[string][]fingerTally{"the game": game.Teams, "the result": game.Result.Teams, "the table": rows} {
		got := map[string]fingerTally{}
		for _, one := range have {
			got[one.TeamID] = one
		}
		if !maps.Equal(got, want) {
			return fmt.Errorf("%s has %v, want %v", name, got, want)
		}
	}
	return nil
}

func (f *fingerThreeFC) shown(g *fingerSeed, p *fingerPhone, counted []*fingerTap) {
	g.t.Helper()
	tally := f.tally(counted)
	var figures, cells []string
	for _, team := range fingerTeams() {
		figures = append(figures, fmt.Sprint(tally[team].Conceded))
		cells = append(cells, fmt.Sprintf("%d %d", tally[team].Conceded, tally[team].Scored))
	}
	slices.Sort(cells)
	shows := func(p *fingerPhone, what, script, want string) {
		g.t.Helper()
		seen := ""
		g.until(fmt.Sprintf("%s of %s shows %s", what, p.name, want), func() bool {
			seen = fingerEval[string](g, p, script)
			return seen == want
		}, func() any { return seen })
	}
	const head = `["red", "blue", "yellow"].map((team) => document.querySelector('[data-count="against-' + team + '"]').textContent).join(" ")`
	for _, one := range g.hall.phones {
		shows(one, "the page", head, strings.Join(figures, " "))
	}
	p.open(g, f.scope()+"seasons/"+f.id)
	shows(p, "the table", `[...document.querySelectorAll('[data-part="table"] tbody tr')].map((row) => [...row.cells].slice(5, 7).map((c) => c.textContent).join(" ")).sort().join()`, strings.Join(cells, ","))
}
