// Typecheck reads the packages of the module that it is run in, their tests and all that they import, and says
// what is wrong with the types of the module's own. Nothing is compiled: for another system or another Go (GOOS,
// GOTOOLCHAIN) that would be a standard library more.
package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	module, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	// Of what lies elsewhere the declarations are enough.
	read := func(files *token.FileSet, name string, text []byte) (*ast.File, error) {
		file, err := parser.ParseFile(files, name, text, parser.AllErrors|parser.SkipObjectResolution)
		if file == nil || strings.HasPrefix(name, module+"/") {
			return file, err
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				f.Body = nil
			}
		}
		return file, err
	}
	found, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Tests: true, ParseFile: read}, "./...")
	if err != nil {
		log.Fatal(err)
	}
	if len(found) == 0 {
		log.Fatal("./... matches no package")
	}
	code := 0
	for _, p := range found {
		if strings.HasSuffix(p.ID, ".test") { // a main program that go makes elsewhere
			continue
		}
		for _, e := range p.Errors {
			code = 1
			log.Print(e)
		}
	}
	os.Exit(code)
}
