// Package pruner decides which trials are worth going on with, from what they
// have measured so far. It reads no clock and no file: the same calls in the
// same order give the same answers.
//
// A Pruner watches the readings of running trials and says when one should be
// stopped. A Ladder and Promotable are for trials that are run with little of a
// resource, such as epochs, and then say which of them deserve more.
//
// Values are maximized, as everywhere below the study: the readings of a metric
// that is minimized are negated before they come here, and so is a threshold.
//
// # Time
//
// A reading has a step, such as an epoch. Readings without one are counted by a
// Counter: 1, 2, 3 and so on. A trial's steps should grow. To compare trials, a
// reading whose step repeats or goes back is passed over, and one whose step
// jumps stands for the steps that it left out.
//
// # Crashes
//
// A Pruner is a fold over what a journal keeps. Of the readings only those
// must be stored for which Decision.Keep is true, in the order in which they
// were read: a new Pruner that is given them by Restore, and the endings by
// Finish and Forget, goes on exactly as the old one would have. A trial that
// still runs may then be read again from its beginning. A decision to stop is
// the caller's to store, together with its reading, before acting on it.
//
// # Sources
//
// Golovin, Solnik, Moitra, Kochanski, Karro, Sculley: Google Vizier: A Service
// for Black-Box Optimization, KDD 2017 (the median rule).
// Li, Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt, Recht, Talwalkar: A
// System for Massively Parallel Hyperparameter Tuning, MLSys 2020 (ASHA).
// Klein, Tiao, Lienart, Archambeau, Seeger: Model-based Asynchronous
// Hyperparameter and Neural Architecture Search, arXiv:2003.10865, 2020 (ASHA
// that stops trials instead of promoting them).
package pruner
