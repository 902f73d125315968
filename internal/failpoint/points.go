package failpoint

// Point is the name of a place: package, operation, and what was just done or is about to be.
type Point string

// The points, in the order of the steps of each operation.
const (
	CreateFolder Point = "store/create/folder" // the folder exists, the file does not
	CreateMeta   Point = "store/create/meta"   // the buckets are written but not committed
	CreateDraft  Point = "store/create/draft"  // the file is complete under its temporary name
	CreateLinked Point = "store/create/linked" // the file has its name, the folder is not synced
	CreateSynced Point = "store/create/synced" // the name is on disk, the temporary name still exists

	OpenLocked   Point = "store/open/locked"   // the file is locked, not yet verified
	OpenVerified Point = "store/open/verified" // bbolt has not seen it yet
	OpenMapped   Point = "store/open/mapped"   // bbolt has opened it

	ApplyLogged  Point = "store/apply/logged"  // the change is in the journal, the row is unchanged
	ApplyRow     Point = "store/apply/row"     // the row is changed, the indexes are not
	IndexRemoved Point = "store/index/removed" // the old entry is removed, the new one missing
	SideSet      Point = "store/side/set"      // a pair of a side space is set, the writes with it are not done
	UndoStep     Point = "store/undo/step"     // a change of a failed transaction is about to be undone
	TrimRecord   Point = "store/trim/record"   // a record is removed, the position of the journal unchanged

	CommitSealed   Point = "store/commit/sealed"   // before space is reserved
	RoomAllocated  Point = "store/room/allocated"  // the file has grown but is not synced
	CommitReserved Point = "store/commit/reserved" // before bbolt commits
	CommitWritten  Point = "store/commit/written"  // bbolt has committed, memory is unchanged
	CommitAnswer   Point = "store/commit/answer"   // before the callers get their answers

	TransactStep Point = "store/transact/step" // before each action of a TransactWrite
	TransactDone Point = "store/transact/done" // all actions are done, the token is not stored
	TokenKey     Point = "store/token/key"     // a token is stored, its time key is not

	FillSlice   Point = "store/fill/slice"   // entries of a new index are written, the progress is not
	EmptySlice  Point = "store/empty/slice"  // a slice of a dropped bucket is removed
	EmptyBucket Point = "store/empty/bucket" // a bucket is deleted, the catalogue still knows it
	ForgetSlice Point = "store/forget/slice" // records of a dropped table are removed, its row still exists
	SweepFound  Point = "store/sweep/found"  // expired items are found, not deleted

	BackupCopied   Point = "store/backup/copied"   // the copy is written, not synced
	BackupChecksum Point = "store/backup/checksum" // the checksum is on disk, the backup has no name yet
	DraftSynced    Point = "store/draft/synced"    // a file is complete on disk under its temporary name
	DraftLinked    Point = "store/draft/linked"    // the file has both names
	DraftNamed     Point = "store/draft/named"     // the file has its name, the folder is not synced
	RestoreCopied  Point = "store/restore/copied"  // the copy has been compared with its checksum
	RestoreCounted Point = "store/restore/counted" // the store has its incarnation but not its name
	CompactPart    Point = "store/compact/part"    // a part of the copy is committed
	CompactPacked  Point = "store/compact/packed"  // the copy is complete and verified

	IncarnationNoted Point = "store/incarnation/noted" // a new incarnation is noted beside the file but not in it

	CloseBegin    Point = "store/close/begin"    // before the free list is written
	CloseFreelist Point = "store/close/freelist" // the list is written, the file is still open
)

// All returns all points.
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
