package command

import "strings"

// File is a configuration file rendered into every trial's directory.
type File struct {
	// From is the template's path at the study's start, if it was a file; Text
	// is its content then, kept so that later edits change no running study.
	From string `json:"from,omitempty"`
	Text string `json:"text"`
	// To is the file's name in the trial's directory.
	To string `json:"to"`
}

// Render returns the text of the file in one attempt. A line with an absent value
// vanishes.
func (f File) Render(b *Bindings) string {
	var out strings.Builder
	for line := range strings.Lines(f.Text) {
		if t, absent := b.Expand(line); !absent {
			out.WriteString(t)
		}
	}
	return out.String()
}
