package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Client calls a node over its admin socket.
type Client struct {
	socket string
	http   *http.Client
}

// NewClient returns a client of the socket at a path. It does not connect yet.
func NewClient(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		d := net.Dialer{Timeout: 5 * time.Second}
		return d.DialContext(ctx, "unix", socket)
	}
	// No timeout: a request ends with the caller's context, or with the node.
	return &Client{socket: socket, http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Backup makes the node back up its store; see Maintenance.
func (a *Client) Backup(ctx context.Context, path string, progress func(Progress)) (out store.BackupInfo, err error) {
	err = a.post(ctx, "/backup", map[string]string{"path": path}, progress, &out)
	return out, err
}

// Check makes the node verify its store.
func (a *Client) Check(ctx context.Context, progress func(Progress)) (out CheckResult, err error) {
	err = a.post(ctx, "/check", struct{}{}, progress, &out)
	return out, err
}

// Command runs an application's command and decodes its result into out.
func (a *Client) Command(ctx context.Context, path string, ask any, progress func(Progress), out any) error {
	return a.post(ctx, path, ask, progress, out)
}

// post sends a request that is answered in lines, and decodes the result into out.
func (a *Client) post(ctx context.Context, path string, ask any, progress func(Progress), out any) error {
	body, err := json.Marshal(ask)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://admin"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	return a.send(req, func(d *json.Decoder) error {
		for {
			var line struct {
				Progress *Progress        `json:"progress"`
				Result   json.RawMessage  `json:"result"`
				Error    *httpapi.Problem `json:"error"`
			}
			if err := d.Decode(&line); err != nil {
				return a.noAnswerError(ctx, err)
			}
			switch {
			case line.Error != nil:
				return line.Error.Fault()
			case line.Result != nil:
				return json.Unmarshal(line.Result, out)
			case line.Progress != nil && progress != nil:
				progress(*line.Progress)
			}
		}
	})
}

// ask sends a request that is answered at once with one JSON object.
func (a *Client) ask(ctx context.Context, method, path string, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://admin"+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	return a.send(req, func(d *json.Decoder) error {
		if err := d.Decode(out); err != nil {
			return a.noAnswerError(ctx, err)
		}
		return nil
	})
}

// send passes a successful answer to read. Any other answer becomes an error.
func (a *Client) send(req *http.Request, read func(*json.Decoder) error) error {
	resp, err := a.http.Do(req)
	if err != nil {
		return a.noAnswerError(req.Context(), err)
	}
	defer resp.Body.Close()
	d := json.NewDecoder(resp.Body)
	if resp.StatusCode == http.StatusOK {
		return read(d)
	}
	var p httpapi.Problem
	if err := d.Decode(&p); err != nil {
		return fault.New(fault.Unavailable, "no_answer", "the node at %s answered %s", a.socket, resp.Status)
	}
	return p.Fault()
}

// noAnswerError returns the error of a missing answer.
func (a *Client) noAnswerError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Wrap(err, fault.Unavailable, "no_answer", "the node stopped before it had finished")
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return fault.Wrap(err, fault.Unavailable, "no_admin", "nothing answers on the admin socket %s: %v", a.socket, op.Err)
	}
	return fault.Wrap(err, fault.Unavailable, "no_answer", "the node does not answer on %s: %v", a.socket, err)
}
