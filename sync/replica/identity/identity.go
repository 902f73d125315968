package identity

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// Side holds the node's identity in the store under keyState, and what is known of the cloud's tables.
const Side = "identity"

const keyState = "state"

// Identity is who this node is to the cloud: the store's id and incarnation, and a boot id that names one run. What must not be
// forgotten is in the store (identityState) and in the file (identityFile).
//
// Set the exported fields before Open.
type Identity struct {
	Store    *store.Store
	Cloud    remote.Cloud
	Box      *outbox.Outbox
	Link     *flow.Link
	Clock    clock.Clock
	Jumps    *clock.Jumps // of the machine's clocks: it may have been resumed; nil: nobody looks
	Log      *slog.Logger
	Rand     func() uint64
	Dir      string        // of the file; "": the file's content is kept in the store
	Table    string        // the cloud table with the rows of nodes
	Deadline time.Duration // per request
	Signed   time.Duration // how long a signed request can arrive
	Tell     time.Duration // how often a node reports how far it has settled

	Ready     func(ctx context.Context) error // completes a new connection before anything is sent on it
	Beside    func(ctx context.Context)       // called whenever the row was written
	Wake      func()                          // asks for a new connect to the cloud
	Failpoint func(point string)

	fileLock    chan struct{} // semaphore for changes to the file
	historyLock chan struct{} // semaphore for beginning a run
	sends       atomic.Bool   // something was sent since the last nonce was drawn

	resumed    atomic.Bool   // the machine may have been resumed, and no new run has begun since
	resumeWake *clock.Signal // set with it

	mu    sync.Mutex
	file  identityFile
	state identityState

	connected bool // the cloud has received this run's nonce

	connectedAt time.Time // most recently

	replaced int    // how often another run replaced us in the cloud during this one
	stopped  string // why nothing is sent, for people; "": not stopped
	suspect  bool   // the cloud shows what only another copy of this node can have written

	shown    string // the last nonce that the cloud confirmed
	reported uint64 // the last sequence that the cloud knows to be settled
	settled  settledNodes
}

// identityState is the part kept in the store.
type identityState struct {
	Version int        `json:"version"`
	Nonce   string     `json:"nonce"`             // drawn last; if older than the file's, the store is an older one
	Before  string     `json:"before,omitempty"`  // the file's newest when it was drawn
	Drawn   []string   `json:"drawn,omitempty"`   // the last nonces that were drawn into this store, newest first; the file may know later ones
	Boots   []boot     `json:"boots"`             // the last runs, oldest first
	Left    []leftRun  `json:"left,omitempty"`    // runs of histories that were left, unless they are ours too
	Lost    *lostQueue `json:"lost,omitempty"`    // what waits from diverged histories
	Gaps    []span     `json:"gaps"`              // sequences that another copy of the node may have used; nil: not noted yet
	Leaving bool       `json:"leaving,omitempty"` // a history is being left: incarnations that begin now remove the signs of it
}

// boot is one run.
type boot struct {
	ID    string `json:"id"`
	After uint64 `json:"after"` // the last sequence written before it: what was written up to it may be shared with other copies
}

// maxBoots is how many runs are remembered, here and in the cloud.
const maxBoots = 32

// Open loads the node's identity and begins a run of it. It makes no request to the cloud.
//
// After a run that did not end in order it begins a new incarnation: the state found may be a copy made while that run went on, and
// the run may have used the sequences that come next.
func (id *Identity) Open(ctx context.Context) error {
	id.fileLock, id.historyLock = make(chan struct{}, 1), make(chan struct{}, 1)
	id.resumeWake = clock.NewSignal()
	if err := id.Store.KeepIncarnation(); err != nil { // it will be missed if the disk is full one day
		id.Log.Warn("identity: the incarnation could not be saved beside the store", "error", err)
	}
	file, why, err := id.readIdentity(ctx)
	if err != nil {
		return err
	}
	if why != "" {
		id.Log.Warn("identity: "+why, "node", id.Store.Node())
	}
	state, err := id.readState(ctx)
	if err != nil {
		return err
	}
	older := state.Leaving || file != nil && file.newerThan(state, id.Store.Incarnation())
	crashed := file != nil && !file.Clean || file == nil && len(state.Boots) > 0
	if file == nil {
		file = &identityFile{Version: identityVersion, Node: id.Store.Node()}
	}
	id.file, id.state = *file, state
	switch {
	case older:
		id.Log.Warn("identity: the store is older than the last known state of its node; its queue is verified before anything is sent")
		err = id.newIncarnation(ctx, file.Incarnation, nil)
	case crashed:
		_, err = id.Store.BeginIncarnation(ctx, file.Incarnation)
	}
	if err != nil {
		return err
	}
	return id.beginBoot(ctx)
}

