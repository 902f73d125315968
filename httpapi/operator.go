package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// stateFresh is how long a state is reused: applications may count rows for it.
const stateFresh = time.Second

// conflictsShown is how many conflicts the Status page lists.
const conflictsShown = 20

// stateCache holds the latest state.
type stateCache struct {
	mu    sync.Mutex
	at    time.Time
	state operator.State
}

// forget makes the next reader compute the state again.
func (h *stateCache) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = time.Time{}
}

// operatorState returns the node's state, including what each application reports.
func (s *Server) operatorState(ctx context.Context) (operator.State, error) {
	h := &s.state
	h.mu.Lock()
	defer h.mu.Unlock()
	now := s.wall.Now()
	if !h.at.IsZero() && now.Sub(h.at) < stateFresh {
		return h.state, nil
	}
	state, err := s.readState(ctx)
	if err == nil {
		h.at, h.state = now, state
	}
	return state, err
}

func (s *Server) readState(ctx context.Context) (out operator.State, err error) {
	out = operator.State{At: s.cfg.Clock.Wall(), Version: s.cfg.Version, Apps: map[string]any{}, Node: s.nodeStatus()}
	out.Streams = operator.Streams{Open: out.Node.Streams, Limit: s.limits.Load().streams}
	checks := s.checks(ctx)
	var problems []string
	for _, m := range s.apps {
		part := s.partOf(ctx, m, out.At)
		problems = append(problems, part.Problems...)
		out.Tables = append(out.Tables, part.Tables...)
		if part.Status != nil {
			out.Apps[m.Name] = part.Status
		}
		out.Applications = append(out.Applications, m.status(checks, len(part.Problems)))
	}
	if out.Sync, err = s.syncStatus(ctx); err != nil {
		return out, err
	}
	if n := out.Sync.Conflicts; out.Sync.Configured && n.Open+n.Quarantined > 0 {
		if out.Conflicts, _, err = s.cfg.Sync.Conflicts(ctx, conflict.Query{State: conflict.StateOpen, Limit: conflictsShown}); err != nil {
			return out, err
		}
	}
	if out.Games, err = s.unsentGames(ctx, &out.Sync); err != nil {
		return out, err
	}
	if s.cfg.Derives != nil {
		out.Derived = s.cfg.Derives.DerivedRules()
	}
	out.DeriveProblems(checks, problems)
	return out, nil
}

// partOf returns an application's part. With several applications, table titles carry the application's name.
func (s *Server) partOf(ctx context.Context, m *mounted, now time.Time) (part operator.Part) {
	if m.Operator == nil {
		return part
	}
	part, err := m.Operator(ctx, now)
	if err != nil {
		s.log.Error("the status of an application cannot be read", "app", m.Name, "err", err)
		return operator.Part{Problems: []string{m.Title + ": its state could not be read."}}
	}
	for i := range part.Tables {
		if len(s.apps) > 1 {
			part.Tables[i].Title = m.Title + ": " + part.Tables[i].Title
		}
	}
	return part
}

// countRequest counts a request.
func (m *mounted) countRequest(failed bool) {
	m.requests.Add(1)
	if failed {
		m.failed.Add(1)
	}
}

// status summarizes an application: its checks, its requests, and the number of its problems.
func (m *mounted) status(checks []operator.Check, problems int) operator.AppStatus {
	st := operator.AppStatus{Name: m.Name, Title: m.Title, Problems: problems, Requests: m.requests.Load(), Failed: m.failed.Load()}
	for _, c := range checks {
		switch {
		case c.App != m.Name:
		case c.Err != nil:
			st.NotReady = c.Err.Error()
		case c.Warning != "":
			st.Problems++
		}
	}
	return st
}

func getHub(c *gin.Context) error {
	state, err := serverOf(c).operatorState(c.Request.Context())
	return JSON(c, state, err)
}

// getHubPage answers GET /_/hub, the Status page.
func (s *Server) getHubPage(c *gin.Context) error {
	state, err := s.operatorState(c.Request.Context())
	if err != nil {
		return err
	}
	view, err := s.pages.Operator(state.Page())
	if err != nil {
		return err
	}
	body, err := s.pages.Bare(view, s.nav(c))
	return HTML(c, http.StatusOK, body, err)
}

// postDamageRead answers the form of the Status page.
func (s *Server) postDamageRead(c *gin.Context) error {
	if err := s.forgetDamage(c); err != nil && !fault.Is(err, fault.NotFound) { // another admin was faster
		return err
	}
	return seeOther(c, "/_/hub")
}

