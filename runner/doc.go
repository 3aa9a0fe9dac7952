// Package runner runs attempts: one attempt is one execution of a trial's command, from
// the claim of its directory until none of its processes is left.
//
// # The directory
//
// An attempt's directory is the truth about it, for whoever comes later:
//
//	attempt.jsonl   who started it where and when, its supervisor, what it has used of the
//	                machine, its exit status
//	stdout, stderr  what the command wrote
//	...             files of the job (params.json, configuration), files of the command
//
// Creating the directory is the claim: it succeeds for one orchestrator only. All is of
// mode 0600 and 0700 whatever the umask (which the command inherits unchanged), and no
// symbolic link that a command has put in the place of one of these files is followed.
//
// # The process tree
//
//	orchestrator
//	└─ supervisor     /bin/sh with a program of a few lines; leader of a session
//	   └─ command     /bin/sh -c LINE, or the program itself
//	      └─ ...
//
// The command's output goes straight into files and its stdin is /dev/null, so that an
// attempt needs nobody: kill the orchestrator by SIGKILL, and the attempt runs on. Since
// only a parent learns an exit status, the supervisor stands in between. It is a shell,
// the cheapest program found on every machine. Only where the environment has variables
// that a shell does not hand on, the program that uses this package is started once more
// below it and becomes the command: their values are on no command line. The supervisor
// survives signals to its group, and appends the status to attempt.jsonl in one short write
// into a block that is already allocated, so that a full disk does not lose it.
//
// # What belongs to an attempt, and whether it lives
//
// Process ids are never trusted alone. A process belongs to an attempt if
//
//   - it is in the supervisor's session, as long as the supervisor is our child and not yet
//     reaped, so that the number cannot be another's;
//   - its environment carries the marker LBOTUNE_ATTEMPT=<id>/<nonce>. Inside an attempt
//     inside an attempt both markers are listed, so that ending the outer one ends the
//     inner one;
//   - it holds the lock on attempt.jsonl (descriptor 9), which every process inherits that
//     does not close it;
//   - it was born in the attempt's control group, where we may make any;
//   - one of its ancestors does; or, with Local.Adopt, it is an orphan that no other
//     attempt can have started.
//
// None of this is true of a copy of the directory: the nonce is new for each launch, and a
// copied record is recognized by its inode (ErrCopied). A directory that was moved keeps it.
//
// Zombies are not alive. The boot id of the kernel tells that a boot has come in between
// (everything is dead), the host's name and machine id that the attempt is another
// machine's (ErrElsewhere: it cannot be judged from here).
//
// # The end
//
// An attempt that is asked to end (ctx, Timeout) gets SIGTERM, once per process, and Grace
// for all of the tree to end: a shell dies long before the program under it has saved its
// checkpoint. Then comes SIGKILL, again and again until nothing is found. That it was asked
// is recorded before the first signal.
//
// An attempt that ends by itself ends with its command. What that has left behind has a second
// to end too, as the tee of "> >(tee log)" does. What lives on is ended then (SIGTERM, one
// second at most, SIGKILL) and reported, and what it still prints does not count (Exit.Counted).
//
// # Output
//
// Job.MaxLog bounds the disk space of each output. The command writes into the file itself,
// so the middle of a file that grows too long is given back to the file system as a hole,
// ten times a second or more, in which the bound can be passed. Who follows the file with
// Tail and keeps up reads everything; who comes late reads the beginning, a newline for the
// hole, and the end. Without holes the attempt is ended and Exit.Flooded says so.
//
// # What this cannot do
//
//   - A program that exits with 128+n looks as if signal n had ended it; shells say it so.
//   - While no orchestrator lives, nobody enforces Timeout and MaxLog; the next one does.
//   - Without a control group, a process that leaves session, environment and descriptors
//     behind, and outlives its parents and the orchestrator, is not found again.
//   - Without a control group, a fork bomb ends if the machine leaves us time to end it.
//     Bound it (ulimit -u, a pids cgroup).
//   - A command that sends SIGKILL to its own group kills its supervisor. While the
//     orchestrator lives the attempt has ended by SIGKILL; otherwise it is lost.
//   - Off Linux an attempt is its process group and whoever holds its lock.
package runner
