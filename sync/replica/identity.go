package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// sideIdentity holds what the store knows of the node's identity: keyState, and the tables of the cloud (restore.go).
const sideIdentity = "identity"

const keyState = "state"

// identity is who this node is to the cloud: its id and incarnation, which are the store's, and the boot id, which names
// one run of it. What of that must not be forgotten is in the store (identityState) and in the file (identityFile).
type identity struct {
	flagEpoch atomic.Uint64 // changes when batches are flagged as of a lost history
	fileLock  chan struct{} // held by who changes the file: one at a time
	sends     atomic.Bool   // something was sent since the last nonce was drawn

	mu    sync.Mutex
	run   string // names the process
	file  identityFile
	state identityState

	connected bool // the cloud has had this run's nonce

	connectedAt time.Time // the latest time

	replaced int    // how often another run took our place in the cloud while this one was there
	stopped  string // why nothing is sent, for people; empty: it is
	suspect  bool   // the cloud shows what only another copy of this node can have written

	shown    string // the nonce that the cloud has answered to have
	told     uint64 // the sequence that the cloud knows to be settled
	settled  settledNodes
	restores restores
}

// identityState is the store's part.
type identityState struct {
	Version int        `json:"version"`
	Nonce   string     `json:"nonce"`             // drawn last; older than the file's: the store is an older one
	Before  string     `json:"before,omitempty"`  // the file's newest when it was drawn
	Boots   []boot     `json:"boots"`             // the last runs, oldest first
	Left    []string   `json:"left,omitempty"`    // the runs of histories that were left, as far as they are not ours too
	Lost    *lostQueue `json:"lost,omitempty"`    // what waits of histories that have parted
	Leaving bool       `json:"leaving,omitempty"` // one is being left: the incarnations that begin then take the signs of it away
}

// boot is one run.
type boot struct {
	ID    string `json:"id"`
	After uint64 `json:"after"` // the journal's last sequence when it began
}

// maxBoots is how many runs are remembered, here and in the cloud.
const maxBoots = 32

// openIdentity loads who this node is and begins a run of it. It asks the cloud nothing.
//
// A run that did not end in order begins a new incarnation: what looks like its end may be a copy of the file that was
// made while it ran, and the run itself may have gone on and used the sequences that come next.
func (r *Replica) openIdentity(ctx context.Context) error {
	r.identity.run = r.randomID()
	if err := r.store.KeepIncarnation(); err != nil { // it will be missed if the disk is full one day
		r.log.Warn("identity: the incarnation could not be saved beside the store", "error", err)
	}
	if err := r.loadBooks(ctx); err != nil {
		return err
	}
	file, why, err := r.readIdentity(ctx)
	if err != nil {
		return err
	}
	if why != "" {
		r.log.Warn("identity: "+why, "node", r.store.Node())
	}
	state, err := r.readState(ctx)
	if err != nil {
		return err
	}
	older := state.Leaving || file != nil && file.newerThan(state, r.store.Incarnation())
	crashed := file != nil && !file.Clean || file == nil && len(state.Boots) > 0
	if file == nil {
		file = &identityFile{Version: identityVersion, Node: r.store.Node()}
	}
	r.identity.file, r.identity.state = *file, state
	switch {
	case older:
		r.log.Warn("identity: the store is older than the last known state of its node; its queue is verified before anything is sent")
		err = r.newIncarnation(ctx, file.Incarnation, nil)
	case crashed:
		_, err = r.store.BeginIncarnation(ctx, file.Incarnation)
	}
	if err != nil {
		return err
	}
	return r.beginBoot(ctx)
}

