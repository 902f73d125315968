// Package httpapi is the node's face to HTTP: the routes of the applications, streams of server-sent events, health and
// metrics, and the embedded pages (which package page draws).
//
// It decides nothing about cricket. A handler binds and checks what came, asks a service that the Config names, and
// writes the answer or, by one table, the error. What moves is read from the store's journal by one loop and handed to
// the streams; nothing is sent to a client from within a transaction, and a client that reads slowly loses single
// updates, never the present state.
package httpapi
