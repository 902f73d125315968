// Package restore notices that a cloud table is no longer the same one, because it was restored to an earlier instant or recreated,
// and puts back what it has lost.
//
// An example. This node sent e100 at 12:10, and it is settled. At 12:30 somebody restores the table to 12:00. The next check (Inspect)
// shows another id and the restore point. From then on, absence in the table does not mean deletion (KeepsAbsent). e100 goes from the
// replay log back into the outbox (putBack), because it was known to be applied after 11:55, five minutes before the restore point.
// It is verified: looked for by its mark, and sent again if missing. Other nodes put back their own writes of 12:05, so whatever
// depends on those waits until every node has reported its replay (EndReplays), or for an hour. A recreated table is stopped until a
// person has restarted the node: nobody can tell whether that was intended.
package restore
