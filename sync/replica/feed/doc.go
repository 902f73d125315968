// Package feed brings in what others have written: it reads the cloud by rules and on demand, and makes what it reads the
// bases of the items here, which readers then see.
//
// An example. Another node sets x.n to 5, and x.n here is 4, of which the cloud's image is the base. A rule reads the
// table each 30 s (Run, round), page by page (pass, page). The image of x is unlike the base, so it is adopted, in
// one transaction with the position of the pass: the base is n = 5, and the view follows. Had this node added 1 itself and
// had no answer yet, that waits on top, and readers see 6; unless the image has its mark: then it has been applied, the
// entry leaves, and readers see 5.
//
// What an image cannot say is decided by three rules. A base that was set since the read began is newer than what was
// read, whichever looks newer: the item is read again. An item that a complete pass has not met is deleted only after a
// read of its own, if its base is older than the pass, nothing of it waits, and the table is the one that it was (Tables).
// An image that proves a transaction is taken together with those of its other items, or not at all.
package feed
