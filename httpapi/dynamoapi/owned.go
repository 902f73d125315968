package dynamoapi

import (
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// reservedPrefix begins the names of what a node keeps for itself.
const reservedPrefix = "touchline-"

// owned returns the declaration of a table that the node or one of its applications works with.
func (a *API) owned(name string) (spec store.TableSpec, ok bool) {
	for _, spec := range a.cfg.Owned {
		if spec.Name == name {
			return spec, true
		}
	}
	return spec, false
}

// refuseOwned refuses to take something away from such a table.
func (a *API) refuseOwned(name, what string) error {
	if _, ok := a.owned(name); !ok {
		return nil
	}
	return refuse(ofCoral+"AccessDeniedException", "Table: %s belongs to an application of this node: %s", name, what)
}

// refuseReserved refuses to make a table of a name that the node may need, whether it has one of that name or not.
func (a *API) refuseReserved(name string) error {
	if len(a.cfg.Owned) > 0 && strings.HasPrefix(name, reservedPrefix) {
		return errReserved()
	}
	return nil
}

// refuseHidden is refuseReserved for what only the store knows: that there is a table which nobody is shown.
func (c *call) refuseHidden(name string, err error) error {
	if f, _ := c.api.store.Describe(name); f.Spec.Internal && fault.Is(err, fault.Conflict) {
		return errReserved()
	}
	return err
}

func errReserved() error {
	return refuse(ofCoral+"AccessDeniedException", "Table names that begin with %s are reserved for the node", reservedPrefix)
}

// checkOwned refuses to take the protection or a declared index from a table of an application.
func (r *updateTable) checkOwned(c *call, before store.TableDescription) error {
	spec, ok := c.api.owned(before.Spec.Name)
	if !ok {
		return nil
	}
	if r.protected.Set && !r.protected.V {
		return c.api.refuseOwned(spec.Name, "its deletion protection stays on")
	}
	for _, u := range r.updates.V {
		for _, ix := range spec.Indexes {
			if u.remove.Set && u.remove.V.name.V == ix.Name {
				return c.api.refuseOwned(spec.Name, "index "+ix.Name+" stays")
			}
		}
	}
	return nil
}
