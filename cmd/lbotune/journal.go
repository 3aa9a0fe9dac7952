package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

func newJournal(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Check, repair, replay or follow a study's journal",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newVerify(g), newRepair(g), newReplay(g), newFollow(g))
	return cmd
}

// hintDamage tells what to do about a journal that is damaged or in use, or a spec
// that has changed too much.
func hintDamage(err error) error {
	var damage *journal.CorruptError
	if errors.As(err, &damage) {
		if damage.Sealed {
			return hinted(err, "the line is as it was written, so that there is nothing to repair: another version of lbotune, or another program, wrote it")
		}
		return hinted(err, "the file is as it was; `lbotune journal repair` writes a new one with what can be trusted")
	}
	if errors.Is(err, journal.ErrVersion) {
		return hinted(err, "the file is whole; the version of lbotune that wrote it reads it, and goes on with it")
	}
	if errors.Is(err, journal.ErrLocked) {
		return hinted(err, "while it works, status shows it, adjust changes its budget and workers, enqueue, exclude and note reach it, and stop ends it")
	}
	if isA[*study.ConfigError](err) {
		return hinted(err, "change it back, or keep a new study in another directory: --study DIR, or --name NAME without a spec")
	}
	return err
}

// hintStudy is hintDamage, and tells how the study of a spec is begun.
func hintStudy(arg string, err error) error {
	if errors.Is(err, study.ErrNoStudy) && strings.HasSuffix(arg, ".toml") {
		return hinted(err, "lbotune run "+arg+" begins it")
	}
	return hintDamage(err)
}

func newVerify(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "verify STUDY",
		Short: "Check every line of a journal and whether its records make sense",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := studyDir(args[0])
			if err != nil {
				return err
			}
			path := study.Layout(dir).Journal()
			sum, err := journal.Verify(path)
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				_, _, err = study.Load(dir)
			}
			if err != nil {
				return hintDamage(err)
			}
			return printVerified(g, path, sum)
		},
	}
}

// verifiedJSON is what journal verify prints with --json.
type verifiedJSON struct {
	Journal string `json:"journal"`
	Records uint64 `json:"records"`
	Bytes   int64  `json:"bytes"`
	CRC     string `json:"crc"`
	Torn    string `json:"torn"` // what a crash has left at the end, if anything
}

func printVerified(g *global, path string, sum journal.Summary) error {
	torn := ""
	if sum.Torn != nil {
		torn = sum.Torn.String()
	}
	if g.json {
		return printJSON(g.out, verifiedJSON{path, sum.Records, sum.Size, fmt.Sprintf("%08x", sum.CRC), torn})
	}
	if torn != "" {
		torn = "\nnote: " + torn + "; the next run cuts it off"
	}
	_, err := fmt.Fprintf(g.out, "%s: %s, %d bytes, all intact (crc %08x)%s\n", oneLine(path), count(int(sum.Records), "record"), sum.Size, sum.CRC, torn)
	return err
}

func newReplay(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "replay STUDY",
		Short: "Ask for every proposal again and compare it with the journal",
		Long: `Replay tells a new optimizer what the study's optimizer knew at each proposal, asks
again, and compares the answers. On the machine that ran the study they are all the same.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := studyDir(args[0])
			if err != nil {
				return err
			}
			rep, err := session.Replay(cmd.Context(), dir, nil)
			if err != nil {
				return hintDamage(err)
			}
			if err := printReplay(g, rep); err != nil {
				return err
			}
			switch {
			case len(rep.Elsewhere) > 0:
				return hinted(errDiffers, fmt.Sprintf("proposals were made on %s, and this processor is %s: it rounds otherwise, and what follows may differ; replay there to be sure",
					oneLine(strings.Join(rep.Elsewhere, " and ")), optimizer.Kernel()))
			case len(rep.Differences) > 0:
				return errDiffers
			}
			return nil
		},
	}
}

var errDiffers = errors.New("the replay differs from the journal")

func printReplay(g *global, rep session.Replayed) error {
	if g.json {
		return printJSON(g.out, rep)
	}
	var s strings.Builder
	for _, d := range rep.Differences {
		fmt.Fprintf(&s, "trial %d: the journal has %s, the replay %s\n", d.Trial, oneLine(d.Journal.String()), oneLine(d.Replay.String()))
	}
	fmt.Fprintf(&s, "%s asked again, %d different, %d given or continued\n", count(rep.Asked, "proposal"), len(rep.Differences), rep.Given)
	_, err := fmt.Fprint(g.out, s.String())
	return err
}
