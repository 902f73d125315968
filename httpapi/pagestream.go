package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/internal/fault"
)

const (
	pagePause = 250 * time.Millisecond // shortest pause between two updates of a page: nobody reads faster
	pageBeat  = 2 * time.Second        // longest silence on a stream that a page reads; without news for eight, the page says that the node is lost
)

// streamPage keeps one page up to date: it sends the parts whose HTML changed, at most four times a second, over one connection. A slow
// page gets the newest state when it is ready for it.
func (s *Server) streamPage(c *gin.Context) error {
	topic, name := c.Query("page"), c.Query("app")
	if of := appOf(c); of != nil {
		name = of.Name
	}
	m, ok := s.appNamed(name)
	if !ok || len(topic) > maxTopic {
		return fault.New(fault.NotFound, "not_found", "There is no such page here.")
	}
	watch := &watch{s: s, app: m, topic: topic, client: bucketFor(c)}
	if err := watch.checkTurn(c.Request.Context()); err != nil {
		return err
	}
	if _, _, err := m.views.get(c.Request.Context(), topic); err != nil {
		return err
	}
	leave, err := s.enterStream(c, "page")
	if err != nil {
		return err
	}
	sub, unsubscribe := s.events.Subscribe(sse.Topic{App: m.Name, Name: topic}, true)
	p := &pageStream{s: s, sub: sub, watch: watch, have: map[string]string{}, expires: streamsUntil(c), version: c.Query("version")}
	p.who, _ = Identity(c)
	if c.GetHeader("Last-Event-ID") == "" { // a page that reconnects has newer parts than its address lists
		p.have = parseHave(c.Query("have"))
	}
	run := func(ctx context.Context, out *sse.Conn) error {
		p.out = out
		return p.run(ctx)
	}
	return s.serveStream(c, &stream{sub: sub, run: run}, func() { unsubscribe(); leave() })
}

// parseHave parses the list of parts that a page has: "score.1x2y3z top.4a5b6c".
func parseHave(text string) map[string]string {
	have := map[string]string{}
	for part := range strings.FieldsSeq(text) {
		if id, hash, ok := strings.Cut(part, "."); ok && len(have) < 32 {
			have[id] = hash
		}
	}
	return have
}

// pageStream is the stream of one open page.
type pageStream struct {
	s    *Server
	sub  *sse.Subscriber
	who  auth.Identity
	out  *sse.Conn
	have map[string]string // hash of each part that the page shows

	expires time.Time // of the reader's token; zero: never
	watch   *watch
	version string // release that sent the page; empty: unknown
}

// pageParts is an update of a page.
type pageParts struct {
	Title   string     `json:"title"`
	Parts   []pagePart `json:"parts"`
	Node    string     `json:"node"`
	Version string     `json:"version"` // of the page; it grows within a node
}

type pagePart struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}

func (p *pageStream) run(ctx context.Context) error {
	if err := p.out.Open(); err != nil {
		return err
	}
	if err := p.renew(); err != nil {
		return err
	}
	spoke := p.s.wall.Now()
	for {
		looked := p.s.wall.Now()
		if !p.expires.IsZero() && !looked.Before(p.expires) {
			return nil // the page reconnects and is redirected to sign in
		}
		if err := p.watch.checkTurn(ctx); err != nil {
			return err
		}
		said, err := p.sendChanges(ctx)
		if err != nil {
			return err
		}
		if spoke, err = p.beat(said, spoke, looked); err != nil {
			return err
		}
		if err := p.s.wall.Wait(ctx, looked.Add(p.s.cfg.PageTick), p.sub.Sig); err != nil {
			return err
		}
		if p.out.IsGone() {
			return errGone
		}
		if err := p.s.wall.Wait(ctx, looked.Add(min(pagePause, p.s.cfg.PageTick)), nil); err != nil {
			return err
		}
	}
}

// renew tells a page of an earlier release that there is a newer one.
func (p *pageStream) renew() error {
	now := p.watch.app.release()
	if p.version == "" || p.version == now {
		return nil
	}
	data, err := json.Marshal(map[string]string{"version": now})
	if err != nil {
		return fmt.Errorf("encode version: %w", err)
	}
	return p.out.Send(sse.NewFrame("version", 0, data))
}

// beat sends a tick if the stream was silent for a while, so that the page knows that the connection is alive. It returns when
// something was last sent.
func (p *pageStream) beat(said bool, spoke, now time.Time) (time.Time, error) {
	switch {
	case said:
		return now, nil
	case now.Sub(spoke) >= pageBeat:
		return now, p.out.Tick()
	}
	return spoke, nil
}

// sendChanges sends the parts that changed since the last call.
func (p *pageStream) sendChanges(ctx context.Context) (said bool, err error) {
	view, seq, err := p.watch.app.views.get(ctx, p.watch.topic)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			return true, p.out.Send(sse.NewFrame("gone", 0, []byte("{}")))
		}
		return false, err
	}
	view = shownTo(p.who, view)
	parts := p.news(view)
	if len(parts) == 0 {
		return false, nil
	}
	data, err := json.Marshal(pageParts{view.Title + " · touchline", parts, p.s.cfg.Store.Node(), versionAt(seq)})
	if err != nil {
		return false, fmt.Errorf("encode parts: %w", err)
	}
	// Any id will do: it distinguishes a page that reconnects from a new one.
	if err := p.out.Send(sse.NewFrame("parts", seq+1, data)); err != nil {
		return false, err
	}
	for _, part := range view.Parts {
		p.have[part.ID] = part.Hash
	}
	return true, nil
}

// news returns the parts that the page does not have.
func (p *pageStream) news(v page.View) []pagePart {
	var out []pagePart
	for _, part := range v.Parts {
		if p.have[part.ID] != part.Hash {
			out = append(out, pagePart{part.ID, string(part.HTML)})
		}
	}
	return out
}
