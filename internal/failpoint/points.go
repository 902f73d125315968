package failpoint

// Point is the name of one place: package, operation, and what has just been done or is about to be.
type Point string

// The points, in the order of the steps of each operation.
const (
	CreateFolder Point = "store/create/folder" // the folder is there, the file is not
	CreateMeta   Point = "store/create/meta"   // the buckets are written, not committed
	CreateDraft  Point = "store/create/draft"  // the file is complete under its other name
	CreateLinked Point = "store/create/linked" // it has its name, the folder is not synced
	CreateSynced Point = "store/create/synced" // it has its name on disk, the other name is still there

	OpenLocked   Point = "store/open/locked"   // the file is locked, not yet looked at
	OpenVerified Point = "store/open/verified" // bbolt has not seen it yet
	OpenMapped   Point = "store/open/mapped"   // bbolt has opened it

	ApplyLogged  Point = "store/apply/logged"  // the record of a change is in the journal, the row is not changed
	ApplyRow     Point = "store/apply/row"     // the row is changed, the indexes are not
	IndexRemoved Point = "store/index/removed" // the old entry is out, the new one not in
	UndoStep     Point = "store/undo/step"     // a change of a failed transaction is about to be taken back
	TrimRecord   Point = "store/trim/record"   // a record is out of the journal, its position not moved

	CommitSealed   Point = "store/commit/sealed"   // before space is reserved
	RoomAllocated  Point = "store/room/allocated"  // the file has grown, that is not synced
	CommitReserved Point = "store/commit/reserved" // before bbolt commits
	CommitWritten  Point = "store/commit/written"  // bbolt has committed, memory does not know
	CommitAnswer   Point = "store/commit/answer"   // before the callers are told

	CloseBegin    Point = "store/close/begin"    // before the free list is written
	CloseFreelist Point = "store/close/freelist" // it is written, the file is still open
)

// All lists the points.
func All() []Point {
	return []Point{
		CreateFolder, CreateMeta, CreateDraft, CreateLinked, CreateSynced,
		OpenLocked, OpenVerified, OpenMapped,
		ApplyLogged, ApplyRow, IndexRemoved, UndoStep, TrimRecord,
		CommitSealed, RoomAllocated, CommitReserved, CommitWritten, CommitAnswer,
		CloseBegin, CloseFreelist,
	}
}
