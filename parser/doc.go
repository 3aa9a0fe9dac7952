// Package parser finds metric readings in what a trial prints or writes.
//
// A [Rule] says how the metric is printed. [Compile] checks it and makes a
// [Pattern]; a [Collector] of one or more patterns takes the bytes of the streams
// through a [Scanner] each and folds the readings of each metric into one value,
// or into a [NoValueError] that says why there is none:
//
//	loss, err := parser.Compile(parser.Rule{Metric: "test_loss"})
//	size, err := parser.Compile(parser.Rule{Metric: "model_size"})
//	collector := parser.NewCollector(loss, size)
//	stdout := collector.Scanner(parser.Stdout, nil)
//	io.Copy(stdout, file)
//	stdout.Close()
//	result, err := collector.Result(0) // of the loss
//
// # Lines
//
// A line ends at LF or at CR, so that each state of a progress bar is a line
// of its own, and the last line needs no end. Lines are numbered by LF alone,
// as grep -n and editors do. ANSI sequences are removed before a rule sees the
// line. Of a line longer than [MaxLine] bytes the rest is skipped, and a number
// that touches the cut is not read. Bytes need not be UTF-8. A scanner's memory
// is bounded, whatever is printed, and the way in which the bytes are cut into
// chunks makes no difference.
//
// # Numbers
//
// A number is read whole or not at all. 1e-3, .5, 5. and +3 are numbers; inf,
// nan, -Infinity and their like are recognized as readings that are not finite;
// "0,5", "1_000", "0x1p-2" and "0.5abc" are not numbers. 93.1% is 93.1: the
// number as printed. The "0.93+0.01" of cross-validations, the "±" and the
// "+/-" give the mean, which stands first. A full stop that ends a sentence
// does not belong to the number.
package parser
