// Typecheck reads the packages of the module that it is run in, their tests and all that they import, and says
// what is wrong with their types. Nothing is compiled: for another system or another Go (GOOS, GOTOOLCHAIN)
// that would be a standard library more.
package main

import (
	"log"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	found, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Tests: true}, "./...")
	if err != nil {
		log.Fatal(err)
	}
	if packages.PrintErrors(found) > 0 {
		os.Exit(1)
	}
	if len(found) == 0 {
		log.Fatal("./... matches no package")
	}
}