// readDamage answers POST /_/api/damages/:id/read.
func (s *Server) readDamage(c *gin.Context) error {
	if err := s.forgetDamage(c); err != nil {
		return err
	}
	return NoContent(c)
}

// forgetDamage notes that somebody has read of a damage of the database: it is not shown any more.
func (s *Server) forgetDamage(c *gin.Context) error {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return fault.New(fault.NotFound, "not_found", "There is no damage with this number.")
	}
	if err := s.cfg.Store.ForgetDamage(c.Request.Context(), id); err != nil {
		return err
	}
	who, _ := Identity(c)
	s.cfg.Logger.Info("a damage of the database was read of", "damage", id, "by", who.Subject)
	s.state.forget()
	return nil
}

// syncStatus returns the state of the replication with the cloud; on a node without a cloud it says that.
func (s *Server) syncStatus(ctx context.Context) (operator.SyncStatus, error) {
	if s.cfg.Sync == nil {
		return operator.NoCloud(s.cfg.Clock.Wall()), nil
	}
	st, err := s.cfg.Sync.Status(ctx)
	return st.Whole(), err
}

// SyncStatus returns the state of the replication with the cloud, for pages that say whether all of a game is in the cloud (Line).
func SyncStatus(c *gin.Context) (operator.SyncStatus, error) {
	return serverOf(c).syncStatus(c.Request.Context())
}

// unsentGames lists the games that are not all in the cloud.
func (s *Server) unsentGames(ctx context.Context, st *operator.SyncStatus) (out operator.UnsentGames, err error) {
	if st.Waiting == 0 && st.Conflicts.Open == 0 {
		return out, nil
	}
	var apps []operator.AppGames
	for _, m := range s.apps {
		if m.Games != nil {
			apps = append(apps, operator.AppGames{App: m.Name, Title: m.Title, Games: m.Games})
		}
	}
	err = s.cfg.Store.ViewShared(ctx, func(tx *store.Tx) error {
		out, err = operator.ListGames(tx, apps, st)
		return err
	})
	return out, err
}

func getSync(c *gin.Context) error {
	st, err := serverOf(c).syncStatus(c.Request.Context())
	return JSON(c, st, err)
}

// Conflicts lists refused writes, newest first, for applications that show them to their own users. Without a cloud there are none.
func Conflicts(c *gin.Context, q conflict.Query) (all []conflict.View, err error) {
	if s := serverOf(c); s.cfg.Sync != nil {
		all, _, err = s.cfg.Sync.Conflicts(c.Request.Context(), q)
	}
	return all, err
}

// Conflict returns one conflict with its writes.
func Conflict(c *gin.Context, id uint64) (conflict.View, error) {
	sync := serverOf(c).cfg.Sync
	if sync == nil {
		return conflict.View{}, noCloud()
	}
	return sync.Conflict(c.Request.Context(), id)
}

// Decide applies a decision, "retry" or "discard" (operator.Sync), to a conflict. The application must have checked that the caller may
// decide.
func Decide(c *gin.Context, id uint64, verb string) (conflict.View, error) {
	sync := serverOf(c).cfg.Sync
	if sync == nil {
		return conflict.View{}, noCloud()
	}
	return sync.Decide(c.Request.Context(), id, verb)
}

func noCloud() error {
	return fault.New(fault.NotFound, "no_cloud", "This node has no cloud: nothing is sent, and nothing is refused.")
}

func getConflicts(c *gin.Context) error {
	q := bind.Parameters(c.Request)
	state := conflict.State(q.OneOf("state", conflict.States()...))
	ask := conflict.Query{State: cmp.Or(state, conflict.StateOpen), Table: q.Text("table", 255), Limit: q.Limit()}
	if cursor := q.Text("cursor", bind.MaxCursor); cursor != "" {
		var err error
		if ask.Before, err = strconv.ParseUint(cursor, 10, 64); err != nil || ask.Before == 0 {
			return bind.BadCursor()
		}
	}
	if err := q.Err(); err != nil {
		return err
	}
	sync := serverOf(c).cfg.Sync
	if sync == nil {
		return JSON(c, NewList[conflict.View](nil, ""), nil)
	}
	found, next, err := sync.Conflicts(c.Request.Context(), ask)
	if err != nil {
		return err
	}
	cursor := ""
	if next != 0 {
		cursor = strconv.FormatUint(next, 10)
	}
	return JSON(c, NewList(found, cursor), nil)
}