// beginBoot records this run in the store and in the file.
//
// The run's incarnation has begun by then, and its After is from before that. An example. A backup has sequences up to 12. Its node goes
// on to 27, and cannot send what it writes. The backup is started, in incarnation 1, whose sequences begin at 1<<40: its run is after 12.
// The old disk is started again, and compares the runs: 13 to 27 are its own.
func (id *Identity) beginBoot(ctx context.Context) error {
	b := boot{ID: RandomID(id.Rand)}
	err := id.changeState(ctx, func(tx *store.Tx, s *identityState) (err error) {
		if b.After, err = tx.LastWritten(); err != nil {
			return err
		}
		s.noteGap(span{After: b.After, Below: tx.Seq() + 1}) // empty unless an incarnation has begun
		s.Boots = append(s.Boots, b)
		if drop := len(s.Boots) - maxBoots; drop > 0 {
			s.Boots = s.Boots[drop:]
		}
		return nil
	})
	if err != nil {
		return err
	}
	id.Failpoint("identity-boot")
	defer id.lockFile()()
	file := id.copyFile()
	file.Boot, file.Incarnation, file.Clean = b.ID, id.Store.Incarnation(), false
	return id.setFile(ctx, file)
}

// noteGap adds a gap to those of this history.
func (s *identityState) noteGap(gap span) {
	if s.Gaps == nil {
		s.Gaps = append([]span{}, initialGaps(s.Boots)...)
	}
	s.Gaps = addGap(s.Gaps, gap)
}

// incarnationShift is the position of the incarnation in a sequence.
const incarnationShift = 40

// RandomID returns 16 random hexadecimal digits.
func RandomID(rand func() uint64) string { return fmt.Sprintf("%016x", rand()) }

// lockFile waits for the right to change the file.
func (id *Identity) lockFile() (end func()) {
	id.fileLock <- struct{}{}
	return func() { <-id.fileLock }
}

// copyFile returns a copy of the file's content, to be changed and stored.
func (id *Identity) copyFile() identityFile {
	id.mu.Lock()
	defer id.mu.Unlock()
	f := id.file
	f.Nonces = append([]string(nil), f.Nonces...)
	return f
}

func (id *Identity) setFile(ctx context.Context, f identityFile) error {
	if err := id.writeIdentity(ctx, &f); err != nil {
		return err
	}
	id.mu.Lock()
	defer id.mu.Unlock()
	id.file = f
	return nil
}

// RecordSending records that something is about to be sent: a snapshot from before must be recognizable by its nonce.
func (id *Identity) RecordSending() { id.sends.Store(true) }

// readState returns the part kept in the store; a damaged one counts as lost.
func (id *Identity) readState(ctx context.Context) (s identityState, err error) {
	err = id.Store.View(ctx, func(tx *store.Tx) error {
		s, err = stateOf(tx)
		return err
	})
	if fault.Is(err, fault.Damaged) {
		id.Log.Warn("identity: the store's record of the node cannot be read and is created again")
		err = nil
	}
	return s, err
}

func stateOf(tx *store.Tx) (s identityState, err error) {
	data, err := tx.Side(Side).Get([]byte(keyState))
	if err != nil || data == nil {
		return identityState{Version: identityVersion}, err
	}
	if err := json.Unmarshal(data, &s); err != nil || s.Version != identityVersion {
		return identityState{Version: identityVersion}, fault.Wrap(err, fault.Damaged, "identity_state", "the identity in the store cannot be read")
	}
	return s, nil
}

// changeState changes the part kept in the store in a transaction, and the copy in memory after it.
func (id *Identity) changeState(ctx context.Context, change func(tx *store.Tx, s *identityState) error) error {
	var now identityState
	err := id.Store.Update(ctx, func(tx *store.Tx) error {
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
		return tx.Side(Side).Set([]byte(keyState), data)
	})
	if err != nil {
		return err
	}
	id.mu.Lock()
	defer id.mu.Unlock()
	id.state = now
	return nil
}

// stateNow returns the copy in memory. It must not be changed.
func (id *Identity) stateNow() identityState {
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.state
}

// RemedyCopies is the remedy for two running copies.
const RemedyCopies = "end one of them for good and restart the other"

// Suspect is called when the cloud shows a mark of ours that we did not make, or made and did not send. It makes the node connect again,
// and so find out what it is, before it sends anything more.
func (id *Identity) Suspect(why string) {
	id.mu.Lock()
	first := !id.suspect
	id.suspect = true
	id.mu.Unlock()
	if first {
		id.Log.Warn("identity: the cloud has writes that this node cannot have made", "why", why)
		id.Reconnect(why)
	}
}

// RunAfter returns the last sequence before this run.
func (id *Identity) RunAfter() uint64 {
	boots := id.stateNow().Boots
	if len(boots) == 0 {
		return 0
	}
	return boots[len(boots)-1].After
}

// Reconnect makes the node connect again before it sends anything more.
func (id *Identity) Reconnect(why string) {
	id.Link.RecordLoss(why, id.Clock.Now())
	id.Wake()
}

// Status describes the node's identity in the cloud.
type Status struct {
	Node        string `json:"id"`
	Incarnation uint64 `json:"incarnation"`
	Boot        string `json:"boot,omitempty"`
	Stopped     string `json:"clone,omitempty"` // why nothing is sent: another process uses this node's name; "": not stopped
}

// Status returns the node's identity.
func (id *Identity) Status() Status {
	id.mu.Lock()
	defer id.mu.Unlock()
	return Status{Node: id.Store.Node(), Incarnation: id.Store.Incarnation(), Boot: id.file.Boot, Stopped: id.stopped}
}
