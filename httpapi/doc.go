// Package httpapi serves applications over HTTP. Each hands it one value (App): routes, errors, topics, pages; the server adds
// sign-in, limits, event streams, health and metrics, and the node's own pages. It knows no application by name.
//
// A handler binds and checks what came (Body, Subject), asks its service, and writes the answer (JSON, Answer, Page, Stream) or
// returns the error, which one table turns into a status and the application into a body. One loop reads changes from the store's
// journal and hands them to the streams; nothing is sent to a client from within a transaction, and a client that reads slowly
// loses single updates, never the present state.
package httpapi
