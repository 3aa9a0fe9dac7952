package command_test

import (
	"fmt"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/spaces"
)

func ExampleCommand_Render() {
	b := &command.Bindings{
		Params: []spaces.Param{
			{Name: "name", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("it's $HOME"), spaces.String("x")}},
			{Name: "lto", Kind: spaces.KindBool},
		},
		Values: spaces.Values{{Name: "name", Value: spaces.String("it's $HOME")}, {Name: "lto", Value: spaces.Bool(true)}},
	}
	c, err := command.Command{Shell: "make {flag:lto=-flto|-fno-lto} NAME={name}"}.Render(b)
	fmt.Println(c, err)
	// Output: make -flto NAME='it'\''s $HOME' <nil>
}

func ExampleParseShell() {
	parts, err := command.ParseShell(`train "{lr}" $(cat {data}) # {note}`)
	for _, p := range parts {
		if p.IsPlaceholder() && p.Context != command.InWord {
			fmt.Println(p.Text, "stands", p.Context)
		}
	}
	fmt.Println(err)
	// Output:
	// {lr} stands inside double quotes
	// {note} stands inside a comment
	// <nil>
}

func ExampleFile_Render() {
	f := command.File{
		From: "config.yaml",
		Text: "model:\n  lr: 0.1 # the rate\n  name: net\n",
		Set:  []command.Setting{{Path: "model.lr", Value: spaces.String("{lr}")}},
	}
	text, err := f.Render(&command.Bindings{
		Params: []spaces.Param{{Name: "lr", Kind: spaces.KindFloat, Min: 1e-5, Max: 1}},
		Values: spaces.Values{{Name: "lr", Value: spaces.Float(1e-5)}},
	})
	fmt.Print(text, err)
	// Output:
	// model:
	//   lr: 1.0e-05 # the rate
	//   name: net
	// <nil>
}
