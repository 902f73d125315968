// Package identity is who a node is to the cloud, and what it does when another process has used its identity: a copy of its files, or
// a later state of itself before a snapshot was restored.
//
// A node has an id and an incarnation (from the store), runs, and a row in the cloud. With each connect, and each write of the row
// after a send, it draws a nonce: first into the file beside the store, then into the row, replacing the nonce it knows
// (drawNonce, writeRow). So a nonce in the row that no file here knows was drawn by another copy.
//
// An example. A machine's snapshot has nonce 7 and a waiting entry e100. The machine goes on, sends e100, draws 8, and is then restored
// from the snapshot. It connects: the row has 8, the file 7. So there is a history that this node does not know, in which e100 may
// have been sent. The node begins a new incarnation (newIncarnation), whose sequences are unused. Everything that waits is flagged
// (flagLost) and looked for in the cloud before it is sent. What was never sent there gets a new number (NewSequence), because the
// other history may have given its number to another write (span). If this happens twice within a run, a copy is running: both
// stop (stopCopies), and a person decides.
//
// The runs that both histories list show the last sequence that they share (forkOf): a run is after what was written before it. What waits
// and is later was written here alone, and is sent. A machine that was resumed with its memory begins a run too (RunResumes), so that its
// runs show where it parted from another machine that goes on from the same memory.
//
// The row also reports how far the node has settled (Run), except in gaps: sequences that another copy may have used. Other nodes read it to
// learn which marks on items are no longer needed.
package identity
