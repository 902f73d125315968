package dynamoapi

import (
	"net/http"
	"net/netip"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
)

// resetPath is the route by which tests empty the database: POST /_/reset.
const resetPath = "/_/reset"

// ResetAccess is who may empty the database in one request.
type ResetAccess uint8

// Nobody, programs on this machine, or all programs.
const (
	ResetOff ResetAccess = iota
	ResetFromLoopback
	ResetFromAnywhere
)

// reset empties all tables, or drops them with ?tables=true, in one commit. It is not an operation of DynamoDB and not signed; its
// errors have the usual shape.
func (a *API) reset(w http.ResponseWriter, r *http.Request, out *wire.Encoder) error {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return refuseWith(http.StatusMethodNotAllowed, ofCoral+"UnknownOperationException", "%s answers POST only", resetPath)
	}
	if why := a.noReset(r); why != "" {
		return refuseWith(http.StatusForbidden, ofCoral+"AccessDeniedException", "%s", why)
	}
	tables := r.URL.Query().Get("tables")
	if tables != "" && tables != "true" && tables != "false" {
		return errValidation("tables must be true or false")
	}
	names, err := a.store.Reset(r.Context(), tables == "true")
	if err != nil {
		return err
	}
	a.sizes.forget()
	a.cfg.Logger.InfoContext(r.Context(), "reset", "tables", len(names), "dropped", tables == "true")
	out.Begin()
	out.NamedTexts("TableNames", names)
	out.End()
	return nil
}

// noReset returns why a request may not reset; empty: it may. Pages of other origins may not: a browser would send their request
// without a preflight.
func (a *API) noReset(r *http.Request) string {
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return "A web page of another origin may not reset"
	}
	switch a.cfg.Reset {
	case ResetFromAnywhere:
		return ""
	case ResetFromLoopback:
		if fromLoopback(r) {
			return ""
		}
		return "Only programs on the endpoint's machine may reset; --remote-reset lets others"
	default:
		return "Reset is off; touchline dynamodb --any-key turns it on"
	}
}

// fromLoopback reports whether a request comes from a program on this machine.
func fromLoopback(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback()
}
