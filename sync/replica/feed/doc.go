// Package feed brings in what others have written: it reads the cloud by rules and on demand, and makes what it reads the bases of
// the local items, which readers then see.
//
// An example. Another node sets x.n to 5, while here x.n is 4 and so is its base. A rule reads the table every 30 s (Run, round),
// page by page (pass, page). The image of x differs from the base, so it is adopted, in one transaction with the position of the
// pass: the base becomes n = 5, and the view follows. If this node had added 1 itself and had no answer yet, that entry waits on
// top and readers see 6, unless the image carries its mark: then it has been applied, the entry leaves, and readers see 5.
//
// Three rules decide what an image cannot show. A base set since the read began is newer than what was read, whichever looks newer:
// the item is read again. An item missing from a complete pass is deleted only after a read of its own, if its base is older
// than the pass, nothing of it is pending, and the table is still the same one (Tables). An image that proves a transaction
// is adopted together with the images of its other items, or not at all.
package feed
