package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// identityName is the name of the file beside the store.
const identityName = "identity.json"

// maxNonces is the number of nonces the file keeps: the cloud has the last one that reached it.
const maxNonces = 32

// identityFile is the content of a small file beside the store. It is written before the cloud is, so that the cloud never shows a nonce
// that the newest file lacks: if it does, this file is an older one, or a copy of this node is running. It is separate from the
// store because each can be lost and restored without the other.
type identityFile struct {
	Version     int      `json:"version"`
	Node        string   `json:"node"`
	Incarnation uint64   `json:"incarnation"`
	Boot        string   `json:"boot"`   // of the run that wrote it
	Nonces      []string `json:"nonces"` // newest first
	Clean       bool     `json:"clean"`  // that run has ended in order
}

const identityVersion = 1

// knows reports whether this file's node has drawn a nonce.
func (f *identityFile) knows(nonce string) bool { return slices.Contains(f.Nonces, nonce) }

func (f *identityFile) newest() string {
	if len(f.Nonces) == 0 {
		return ""
	}
	return f.Nonces[0]
}

// newerThan reports whether the store is older than the file, or recreated: nonces are drawn into the store first.
func (f *identityFile) newerThan(s identityState, incarnation uint64) bool {
	switch {
	case f.Incarnation > incarnation:
		return true
	case len(f.Nonces) == 0 || f.Nonces[0] == s.Nonce:
		return false
	case s.Nonce == "" || f.knows(s.Nonce):
		return true
	}
	return s.Before != "" && s.Before != f.Nonces[0] // otherwise the file was to be written next
}

// draw adds a new nonce in front.
func (f *identityFile) draw(nonce string) {
	f.Nonces = append([]string{nonce}, f.Nonces[:min(len(f.Nonces), maxNonces-1)]...)
}

// readIdentity returns the file, or nil if it does not exist or cannot be parsed. Then nothing is known of this node, and what the
// cloud knows of it is treated as after a loss. why describes a parse failure for people.
func (id *Identity) readIdentity(ctx context.Context) (f *identityFile, why string, err error) {
	var data []byte
	if id.Dir == "" {
		err = id.Store.View(ctx, func(tx *store.Tx) error {
			data, err = tx.Side(Side).Get([]byte(identityName))
			return err
		})
	} else {
		data, err = os.ReadFile(filepath.Join(id.Dir, identityName))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && data == nil:
		return nil, "", nil
	case err != nil:
		return nil, "", fmt.Errorf("reading the identity of the node: %w", err)
	}
	f = &identityFile{}
	if err := json.Unmarshal(data, f); err != nil || f.Version != identityVersion || f.Node == "" {
		return nil, "the identity file cannot be read and is created again", nil
	}
	if f.Node != id.Store.Node() {
		return nil, "the identity file is of another node, " + f.Node + ", and is created again", nil
	}
	return f, "", nil
}

// writeIdentity replaces the file on disk. Without room it returns fault.Full, like the store.
func (id *Identity) writeIdentity(ctx context.Context, f *identityFile) error {
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	if id.Dir == "" {
		return id.Store.Update(ctx, func(tx *store.Tx) error {
			return tx.Side(Side).Set([]byte(identityName), data)
		})
	}
	err = replaceFile(filepath.Join(id.Dir, identityName), wholePages(data), exchange)
	switch {
	case store.IsNoSpace(err):
		return fault.Wrap(err, fault.Full, "no_room", "cannot write the identity of the node: the disk is full")
	case err != nil:
		return fmt.Errorf("writing the identity of the node: %w", err)
	}
	return nil
}
