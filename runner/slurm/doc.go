// Package slurm runs attempts as jobs of a Slurm cluster: with sbatch, squeue, scancel and
// a file system that all machines see, and without any process that must stay alive.
//
// # The folder beside the attempt
//
// What package runner promises of an attempt's directory holds here too, since the job runs
// runner.Local in it: the same supervisor, record, limits and signals. Creating the
// directory is the claim, and here it is the job that claims. What launcher and job tell
// each other stands in a folder beside it, whose files folder.go lists:
//
//	trials/000017/a1/         the attempt, made by the job
//	trials/000017/a1.slurm/   the launcher's folder
//
// Making the folder is the launcher's claim: of two orchestrators one launches. Everything
// is written as a whole, by a rename, and synced.
//
// # In which order
//
//  1. The study's journal has the proposal.
//  2. The folder has the intent with a name that no other job ever has.
//  3. sbatch is called.
//  4. The folder has the job's id.
//  5. The job claims the attempt's directory and runs it; the folder has the ending.
//  6. The study's journal has the result.
//
// The journal knows nothing of jobs and ids. Whoever is killed between two of these steps is
// followed by an orchestrator that finds the intent (or none, and begins anew) and looks for
// jobs of that name. It finds one, or an attempt that has been claimed, or neither: then it
// submits again. If the first sbatch had been answered after all there are two jobs, of which
// the claim lets one run. Ids are kept for people alone: a controller that has lost its state
// gives them again.
//
// # Whether a job lives
//
// One squeue asks for all attempts of a launcher. What it answers is believed in one
// direction: a job that it calls pending, running or suspended is waited for. Silence of
// squeue means nothing. A job that has ended or vanished according to an answer
//
//   - has not begun if the launcher can claim the attempt's directory in its place. Then
//     it is submitted again; once only, on another node, if the job has failed by itself
//     and says why (a setup line, a program that the node does not see);
//   - has ended well if there is an ending, or the attempt's record has the exit status:
//     they beat whatever Slurm says;
//   - lives, if the heartbeat goes on: a node whose slurmd was killed counts as dead;
//   - is lost if nothing of this has appeared after 2 × Settings.Poll, a minute unless set
//     otherwise, in which network file systems show what is there. The attempt is then
//     told to end, should it live behind a broken network, and ErrLost lets the trial run
//     again, on another node if there is one. Settings.Retries bounds how often.
//
// # The end of a job by others
//
// A time limit, scancel by hand and want of memory are ends of the trial, with the reason in
// Exit.Cause. Preemption, the loss of a node and the like are nobody's fault: ErrLost.
//
// # Pilots
//
// With Settings.Pilot an attempt has no job of its own. It waits as a link in the folder of
// the pool (pilots/, whose files pilot.go lists), and jobs of an array, the pilots, take one
// after the other, the newest first.
// Claim and folder are the same. Before a pilot claims, it leaves a file with its name and id
// in the folder (taken-...), which it removes if another one was faster: whether an attempt
// lives is a question about these jobs. Nobody cancels a pilot for the sake of an attempt; it
// looks for the file stop each second.
//
// The links are only a list: one that is lost is made again; one that leads to an attempt
// that is claimed is removed by the pilot that has claimed it or finds it. The pilots that wait
// or run, according to squeue, are to have as many seats as there are attempts; what is missing
// is submitted. A pilot keeps all its seats as long as one is taken, or says that it leaves.
//
// # What this cannot do
//
//   - A node that is cut off from both the controller and the file system runs its attempt
//     on until it comes back, while the trial may run again elsewhere.
//   - A study cannot be moved while jobs of it wait: they know its directory by its path.
//   - Slurm itself keeps the environment of a job in its own files until the job ends.
package slurm
