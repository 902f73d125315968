// Package page renders the pages of a node and its applications, as HTML that is complete without JavaScript. It does no I/O:
// everything it shows is passed in as values, so the same input always produces the same bytes.
//
// A page is a frame around parts. The server sends the whole page once, and afterwards only the parts that changed, which the module
// assets/page.js inserts into the document. Both come from the same renderer, so the first paint and later updates cannot differ. An
// application provides its own templates, style sheets and icons (New). The frame, common parts and the node's pages (sign-in, Status,
// list, gallery) are here.
package page
