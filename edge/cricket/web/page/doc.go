// Package page renders cricket's pages: the match, the list of matches, replays, and the gallery's scenes. The
// frame and shared parts are in httpapi/page; this package has the templates and style sheets of cricket's own
// parts, and the views with their content. It does no I/O: the same input always gives the same bytes.
package page
