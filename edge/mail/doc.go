// Package mail sends messages for applications. Outbox.Queue stores a message in the transaction that causes it; Outbox.Run sends it by
// SMTP, or writes it to a file.
//
// A message is sent at least once. Its row stays in the queue until the server has acknowledged the end of its data. If the process or
// the connection dies before that answer arrives, nobody knows whether the server accepted the message. It is then sent again with the
// same Message-ID, by which receivers recognize a duplicate. In all other cases it is sent exactly once.
//
// Addresses are personal data: they never appear in log lines, metrics or send errors.
package mail
