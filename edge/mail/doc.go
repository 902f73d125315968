// Package mail sends messages of applications: Outbox.Queue keeps one in the transaction of what it stands for, and Outbox.Run
// hands it to an SMTP server, or writes it to a file.
//
// A message is sent at least once. Its row says that it waits until the server has acknowledged the end of its data. If the
// process or the connection dies before that answer has arrived, nobody can know whether the server took the message: it is sent
// again, with the same Message-ID, by which receivers tell a copy. In every other case it is sent once.
//
// Addresses are personal: none is in a log line, a metric or an error of sending.
package mail
