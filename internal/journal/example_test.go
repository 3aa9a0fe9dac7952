package journal_test

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/lbotune/lbotune/internal/journal"
)

// A record is on disk when Append returns, and each is read back as it was written.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "log.jsonl")
	type note struct {
		Text string `json:"text"`
	}
	j, err := journal.Create(path, note{"the first"})
	if err != nil {
		log.Fatal(err)
	}
	if err := j.Append(note{"the second"}); err != nil {
		log.Fatal(err)
	}
	if err := j.Close(); err != nil {
		log.Fatal(err)
	}
	_, err = journal.Read(path, func(r journal.Record) error {
		var n note
		err := json.Unmarshal(r.Raw, &n)
		fmt.Println(r.Seq, n.Text)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 the first
	// 2 the second
}