// conflictID parses the conflict number in the path.
func conflictID(c *gin.Context) (uint64, error) {
	id, err := strconv.ParseUint(c.Param("id"), 10, 64)
	if err != nil {
		return 0, fault.New(fault.NotFound, "conflict_not_found", "There is no conflict with this number.")
	}
	return id, nil
}

func getConflict(c *gin.Context) error {
	id, err := conflictID(c)
	if err != nil {
		return err
	}
	found, err := Conflict(c, id)
	return JSON(c, found, err)
}

// decideConflict returns a handler that retries or discards a conflict.
func decideConflict(verb string) Handler {
	return func(c *gin.Context) error {
		id, err := conflictID(c)
		if err != nil {
			return err
		}
		done, err := Decide(c, id, verb)
		return Answer(c, http.StatusOK, done, err)
	}
}

// OperatorHandler serves the operator's socket: the state of the node and its cloud, and other routes, whose access levels are ignored
// because only the operator can open the socket. Errors show their text, whatever their kind.
func (s *Server) OperatorHandler(others []Route) http.Handler {
	e := s.newEngine()
	e.NoRoute(s.noCommand)
	all := append(OperatorRoutes(), Route{Method: "GET", Path: "/status", Do: s.getStatus})
	for _, r := range append(all, others...) {
		e.Handle(r.Method, r.Path, func(c *gin.Context) {
			if err := r.Do(c); err != nil {
				_ = c.Error(err)
				c.Abort()
				if !c.Writer.Written() {
					s.failProblem(c, OperatorFailure(err))
				}
			}
		})
	}
	return e
}

// noCommand explains if a command belongs to an application that this node does not run.
func (s *Server) noCommand(c *gin.Context) {
	name, _, command := strings.Cut(strings.TrimPrefix(c.Request.URL.Path, "/"), "/")
	if _, runs := s.appNamed(name); runs || !command {
		s.failProblem(c, OperatorFailure(nowhere())) // a problem document, not the application's error format
		return
	}
	var names []string
	for _, m := range s.apps {
		names = append(names, m.Name)
	}
	s.failProblem(c, OperatorFailure(fault.New(fault.NotFound, "not_running", "This node does not run %s. It runs: %s. "+
		"To switch %[1]s on, add a section %[1]s to its configuration file, which needs one for each application, and restart it.",
		name, cmp.Or(strings.Join(names, ", "), "no application"))))
}

// OperatorFailure translates an error for the operator, who may see its text.
func OperatorFailure(err error) Failure {
	f := FailureOf(err)
	if e, ok := errors.AsType[*fault.Error](err); ok {
		f.Code, f.Message = e.Code, e.Message
	}
	return f
}

// pathRecount is the page of the rows of an application that differ from what the node counts.
const pathRecount = "/_/recount/:app/:name"

// getRecount shows the differences of a kind of rows, before anything is written.
func (s *Server) getRecount(c *gin.Context) error {
	if s.cfg.Derives == nil {
		return nowhere()
	}
	found, err := s.cfg.Derives.Differences(c.Request.Context(), c.Param("app"), c.Param("name"))
	if err != nil {
		return err
	}
	in := page.RecountInput{
		Action: c.Request.URL.EscapedPath(), Title: found.Title, Name: found.Name, Seen: found.Seen, More: found.More, Held: found.Held,
	}
	for _, row := range found.Rows {
		in.Rows = append(in.Rows, page.RecountRow(row))
	}
	body, err := s.pages.Recount(in, s.nav(c))
	return HTML(c, http.StatusOK, body, err)
}

// postRecount writes the differences that an admin has seen and confirmed.
func (s *Server) postRecount(c *gin.Context) error {
	r := c.Request
	if s.cfg.Derives == nil {
		return nowhere()
	}
	if r.PostForm.Get("confirm") != "yes" {
		return fault.New(fault.Invalid, "not_confirmed", "Confirm that the rows may be overwritten.")
	}
	who, _ := Identity(c)
	app, name := c.Param("app"), c.Param("name")
	written, err := s.cfg.Derives.Recount(c.Request.Context(), app, name, r.PostForm.Get("seen"))
	if err != nil {
		return err
	}
	s.log.Info("an admin had rows recounted", "app", app, "rows", name, "written", written, "by", who.Subject)
	return seeOther(c, "/_/hub")
}
