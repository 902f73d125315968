// Package page draws the pages of a node and of its applications, as HTML that is complete without JavaScript. It does no I/O:
// everything it shows is handed to it as values, so that the same input always gives the same bytes.
//
// A page is a frame around parts. The server sends the whole page once and afterwards only the parts whose bytes changed; the
// module assets/page.js puts them into the document. Both come from one renderer, so the first paint and the hundredth update
// cannot differ. An application brings templates, style sheets and icons of its own (Look); frame, parts and the node's pages
// (sign-in, operator, list, gallery) are here.
package page
