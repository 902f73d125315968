// Package page draws what people see of a node: the match page, the list of matches and the gallery, as HTML that is
// complete without JavaScript. It does no I/O: everything it shows is handed to it as values, so that the same input
// always gives the same bytes.
//
// A page is a frame around parts (score, charts, timeline, phones, ...). The server sends the whole page once and
// afterwards only the parts whose bytes changed; the module assets/page.js puts them into the document. There is one
// renderer, this one, so the first paint and the hundredth update cannot differ.
package page
