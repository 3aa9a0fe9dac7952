package optimizer

// Note is what the making of a proposal revealed. It is kept with the
// proposal in a study's journal.
type Note struct {
	// Why says in a few words which rule made the proposal.
	Why string `json:"why,omitempty"`
}
