package dynamoapi

import (
	"time"

	"github.com/touchline/touchline/store"
)

// set changes the settings as UpdateTable asks for. It runs under the writer: what it refuses changes nothing.
func (r *updateTable) set(c *call, before store.TableDescription, s *store.TableSettings) error {
	now := c.api.cfg.Now()
	mode := r.mode(before)
	s.Throughput = keepWarm(s.Throughput, onDemand(before))
	for name, of := range s.Indexes {
		s.Indexes[name] = keepWarm(of, onDemand(before))
	}
	if err := r.setBilling(s, mode, now); err != nil {
		return err
	}
	if err := r.setIndexes(s, mode, now); err != nil {
		return err
	}
	if err := r.setStream(s); err != nil {
		return err
	}
	if r.class.Set && r.class.V != s.Class {
		s.Class, s.ClassSince = r.class.V, now
	}
	if r.protected.Set {
		s.Protected = r.protected.V
	}
	if r.encryption.Set {
		s.Encrypted, s.EncryptedBy = r.encryption.V.enabled.V, r.encryption.V.key.V
	}
	return nil
}

func (r *updateTable) setBilling(s *store.TableSettings, mode string, now time.Time) error {
	if r.billing.Set && s.Billing != mode {
		if s.Billing = mode; mode == store.BillingOnDemand {
			s.BillingSince = now
			s.Throughput = free(s.Throughput)
			for name, of := range s.Indexes {
				s.Indexes[name] = free(of)
			}
		}
	}
	if r.throughput.Set {
		of, err := changed(s.Throughput, r.throughput.V, now, "table", "table")
		if err != nil {
			return err
		}
		s.Throughput = of
	}
	var err error
	s.Throughput, err = demand{onDemand: r.onDemand, warm: r.warm, billing: mode}.apply(s.Throughput)
	return err
}

// free is what is left of throughput that is not paid in advance any more.
func free(of store.Throughput) store.Throughput {
	return store.Throughput{MaxRead: of.MaxRead, MaxWrite: of.MaxWrite, WarmRead: of.WarmRead, WarmWrite: of.WarmWrite}
}

func (r *updateTable) setIndexes(s *store.TableSettings, mode string, now time.Time) error {
	var err error
	for _, u := range r.updates.V {
		if def := u.create.V; u.create.Set {
			if s.Indexes[def.name.V], err = def.demand(mode, true).apply(provisioned(def.throughput)); err != nil {
				return err
			}
		}
		if !u.update.Set {
			continue
		}
		def := u.update.V
		of := s.Indexes[def.name.V]
		if mode == store.BillingProvisioned && def.throughput.Set {
			if of, err = changed(of, def.throughput.V, now, "index "+def.name.V, "index"); err != nil {
				return err
			}
		}
		if s.Indexes[def.name.V], err = def.demand(mode, false).apply(of); err != nil {
			return err
		}
	}
	return nil
}

// changed returns the throughput that was asked for, with when it grew and shrank; to ask for what is there is refused.
func changed(of store.Throughput, want throughputSpec, now time.Time, what, kind string) (store.Throughput, error) {
	read, write := want.read.V, want.write.V
	if read == of.Read && write == of.Write {
		return of, errValidation("The provisioned throughput for the %s will not change. The requested value equals the current value. "+
			"Current ReadCapacityUnits provisioned for the %s: %d. Requested ReadCapacityUnits: %d. "+
			"Current WriteCapacityUnits provisioned for the %s: %d. Requested WriteCapacityUnits: %d. "+
			"Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
			what, kind, of.Read, read, kind, of.Write, write)
	}
	if read > of.Read || write > of.Write {
		of.Increased = now
	}
	if read < of.Read || write < of.Write {
		if !sameDay(of.Decreased, now) {
			of.Decreases = 0
		}
		of.Decreased = now
		of.Decreases++
	}
	of.Read, of.Write = read, write
	return of, nil
}

// sameDay reports whether two instants are of one day in UTC.
func sameDay(a, b time.Time) bool {
	const day = 24 * time.Hour
	return a.UTC().Truncate(day).Equal(b.UTC().Truncate(day))
}

func (r *updateTable) setStream(s *store.TableSettings) error {
	if !r.stream.Set {
		return nil
	}
	on := r.stream.V.enabled.V
	switch {
	case on && s.Stream != "":
		return errValidation("Table already has an enabled stream")
	case !on && s.Stream == "":
		return errValidation("Table has no stream to disable")
	}
	s.Stream = store.StreamView(r.stream.V.view.V)
	return nil
}