// beginBoot names this run, in the store and in the file.
func (r *Replica) beginBoot(ctx context.Context) error {
	id := &r.identity
	b := boot{ID: r.randomID(), After: r.store.Seq()}
	err := r.changeState(ctx, func(_ *store.Tx, s *identityState) error {
		s.Boots = append(s.Boots, b)
		if drop := len(s.Boots) - maxBoots; drop > 0 {
			s.Boots = s.Boots[drop:]
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.cfg.Failpoint("identity-boot")
	defer id.lockFile()()
	file := id.copyFile()
	file.Boot, file.Incarnation, file.Clean = b.ID, r.store.Incarnation(), false
	return r.setFile(ctx, file)
}

// incarnationShift is where the incarnation stands in a sequence.
const incarnationShift = 40

// randomID draws 16 hexadecimal digits.
func (r *Replica) randomID() string { return fmt.Sprintf("%016x", r.cfg.Rand()) }

// lockFile waits until nobody else changes the file.
func (id *identity) lockFile() (end func()) {
	id.fileLock <- struct{}{}
	return func() { <-id.fileLock }
}

// copyFile returns a copy to be changed and set.
func (id *identity) copyFile() identityFile {
	id.mu.Lock()
	defer id.mu.Unlock()
	f := id.file
	f.Nonces = append([]string(nil), f.Nonces...)
	return f
}

func (r *Replica) setFile(ctx context.Context, f identityFile) error {
	if err := r.writeIdentity(ctx, &f); err != nil {
		return err
	}
	id := &r.identity
	id.mu.Lock()
	defer id.mu.Unlock()
	id.file = f
	return nil
}

// bootID names this run.
func (r *Replica) bootID() string {
	id := &r.identity
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.file.Boot
}

// readState returns the store's part; what cannot be read is as good as lost.
func (r *Replica) readState(ctx context.Context) (s identityState, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		s, err = stateOf(tx)
		return err
	})
	if fault.Is(err, fault.Damaged) {
		r.log.Warn("identity: the store's record of the node cannot be read and is created again")
		err = nil
	}
	return s, err
}

func stateOf(tx *store.Tx) (s identityState, err error) {
	data, err := tx.Side(sideIdentity).Get([]byte(keyState))
	if err != nil || data == nil {
		return identityState{Version: identityVersion}, err
	}
	if err := json.Unmarshal(data, &s); err != nil || s.Version != identityVersion {
		return identityState{Version: identityVersion}, fault.Wrap(err, fault.Damaged, "identity_state", "the identity in the store cannot be read")
	}
	return s, nil
}

// changeState changes the store's part in a transaction, and the copy in memory behind it.
func (r *Replica) changeState(ctx context.Context, change func(tx *store.Tx, s *identityState) error) error {
	var now identityState
	err := r.store.Update(ctx, func(tx *store.Tx) error {
		s, err := stateOf(tx)
		if err != nil && !fault.Is(err, fault.Damaged) {
			return err
		}
		if err := change(tx, &s); err != nil {
			return err
		}
		data, err := json.Marshal(&s)
		if err != nil {
			return err
		}
		now = s
		return tx.Side(sideIdentity).Set([]byte(keyState), data)
	})
	if err != nil {
		return err
	}
	id := &r.identity
	id.mu.Lock()
	defer id.mu.Unlock()
	id.state = now
	return nil
}

// stateNow returns the copy in memory; it is not to be written to.
func (r *Replica) stateNow() identityState {
	id := &r.identity
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.state
}

// remedyCopies is what a person does then.
const remedyCopies = "end one of them for good and restart the other"

// suspectCopy is called when the cloud shows a mark of ours that we have not made, or made and not sent. What is sent
// after that is sent by a node that has connected anew, and knows what it is.
func (r *Replica) suspectCopy(why string) {
	id := &r.identity
	id.mu.Lock()
	first := !id.suspect
	id.suspect = true
	id.mu.Unlock()
	if first {
		r.log.Warn("identity: the cloud has writes that this node cannot have made", "why", why)
		r.reconnect(why)
	}
}

// runAfter returns the last sequence from before this run.
func (r *Replica) runAfter() uint64 {
	boots := r.stateNow().Boots
	if len(boots) == 0 {
		return 0
	}
	return boots[len(boots)-1].After
}

// reconnect has the node connect anew before it sends anything more.
func (r *Replica) reconnect(why string) {
	r.net.Lost(why, r.clock.Now())
	r.errands.get().Set()
}

// stoppedWhy returns why this node sends nothing, for people; empty: it does.
func (r *Replica) stoppedWhy() string {
	id := &r.identity
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.stopped
}
