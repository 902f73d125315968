package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/page"
)

// getHubPage is GET /hub for people.
func (s *Server) getHubPage(c *gin.Context) error {
	state, err := s.hubState(c.Request.Context())
	if err != nil {
		return err
	}
	body, err := s.pages.Hub(hubTables(&state))
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, htmlType, body)
	return nil
}

func hubTables(h *hubState) page.HubInput {
	matches := page.HubTable{
		ID: "matches", Title: "Matches", None: "No match is registered.",
		Heads: []string{"Match", "Status", "Phase", "Owner", "Fence", "Last tick", "Followers", "Live Activities"},
	}
	for i := range h.Matches {
		m := &h.Matches[i]
		fence, tick := "–", "–"
		if m.Lease != nil {
			fence = fmt.Sprint(m.Lease.Fence)
		}
		if !m.LastTickAt.IsZero() {
			tick = fmt.Sprintf("%.0f s ago", m.TickAgeSeconds)
		}
		matches.Rows = append(matches.Rows, []string{
			strings.TrimSpace(m.Name + " " + m.MatchID), m.Status, m.Phase, m.Owner, fence, tick, fmt.Sprint(m.Followers), counted(m.Sessions),
		})
	}
	feed := page.HubTable{
		ID: "feed", Title: "Feed", None: "No feed is configured.",
		Heads: []string{"Endpoint", "State", "Calls this hour", "Reserve", "Failed", "Last good", "Last failure"},
	}
	for i := range h.Feed.Endpoints {
		e := &h.Feed.Endpoints[i]
		state := e.State
		if e.Alarm != "" {
			state += ": " + e.Alarm
		}
		feed.Rows = append(feed.Rows, []string{
			e.Endpoint, state, fmt.Sprintf("%d of %d", e.Used, e.Limit), fmt.Sprint(e.Reserve), fmt.Sprint(e.Failed), clockOf(e.LastGood), e.LastError,
		})
	}
	node := page.HubTable{ID: "node", Title: "Node", Heads: []string{"What", "Figure"}, Rows: [][]string{
		{"Version", h.Version}, {"Streams", fmt.Sprintf("%d of %d", h.Streams.Open, h.Streams.Limit)},
		{"Readings", fmt.Sprintf("%d, %d unchanged, %d failed", h.Feed.Polls, h.Feed.Unchanged, h.Feed.Failed)},
		{"Pushes", fmt.Sprintf("%d sent, %d accepted, %d refused", h.Push.Sent, h.Push.Accepted, h.Push.Refused)},
	}}
	if h.Push.Paused != "" {
		node.Rows = append(node.Rows, []string{"Pushing waits", h.Push.Paused})
	}
	return page.HubInput{Tables: []page.HubTable{matches, feed, node}}
}

// counted writes "2 active, 1 pending".
func counted(n map[string]int) string {
	parts := make([]string, 0, len(n))
	for status, count := range n {
		parts = append(parts, fmt.Sprintf("%d %s", count, status))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func clockOf(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("15:04:05")
}
