package study

import (
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/study/command"
)

// What a Config is made of.
type (
	// Command is the command line of a trial, with placeholders: a text for the shell or
	// a list of words.
	Command = command.Command
	// File is a file that is rendered for each trial.
	File = command.File
	// Setting is a value at a dotted path of such a file.
	Setting = command.Setting
	// Rule says how a metric is found in what a trial prints or writes.
	Rule = parser.Rule
)
