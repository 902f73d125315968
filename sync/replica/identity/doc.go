// Package identity is who a node is to the cloud, and what it does when somebody else has been it: a copy of its files, a
// later state of itself before it was put back to a snapshot.
//
// A node has an id and an incarnation (the store's), runs, and a row in the cloud. With each connect, and with each write of
// the row that follows a send, it draws a nonce: first into the file beside the store, then into the row, in the place of the
// one that it knows (drawNonce, writeRow). So a nonce in the row that no file here knows was drawn by somebody else.
//
// An example. A machine's snapshot has nonce 7 and entry e100 waiting. The machine goes on, sends e100, draws 8, and is put
// back to the snapshot. It connects: the row has 8, the file 7. So there is a history that this one does not know, in which
// e100 may have been sent. The node begins a new incarnation (newIncarnation), whose sequences are nobody's yet; all that
// waits is flagged (flagLost) and looked for in the cloud before it is sent; what was never sent there gets a new number
// (NewSequence), since the other history may have given its number to another write (span). Twice within a run means that a
// copy is running: both stop (stopCopies), and a person decides.
//
// The row also tells how far the node has settled (Run). Others read it to know which marks on items nobody needs any more.
package identity
