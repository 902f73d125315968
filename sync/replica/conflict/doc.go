// Package conflict keeps the decisions about writes that could not, or may not have, become what the application asked for: the log of
// records, the applications' merge handlers, and the operator's decisions (retry, discard). A record is created in the transaction
// in which its entries leave the outbox, so that no write is lost between the two.
//
//	UPDATE m SET over = 12 IF over = 11   but the cloud has over = 13
//	  -> a Record of KindRefused with the entry, the cloud's item, the base and the writes that waited behind it
//	  -> the table's MergeFunc is asked; without an answer it stays open until Retry or Discard
package conflict
