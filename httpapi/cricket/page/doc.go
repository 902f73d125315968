// Package page draws cricket's pages: the match, the list of matches, replays, and the scenes of the gallery. Frame, parts and
// what all pages share are in httpapi/page; here are the templates and style sheets of cricket's own parts, and the views that
// work out what they say. It does no I/O: the same input always gives the same bytes.
package page
