// Package httpapi serves applications over HTTP. Each application passes one value (App) with its routes, errors, topics and pages. The
// server adds sign-in, limits, event streams, health and metrics, and the node's own pages. It knows no application by name.
//
// A handler binds and checks the request (Body, Subject), calls its service, and writes the answer (JSON, Answer, Page, Stream) or
// returns an error. One table maps the error to a status, and the application renders its body. One loop reads changes from the store's
// journal and delivers them to the streams. Nothing is sent to a client from within a transaction. A slow client may miss intermediate
// updates, but never the current state.
package httpapi
