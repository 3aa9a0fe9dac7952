package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

type askJSON struct {
	Trial  int           `json:"trial"`
	Params spaces.Values `json:"params"`
	Seed   uint64        `json:"seed"`
}

func newAsk(g *global, above *cobra.Command) {
	cmd := newCommand(above, "ask STUDY", "Hand out the next trial, for you to run yourself",
		`Ask prints the number and the values of the next trial. Run it as you like and
report its value with lbotune tell. STUDY may be a spec whose study has not begun.
Its command is run by lbotune run alone: for other trials, and with confirm in [run]
for the best ones, also where you have told their values.`)
	number := cmd.Flags().IntP("number", "n", 1, "hand out `N` trials")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *number < 1 {
			return usagef("-n: found %d; want at least 1", *number)
		}
		return workByHand(g, args[0], "", func(s *session.Study) error { return ask(cmd.Context(), g, s, *number) })
	}
}

func ask(ctx context.Context, g *global, s *session.Study, number int) error {
	for asked := range number {
		t, err := s.Ask(ctx)
		none, then := optimizer.ErrExhausted, "widen a range to ask for more"
		if errors.Is(err, optimizer.ErrNothingSafe) {
			none, then = optimizer.ErrNothingSafe, "tell the results of the trials that you have"
		}
		switch {
		case errors.Is(err, optimizer.ErrExhausted) && asked > 0:
			_, err := fmt.Fprintf(g.err, "there are no more than these %d: %v\n", asked, none)
			return err
		case errors.Is(err, none):
			return hinted(none, then)
		case errors.Is(err, session.ErrSpent):
			return hinted(err, "change its budget to ask for more")
		case err != nil:
			return err
		}
		out := askJSON{t.Number, t.Values(), t.Seed(&s.State().Config)}
		if err := g.showLine(out, fmt.Sprintf("%d %s", t.Number, oneLine(t.Values().String()))); err != nil {
			return err
		}
	}
	return nil
}

// workByHand opens a study, or that of a spec in dir, for somebody who runs its trials.
func workByHand(g *global, arg, dir string, work func(*session.Study) error) error {
	cfg, err := specOf(arg)
	if err == nil && dir == "" {
		dir, err = g.studyDir(arg)
	}
	if err != nil {
		return err
	}
	s, err := session.Open(cfg, session.Options{Dir: dir, Program: programVersion()})
	if err != nil {
		return hintStudy(arg, err)
	}
	return errors.Join(work(s), s.Close())
}

func newTell(g *global, above *cobra.Command) {
	cmd := newCommand(above, "tell STUDY N VALUE [METRIC=VALUE ...] | tell STUDY N --failed REASON",
		"Report the value of a trial that ask handed out",
		`Tell ends a trial that ask handed out, with its value and those of other metrics.
Metrics that have a limit must be told.`)
	failed := cmd.Flags().String("failed", "", "the trial has no value, for this `REASON`")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		value, metrics, err := told(args[2:], *failed)
		if err != nil {
			return err
		}
		dir, err := g.studyDir(args[0])
		if err != nil {
			return err
		}
		err = session.Edit(nil, session.Options{Dir: dir, Program: programVersion()}, func(s *session.Study) error {
			n, err := trialNumber(s.State(), args[1])
			if err != nil {
				return err
			}
			t := s.State().Trials[n-1]
			again := t.Done() && t.Hand
			err = tell(s, n, value, metrics, *failed)
			switch {
			case err != nil && again:
				return hinted(usage(err), fmt.Sprintf("lbotune exclude %s %d takes its result out; to have another value "+
					"counted for it, raise the budget, and enqueue, ask and tell its values again", word(args[0]), n))
			case err != nil:
				return usage(err)
			case g.json:
				return printLine(g.out, trialsJSON(s.State(), s.Layout())(t))
			}
			_, err = fmt.Fprintf(g.err, "trial %d %s%s\n", n, t.Status, when(t.Failure != nil && *failed == "", ": %v", t.Failure))
			return err
		})
		return hintStudy(args[0], err)
	}
}

// told reads VALUE and METRIC=VALUE ..., or nothing of a trial that has failed.
func told(words []string, failed string) (value float64, metrics study.Metrics, err error) {
	metrics = study.Metrics{}
	switch {
	case failed != "" && len(words) > 0:
		return 0, nil, usagef("found a value and --failed; want one of them")
	case failed != "":
		return 0, metrics, nil
	case len(words) == 0:
		return 0, nil, usagef("there is no value; write it after the trial's number, or --failed REASON")
	}
	value, ok := parser.ParseNumber(words[0])
	if !ok {
		return 0, nil, usagef("found %q; want a number such as 0.25, -3 or 1e-5", words[0])
	}
	for _, word := range words[1:] {
		at := strings.LastIndexByte(word, '=')
		v, ok := parser.ParseNumber(word[at+1:])
		if at < 1 || !ok {
			return 0, nil, usagef("found %q; want the name of a metric and a number, such as size=12.5", word)
		}
		if _, twice := metrics[word[:at]]; twice {
			return 0, nil, usagef("found two values for %s", word[:at])
		}
		metrics[word[:at]] = v
	}
	return value, metrics, nil
}

// tell ends a trial with its value and others, or for the reason why it has none.
func tell(s *session.Study, trial int, value float64, others study.Metrics, failed string) error {
	objective := s.State().Config.Objective().Name
	if _, twice := others[objective]; twice {
		return fmt.Errorf("there is no other metric %q", objective)
	}
	if failed != "" {
		return s.Fail(trial, failed)
	}
	others[objective] = value
	return s.Tell(trial, others)
}
