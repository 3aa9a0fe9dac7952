package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

func newJournal(g *global, above *cobra.Command) {
	cmd := newCommand(above, "journal", "Check, repair, replay or follow a study's journal", "")
	cmd.Args = knownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	check := newCommand(cmd, "verify STUDY", "Check every line of a journal and whether its records make sense", "")
	check.RunE = g.inDir(func(_ context.Context, dir string, _ []string) error { return verify(g, dir) })
	mend := newCommand(cmd, "repair STUDY NEWFILE", "Write a new journal from the records that can be trusted",
		`Repair writes NEWFILE with every record of a damaged journal that an unbroken
chain of checksums vouches for, and lists what it dropped. It leaves the damaged
journal as it is: to continue, move NEWFILE into its place. It refuses while an
lbotune works on the study, whose next records NEWFILE would not have.`)
	mend.RunE = g.inDir(func(_ context.Context, dir string, args []string) error { return repair(g, dir, args[1]) })
	follow := newCommand(cmd, "follow STUDY", "Print the records of a study as they are written",
		`Follow prints every record of a study's journal as JSON, one per line, and then those
that another process writes, until the study has ended.`)
	follow.RunE = g.inDir(func(ctx context.Context, dir string, args []string) error {
		err := study.Follow(ctx, dir, func(_ *study.State, r study.Record) error { return printLine(g.out, r) }, nil)
		return hintStudy(args[0], err)
	})
	newReplay(g, cmd)
}

// inDir runs a command in the directory of the study that its first argument names.
func (g *global) inDir(run func(ctx context.Context, dir string, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		dir, err := g.studyDir(args[0])
		if err != nil {
			return err
		}
		return run(cmd.Context(), dir, args)
	}
}

// hintStudy tells what to do about a journal or a spec that a study cannot go on with, or how the study of
// a spec is begun.
func hintStudy(arg string, err error) error {
	var damage *journal.CorruptError
	_, missing := os.Stat(arg)
	switch {
	case hintOf(err) != "": // its own
	case errors.Is(err, study.ErrNoStudy) && strings.HasSuffix(arg, ".toml") && missing != nil:
		return asUsage(missing)
	case errors.Is(err, study.ErrNoStudy) && strings.HasSuffix(arg, ".toml"):
		return hinted(err, "lbotune run "+word(arg)+" begins it")
	case errors.As(err, &damage) && damage.Sealed:
		return hinted(err, "the line is as it was written, so that there is nothing to repair: another version of lbotune, or another program, wrote it")
	case damage != nil:
		return hinted(err, "the file is as it was; `lbotune journal repair` writes a new one with what can be trusted")
	case errors.Is(err, journal.ErrVersion):
		return hinted(err, "the file is whole; the version of lbotune that wrote it reads it, and goes on with it")
	case errors.Is(err, journal.ErrLocked):
		return hinted(err, "while it works, status shows it, adjust changes its budget and workers, enqueue, exclude and note reach it, and stop ends it")
	case isA[*study.ConfigError](err):
		return hinted(err, "change it back, or keep a new study in another directory: --study DIR, or --name NAME without a spec")
	}
	return err
}

type verifiedJSON struct {
	Journal string `json:"journal"`
	Records uint64 `json:"records"`
	Bytes   int64  `json:"bytes"`
	CRC     string `json:"crc"`
	Torn    string `json:"torn"` // what a crash has left at the end, if anything
}

func verify(g *global, dir string) error {
	path := layout.Study(dir).Journal()
	m := g.meter("checking the journal")
	sum, err := journal.Verify(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		_, err = study.Load(dir, m.read)
	}
	m.end()
	if err != nil {
		return hintStudy(dir, err)
	}
	torn := ""
	if sum.Torn != nil {
		torn = sum.Torn.String()
	}
	note := when(torn != "", "\nnote: %s; the next run cuts it off", torn)
	return g.show(verifiedJSON{path, sum.Records, sum.Size, fmt.Sprintf("%08x", sum.CRC), torn},
		fmt.Sprintf("%s: %s, %d bytes, all intact (crc %08x)%s\n", oneLine(path), count(int(sum.Records), "record"), sum.Size, sum.CRC, note))
}

type repairedJSON struct {
	Journal string            `json:"journal"`
	Kept    uint64            `json:"kept"` // records
	Mended  []journal.Finding `json:"mended"`
	Dropped []journal.Finding `json:"dropped"`
}

func repair(g *global, dir, to string) error {
	from, to := layout.Of(dir).Journal(), layout.Direct(to)
	held, err := journal.InUse(from)
	switch {
	case err != nil:
		return err
	case held:
		return hinted(fmt.Errorf("%s: %w", from, journal.ErrLocked), "lbotune stop "+word(dir)+" ends who works on the study; what is recorded meanwhile would be missing")
	}
	rep, err := journal.Repair(from, to)
	switch {
	case errors.Is(err, fs.ErrExist):
		return hinted(err, "repair never overwrites: name a new file")
	case errors.Is(err, fs.ErrNotExist):
		return usage(err)
	case err != nil:
		return err
	}
	none := []journal.Finding{} // null is no list
	out := repairedJSON{to, rep.Kept, append(none, rep.Mended...), append(none, rep.Dropped...)}
	var s strings.Builder
	for _, f := range out.Mended {
		fmt.Fprintf(&s, "mended line %d: %s\n", f.Line, oneLine(f.Reason))
	}
	for _, f := range out.Dropped {
		fmt.Fprintf(&s, "dropped line %d (%d bytes at %d): %s\n", f.Line, f.Length, f.Offset, oneLine(f.Reason))
	}
	fmt.Fprintf(&s, "%s: %s, %d mended, %d dropped\nto go on with it: mv %s %s\n", oneLine(to), count(int(rep.Kept), "record"),
		len(out.Mended), len(out.Dropped), word(to), word(from))
	return g.show(out, s.String())
}

