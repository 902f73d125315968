package replica

// InHand is how many batches the lanes hold in memory. The lanes do not run.
func (r *Replica) InHand() (n int) {
	for _, l := range r.workers {
		n += len(l.inHand) + len(l.done)
	}
	return n
}

// Synced is what the protocol takes the server's time for.
func (r *Replica) Synced() bool { return r.env(nil).Synced }
