package images_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "draw the pictures of the documentation anew")

func TestDrawsPictures(t *testing.T) {
	dir := t.TempDir()
	if *update {
		dir = "../../docs/images"
	}
	if err := drawAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"steps.svg", "bounds.svg", "regret.svg", "gains.svg"} {
		t.Run(name, func(t *testing.T) {
			file, err := os.Open(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			paths := 0
			for d := xml.NewDecoder(file); ; {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if e, ok := token.(xml.StartElement); ok && e.Name.Local == "path" {
					paths++
				}
			}
			if paths < 20 {
				t.Errorf("%s: %d strokes", name, paths)
			}
		})
	}
}
