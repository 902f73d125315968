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
	SideSet      Point = "store/side/set"      // a pair beside the tables is set, what it belongs to is not written yet
	UndoStep     Point = "store/undo/step"     // a change of a failed transaction is about to be taken back
	TrimRecord   Point = "store/trim/record"   // a record is out of the journal, its position not moved

	CommitSealed   Point = "store/commit/sealed"   // before space is reserved
	RoomAllocated  Point = "store/room/allocated"  // the file has grown, that is not synced
	CommitReserved Point = "store/commit/reserved" // before bbolt commits
	CommitWritten  Point = "store/commit/written"  // bbolt has committed, memory does not know
	CommitAnswer   Point = "store/commit/answer"   // before the callers are told

	TransactStep Point = "store/transact/step" // before each action of a TransactWrite
	TransactDone Point = "store/transact/done" // all are done, the token is not noted
	TokenKey     Point = "store/token/key"     // a token is noted, its time is not

	FillSlice   Point = "store/fill/slice"   // entries of a new index are in, how far it is filled is not noted
	EmptySlice  Point = "store/empty/slice"  // a slice of what was dropped is taken out
	EmptyBucket Point = "store/empty/bucket" // a bucket is deleted, the catalogue still knows it
	ForgetSlice Point = "store/forget/slice" // records of a dropped table are out, the table is still known
	SweepFound  Point = "store/sweep/found"  // expired items are found, not deleted

	BackupCopied   Point = "store/backup/copied"   // the copy is written, not synced
	BackupChecksum Point = "store/backup/checksum" // its checksum is on disk, it has no name yet
	DraftSynced    Point = "store/draft/synced"    // a file is complete on disk under its other name
	DraftLinked    Point = "store/draft/linked"    // it has both names
	DraftNamed     Point = "store/draft/named"     // it has its name, the folder is not synced
	RestoreCopied  Point = "store/restore/copied"  // the copy is compared with the checksum
	RestoreCounted Point = "store/restore/counted" // it has its incarnation, not its name
	CompactPart    Point = "store/compact/part"    // a part of the copy is committed
	CompactPacked  Point = "store/compact/packed"  // the copy is complete and compared

	IncarnationNoted Point = "store/incarnation/noted" // a new incarnation is noted beside the file, not in it

	CloseBegin    Point = "store/close/begin"    // before the free list is written
	CloseFreelist Point = "store/close/freelist" // it is written, the file is still open
)

// All lists the points.
func All() []Point {
	return []Point{
		CreateFolder, CreateMeta, CreateDraft, CreateLinked, CreateSynced,
		OpenLocked, OpenVerified, OpenMapped,
		ApplyLogged, ApplyRow, IndexRemoved, SideSet, UndoStep, TrimRecord,
		CommitSealed, RoomAllocated, CommitReserved, CommitWritten, CommitAnswer,
		TransactStep, TransactDone, TokenKey,
		FillSlice, EmptySlice, EmptyBucket, ForgetSlice, SweepFound,
		IncarnationNoted, BackupCopied, BackupChecksum, DraftSynced, DraftLinked, DraftNamed, RestoreCopied, RestoreCounted, CompactPart, CompactPacked,
		CloseBegin, CloseFreelist,
	}
}
