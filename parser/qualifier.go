package parser

import "bytes"

// Qualifier is a word before a metric's name that makes it another metric:
// "test loss" is not "train loss". Whoever writes metric = "loss" means the one
// without such a word, or the only one there is; the [Collector] chooses.
type Qualifier uint8

// The qualifiers that are told apart.
const (
	Unqualified Qualifier = iota
	Train
	Validation
	Evaluation
	Test
	Best
	qualifiers // how many there are
)

// qualifierBefore finds the qualifier that ends text, which stands before a
// name: "train loss", "Train: loss", "[val] loss", {"test": {"loss".
func qualifierBefore(text []byte) Qualifier {
	end := len(text)
	for steps := 0; end > 0 && steps < 8 && bytes.IndexByte([]byte(" \t:,])|{[\"'(-"), text[end-1]) >= 0; steps++ {
		end--
	}
	start := end
	for start > 0 && end-start <= len("validation") && isLetter(text[start-1]) {
		start--
	}
	if start == end || start > 0 && (text[start-1] == '_' || isDigit(text[start-1])) {
		return Unqualified
	}
	return qualifierNamed(text[start:end])
}

func qualifierNamed(word []byte) Qualifier {
	var buffer [len("validation") + 1]byte
	lower := buffer[:0]
	for _, c := range word {
		lower = append(lower, c|0x20)
	}
	switch string(lower) {
	case "train", "training", "trn":
		return Train
	case "val", "valid", "validation", "dev":
		return Validation
	case "eval", "evaluation":
		return Evaluation
	case "test", "testing":
		return Test
	case "best":
		return Best
	}
	return Unqualified
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func (q Qualifier) String() string {
	return [...]string{"", "train", "validation", "evaluation", "test", "best", ""}[min(q, qualifiers)]
}