var errDiffers = errors.New("the replay differs from the journal")

func newReplay(g *global, above *cobra.Command) {
	cmd := newCommand(above, "replay STUDY", "Compute every proposal again and compare it with the journal",
		`Replay tells a new optimizer what the study's optimizer knew at each proposal, asks
again, and compares the answers. On the kind of processor that ran the study they are all the
same, and where this one can compute as that does, it does.`)
	kernel := cmd.Flags().String("kernel", "", "replay only what was proposed on this kind of processor")
	cmd.Flags().Lookup("kernel").Hidden = true // replay itself starts these
	cmd.RunE = g.inDir(func(ctx context.Context, dir string, _ []string) error { return replay(ctx, g, dir, *kernel) })
}

// replay leaves sessions of another kind of processor to a process that computes as that one does,
// where this one can. Of the others it shows whether rounding makes a difference. A kernel is the only
// kind that is wanted.
func replay(ctx context.Context, g *global, dir, kernel string) error {
	var others []string
	rep, err := replaySessions(ctx, g, dir, func(of string) bool {
		if kernel == "" && without(of) != "" && !slices.Contains(others, of) {
			others = append(others, of)
		}
		return of == kernel || kernel == "" && without(of) == ""
	})
	for _, other := range others {
		if err == nil {
			err = addReplay(ctx, g, &rep, dir, other)
		}
	}
	if err != nil {
		return hintStudy(dir, err)
	}
	if kernel != "" {
		return printJSON(g.out, rep)
	}
	sort.SliceStable(rep.Differences, func(i, j int) bool { return rep.Differences[i].Trial < rep.Differences[j].Trial })
	var s strings.Builder
	for _, d := range rep.Differences {
		fmt.Fprintf(&s, "trial %d: the journal has %s, the replay %s\n", d.Trial, oneLine(d.Journal.String()), oneLine(d.Replay.String()))
	}
	fmt.Fprintf(&s, "%s asked again, %d different, %d given or continued\n", count(rep.Asked, "proposal"), len(rep.Differences), rep.Given)
	if err := g.show(rep, s.String()); err != nil {
		return err
	}
	switch {
	case len(rep.Elsewhere) > 0:
		return hinted(errDiffers, fmt.Sprintf("proposals were made on %s, and this processor is %s: it rounds otherwise, and what follows may differ; replay there, or in QEMU, to be sure",
			oneLine(strings.Join(rep.Elsewhere, " and ")), optimizer.Kernel()))
	case len(rep.Differences) > 0:
		return hinted(errDiffers, "another version of lbotune proposes otherwise: each session in the journal names its program, and this is "+programVersion())
	}
	return nil
}

// replaySessions asks again in the sessions whose kind of processor is wanted.
func replaySessions(ctx context.Context, g *global, dir string, wanted func(kernel string) bool) (session.Replayed, error) {
	m := g.meter("asking again")
	defer m.end()
	kernel := ""
	follow := func(_ *study.State, r study.Record) error {
		if s, is := r.Event.(study.Session); is {
			kernel = s.Kernel
		}
		return nil
	}
	return session.Replay(ctx, dir, func(space *spaces.Space, seed uint64, s optimizer.Settings, earlier ...optimizer.Earlier) (optimizer.Optimizer, error) {
		if !wanted(kernel) {
			return nil, nil
		}
		return optimizer.New(space, seed, s, earlier...)
	}, m.read, follow)
}

// without is the GODEBUG that makes a new process compute as a processor of that kind, if this one can:
// package math obeys it, as do the optimizer's own loops. What the compiler itself has fused stays so.
func without(kernel string) string {
	switch here := optimizer.Kernel(); {
	case kernel == "amd64" && (here == "amd64+fma" || here == "amd64+avx2+fma"):
		return "cpu.fma=off"
	case kernel == "amd64+fma" && here == "amd64+avx2+fma":
		return "cpu.avx2=off"
	}
	return ""
}

// addReplay adds to rep what a process finds that computes as another kind of processor.
func addReplay(ctx context.Context, g *global, rep *session.Replayed, dir, kernel string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find lbotune's own program: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, "journal", "replay", "--kernel", kernel, "--", dir)
	cmd.Env = append(os.Environ(), "GODEBUG="+os.Getenv("GODEBUG")+","+without(kernel))
	cmd.Stderr = g.err
	var more session.Replayed
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &more)
	}
	if err != nil {
		return fmt.Errorf("replay as on %s: %w", kernel, cmp.Or(ctx.Err(), err))
	}
	rep.Asked += more.Asked
	rep.Differences = append(rep.Differences, more.Differences...)
	rep.Elsewhere = append(rep.Elsewhere, more.Elsewhere...)
	return nil
}
