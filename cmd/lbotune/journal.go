package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/study"
)

func newJournal(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Check, repair, replay or follow a study's journal",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "verify STUDY",
		Short: "Check every line of a journal and whether its records make sense",
		RunE:  inDir(func(_ context.Context, dir string, _ []string) error { return verify(g, dir) }),
	}, &cobra.Command{
		Use:   "repair STUDY NEWFILE",
		Short: "Write a new journal from the records that can be trusted",
		Long: `Repair writes NEWFILE with every record of a damaged journal that an unbroken
chain of checksums vouches for, and lists what it dropped. It leaves the damaged
journal as it is: to continue, move NEWFILE into its place. It refuses while an
lbotune works on the study, whose next records NEWFILE would not have.`,
		RunE: inDir(func(_ context.Context, dir string, args []string) error { return repair(g, dir, args[1]) }),
	}, newReplay(g), &cobra.Command{
		Use:   "follow STUDY",
		Short: "Print the records of a study as they are written",
		Long: `Follow prints every record of a study's journal as JSON, one per line, and then those
that another process writes, until the study has ended.`,
		RunE: inDir(func(ctx context.Context, dir string, args []string) error {
			err := study.Follow(ctx, dir, func(_ *study.State, r study.Record) error { return printLine(g.out, r) }, nil)
			return hintStudy(args[0], err)
		}),
	})
	return cmd
}

// inDir runs a command in the directory of the study that its first argument names.
func inDir(run func(ctx context.Context, dir string, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		dir, err := studyDir(args[0])
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
	switch {
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
	from := layout.Of(dir).Journal()
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
