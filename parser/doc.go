// Package parser takes the values of metrics out of what a program prints or writes: logs,
// progress bars, tables, JSON. The program need not know of it; one run of it is a trial.
//
// Compile a [Rule], which says how the metric is printed, into a [Pattern]; give what the
// program prints to the scanners of a [Collector]; and ask that for the result:
//
//	loss, err := parser.Compile(parser.Rule{Metric: "test_loss"})
//	size, err := parser.Compile(parser.Rule{Metric: "model_size"})
//	collector := parser.NewCollector(loss, size)
//	stdout := collector.Scanner(parser.Stdout, nil)
//	io.Copy(stdout, output)
//	stdout.Close()
//	result, err := collector.Result(0) // of the loss
//
// Instead of nil, Scanner takes a function that is called with each reading as soon as it is
// printed. For people who look for the rule, [Pattern.Explain] shows what a rule finds in a
// saved log, and [Candidates] what there is to be found.
//
// # Lines
//
// A line ends at LF or at CR, so that each state of a progress bar is a line
// of its own, and the last line needs no end. Lines are numbered by LF alone,
// as grep -n and editors do. ANSI sequences are removed before a rule sees the
// line. Of a line longer than 1 MiB the rest is skipped, and a number
// that touches the cut is not read. Bytes need not be UTF-8. A scanner's memory
// is bounded, whatever is printed, and the way in which the bytes are cut into
// chunks makes no difference.
//
// docs/metrics.md says what counts as a number and as a name, for all rules.
package parser
