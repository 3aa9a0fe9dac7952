package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// A name that is exported is one more that every reader of the library meets, and that cannot
// change any more one day. What only lbotune itself needs goes below internal. Whoever needs
// another name here takes one away.
func TestPublicNamesAreFew(t *testing.T) {
	const most = 465
	names := 0
	for _, p := range packages(t) {
		dir := strings.TrimPrefix(p.ImportPath, module)
		if strings.Contains(dir+"/", "internal/") || strings.HasPrefix(dir+"/", "examples/") || strings.HasPrefix(dir+"/", "docs/") {
			continue
		}
		for _, f := range sources(t, dir) {
			if f.Name.Name != "main" {
				names += exported(f)
			}
		}
	}
	if names > most {
		t.Errorf("%d names are exported, and at most %d may be", names, most)
	}
}

// sources parses the files of a package, its tests aside.
func sources(t *testing.T, dir string) (out []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// exported counts the functions, methods, types and values that a file exports.
func exported(f *ast.File) (n int) {
	count := func(id *ast.Ident) {
		if id.IsExported() {
			n++
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
				count(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					count(s.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						count(id)
					}
				}
			}
		}
	}
	return n
}

// receiver is the name of a method's type.
func receiver(of ast.Expr) string {
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	id, _ := of.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}

// The three programs that a library is judged by are as short as their Examples.
func TestProgramsAreShort(t *testing.T) {
	for name, most := range map[string]int{
		"optimizer Example": 25, "session ExampleStudy_Try": 25, // ask and tell
		"session ExampleOpen":      20, // a study of a shell command
		"session ExampleLoadModel": 12, // a prediction from a finished study
	} {
		t.Run(name, func(t *testing.T) {
			dir, example, _ := strings.Cut(name, " ")
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, filepath.Join(dir, "example_test.go"), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			found := f.Scope.Lookup(example)
			if found == nil {
				t.Errorf("there is no %s", name)
				return
			}
			body := found.Decl.(*ast.FuncDecl)
			if lines := files.Position(body.End()).Line - files.Position(body.Pos()).Line + 1; lines > most {
				t.Errorf("%s has %d lines, and at most %d may be", name, lines, most)
			}
		})
	}
}
