// Package command makes the command and the files of one attempt: it replaces
// placeholders such as {lr} in a shell command, in an argument list, in a path or
// in a configuration file by the values of a trial.
//
// Values are data. In a shell command each is quoted, and a placeholder stands
// only where quotes count: [ParseShell] finds out.
package command
