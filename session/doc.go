// Package session works on one study: it asks an optimizer for trials, runs them,
// reads their values, and keeps everything in a journal from which the study
// goes on exactly where it stopped. What is known of a study is package study's.
//
// # Who speaks to whom
//
//	person ──Stop──▶ ┐
//	timer  ──tick──▶ │
//	                 │            ┌─▶ journal ─▶ State ─▶ observers
//	asker ──asked──▶ ├─ inbox ─▶ loop
//	  ▲              │            ├──launch──▶ attempt (one goroutine each)
//	  └──tell, ask───┼────────────┘               │
//	                 └ ◀── reading, ended ────────┘
//
// One goroutine, the loop, owns the state, the journal and the budget. One, the
// asker, has the optimizer while it is asked: a fit may take seconds while attempts end and
// people press Ctrl-C. Each running attempt has a goroutine of its own. All of
// them speak to the loop over one inbox, and nothing is shared.
//
// In one turn the loop takes every message that is there, decides, appends what
// it decided to the journal with one fsync, and only then shows it and acts on
// it. So a record is on disk before anything follows from it, and several trials
// that end together cost one fsync.
package session
