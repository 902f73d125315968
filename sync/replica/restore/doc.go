// Package restore notices that a table of the cloud is another one than it was, put back to an earlier instant or created
// again, and puts back what it has lost.
//
// An example. This node sent e100 at 12:10, and it is settled. At 12:30 somebody restores the table to 12:00. The next look
// (Look) shows another id and the restore point: from now on what is absent there was not deleted (KeepsAbsent), and e100
// goes from the replay log back into the outbox (putBack), since it was known to be applied after 11:55, five minutes before
// the point. It is made sure of: looked for by its mark, and sent again where it is not there. What others had written at
// 12:05 they put back themselves, so what depends on it waits until each node has told that it has replayed (EndReplays), or
// for an hour. A table that was created again stops, until a person has restarted the node: nobody can tell whether that was
// meant.
package restore
