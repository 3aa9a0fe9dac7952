// Package study is what is known of a study: its config, the events of its journal,
// and the [State] that they fold into. Nothing here runs: no process, no optimizer.
// Who only looks at a study, while another process works on it or long after,
// needs no more than this package. Package session does the work.
//
// The journal is the truth. [Load] reads a study without taking it up, and whatever
// is shown of it is what its records say: a State changes by [State.Apply] alone.
package study
