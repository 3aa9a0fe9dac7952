// Package report shows a study to people: as one page, as single pictures, as text for
// other programs, and live while the study runs. Everything is drawn from a [Study], which
// is prepared from the study's records; what it believes of places where no trial was is
// asked of the optimizer. Nothing here runs a trial or writes to a study.
package report
