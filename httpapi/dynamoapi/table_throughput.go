package dynamoapi

import (
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// Members of OnDemandThroughput and WarmThroughput.
const (
	maxReads   = "MaxReadRequestUnits"
	maxWrites  = "MaxWriteRequestUnits"
	warmReads  = "ReadUnitsPerSecond"
	warmWrites = "WriteUnitsPerSecond"
)

// Initial warm throughput of a table or index that is billed per request.
const (
	initialReads  = 12_000
	initialWrites = 4_000
)

// demand is what a request asks for a table or global index, besides provisioned throughput.
type demand struct {
	onDemand, warm wire.Opt[throughputSpec]

	index   string // empty: the table
	billing string // the table's billing mode after the request
	made    bool   // being created, not changed
}

// demand returns what is asked for a global index.
func (v *indexDefinition) demand(billing string, made bool) demand {
	return demand{onDemand: v.onDemand, warm: v.warm, index: v.name.V, billing: billing, made: made}
}

// storeThroughput converts ProvisionedThroughput for the store.
func storeThroughput(v wire.Opt[throughputSpec]) store.Throughput {
	return store.Throughput{Read: v.V.read.V, Write: v.V.write.V}
}

// describeSource names the table or index in a message. The service writes an index in two ways.
func (d demand) describeSource(sign string) string {
	if d.index == "" {
		return "table"
	}
	return "index" + sign + d.index
}

// apply returns the throughput after the request. -1 removes an on-demand limit.
func (d demand) apply(have store.Throughput) (store.Throughput, error) {
	if err := d.checkOnDemand(); err != nil {
		return have, err
	}
	if err := d.checkWarm(have); err != nil {
		return have, err
	}
	set := func(into *int64, v wire.Opt[int64]) {
		if v.Set {
			*into = max(v.V, 0)
		}
	}
	set(&have.MaxRead, d.onDemand.V.read)
	set(&have.MaxWrite, d.onDemand.V.write)
	set(&have.WarmRead, d.warm.V.read)
	set(&have.WarmWrite, d.warm.V.write)
	return have, nil
}

// checkOnDemand refuses on-demand limits without on-demand billing, and invalid ones.
func (d demand) checkOnDemand() error {
	for _, m := range []struct {
		name string
		n    wire.Opt[int64]
	}{{maxReads, d.onDemand.V.read}, {maxWrites, d.onDemand.V.write}} {
		switch {
		case !m.n.Set:
		case d.billing != store.BillingOnDemand:
			return d.errProvisioned(m.name)
		case m.n.V < 1 && (d.made || m.n.V != -1):
			return errWrong("Requested %s for OnDemandThroughput for %s is outside of valid range", m.name, d.describeSource(" : "))
		}
	}
	return nil
}

func (d demand) errProvisioned(member string) error {
	of, mode := "", "the table BillingMode is PROVISIONED"
	if d.index != "" {
		of = " for index: " + d.index
	}
	if d.made {
		mode = "table BillingMode is PROVISIONED."
	}
	return errWrong("%s for OnDemandThroughput%s cannot be specified when %s", member, of, mode)
}

// checkWarm refuses less warm throughput than there is.
func (d demand) checkWarm(have store.Throughput) error {
	read, write := warmth(have, d.billing == store.BillingOnDemand)
	for _, m := range []struct {
		name, unit string
		n          wire.Opt[int64]
		least      int64
	}{{warmReads, "ReadCapacityUnits", d.warm.V.read, read}, {warmWrites, "WriteCapacityUnits", d.warm.V.write, write}} {
		if !m.n.Set || m.n.V >= m.least {
			continue
		}
		than := "current WarmThroughput, decreasing WarmThroughput is not supported"
		switch {
		case d.made && d.billing == store.BillingOnDemand:
			than = "initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/" +
				"on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
		case d.made:
			than = m.unit + " of ProvisionedThroughput"
		}
		return errWrong("Requested %s for WarmThroughput for %s is lower than %s", m.name, d.describeSource(" "), than)
	}
	return nil
}

// checkNamed refuses a WarmThroughput without members. It needs no table.
func (d demand) checkNamed() error {
	if !d.warm.Set || d.warm.V.read.Set || d.warm.V.write.Set {
		return nil
	}
	return errWrong("WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for %s", d.describeSource(": "))
}

// warmth returns the warm throughput of a table or index: its highest so far, and at least what comes with its mode.
func warmth(of store.Throughput, onDemand bool) (read, write int64) {
	read, write = of.Read, of.Write
	if onDemand {
		read, write = initialReads, initialWrites
	}
	return max(read, of.WarmRead), max(write, of.WarmWrite)
}

// keepWarm records the warm throughput before a change: it never decreases.
func keepWarm(of store.Throughput, onDemand bool) store.Throughput {
	of.WarmRead, of.WarmWrite = warmth(of, onDemand)
	return of
}

// writeOnDemand writes the on-demand limits, if any.
func writeOnDemand(out *wire.Encoder, of store.Throughput) {
	if of.MaxRead <= 0 && of.MaxWrite <= 0 {
		return
	}
	out.NamedObject("OnDemandThroughput")
	if of.MaxRead > 0 {
		out.NamedInt(maxReads, of.MaxRead)
	}
	if of.MaxWrite > 0 {
		out.NamedInt(maxWrites, of.MaxWrite)
	}
	out.End()
}

// writeWarm writes the warm throughput. The answer to a creation has it only if it was requested.
func writeWarm(out *wire.Encoder, of store.Throughput, onDemand bool, l look, index string) {
	status := "ACTIVE"
	switch {
	case l.warming[index]:
		status = "UPDATING"
	case l.made:
		return
	}
	read, write := warmth(of, onDemand)
	out.NamedObject("WarmThroughput")
	out.NamedInt(warmReads, read)
	out.NamedInt(warmWrites, write)
	out.NamedText("Status", status)
	out.End()
}

// set applies UpdateTable to the settings. It runs inside the write transaction, so a refusal changes nothing.
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
		of, err := changedThroughput(s.Throughput, r.throughput.V, now, "table", "table")
		if err != nil {
			return err
		}
		s.Throughput = of
	}
	var err error
	s.Throughput, err = demand{onDemand: r.onDemand, warm: r.warm, billing: mode}.apply(s.Throughput)
	return err
}

// free returns throughput without its provisioned part.
func free(of store.Throughput) store.Throughput {
	return store.Throughput{MaxRead: of.MaxRead, MaxWrite: of.MaxWrite, WarmRead: of.WarmRead, WarmWrite: of.WarmWrite}
}

func (r *updateTable) setIndexes(s *store.TableSettings, mode string, now time.Time) error {
	var err error
	for _, u := range r.updates.V {
		if def := u.create.V; u.create.Set {
			if s.Indexes[def.name.V], err = def.demand(mode, true).apply(storeThroughput(def.throughput)); err != nil {
				return err
			}
		}
		if !u.update.Set {
			continue
		}
		def := u.update.V
		of := s.Indexes[def.name.V]
		if mode == store.BillingProvisioned && def.throughput.Set {
			if of, err = changedThroughput(of, def.throughput.V, now, "index "+def.name.V, "index"); err != nil {
				return err
			}
		}
		if s.Indexes[def.name.V], err = def.demand(mode, false).apply(of); err != nil {
			return err
		}
	}
	return nil
}

// changedThroughput returns the requested throughput with the times of its last increase and decrease. Asking for the current values is refused.
func changedThroughput(of store.Throughput, want throughputSpec, now time.Time, what, kind string) (store.Throughput, error) {
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

// sameDay reports whether two instants are on the same day in UTC.
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
