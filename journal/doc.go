// Package journal keeps a durable, append-only file of records: JSON Lines, one
// object a line, each sealed with a checksum that depends on every line before it.
//
// A line is
//
//	{"seq":17,…the record's own fields…,"crc":"0f3a99c2"}
//
// "seq" is the line's number, counted from 1. "crc" is eight lower-case
// hexadecimal digits: the CRC-32 (IEEE) of the line's bytes before `,"crc"`,
// started from the checksum of the line before (0 for the first line). The first
// line also names the format and its version right after "seq":
//
//	{"seq":1,"format":"lbotune-journal","version":1,…the header's own fields…,"crc":"…"}
//
// What a crash may do: leave bytes after the last whole line. Open cuts them off,
// keeps them in a file next to the journal and reports them. Damage anywhere else
// is a [CorruptError] that names the line, and the file is left as it is.
//
// What a crash may not do: lose or change a record for which Append has returned.
//
// docs/journal.md describes the format for those who read it with other tools.
package journal
