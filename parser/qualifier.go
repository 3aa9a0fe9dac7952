package parser

import (
	"bytes"
	"strings"

	"github.com/lbotune/lbotune/internal/pattern"
)

// qualifier is a word before a metric's name that makes it another metric:
// "test loss" is not "train loss". Whoever writes metric = "loss" means the one
// without such a word, or the only one there is; the [Collector] chooses. Besides
// qualifierWords, what has an apostrophe is one ("valid_1's l2"), and the
// label of a table's row.
type qualifier string

const unqualified qualifier = ""

// qualifiers finds the qualifiers of the names on one line, from left to right.
type qualifiers struct {
	text    []byte
	seen    int       // the bytes of text that have been looked at
	segment int       // where the segment begins that has not ended
	marked  qualifier // by the last segment that was a qualifier and nothing else
}

// before finds the qualifier of the name that stands at a place: the word before it,
// as in "train loss", "Train: loss", "[val] loss", {"test": {"loss", or else a part
// of the line that holds nothing but such a word, as in "| train | epoch 3 | loss".
func (q *qualifiers) before(at int) qualifier {
	for ; q.seen < at; q.seen++ {
		size := separates(q.text[q.seen:])
		if size == 0 || q.seen < q.segment { // in " - - " the second begins in the first
			continue
		}
		word := qualifierNamed(bytes.TrimSpace(q.text[q.segment:q.seen]))
		if value := skipBlanks(q.text, q.seen+size); word != unqualified && (q.text[q.seen] != ':' || !startsNumber(q.text[value:]) || progressRE().Match(q.text[value:])) {
			q.marked = word
		}
		q.segment = q.seen + size
	}
	if direct := qualifierBefore(q.text[:at]); direct != unqualified {
		return direct
	}
	return q.marked
}

// progressRE finds how far an epoch has come, as "Train:  50%|" and "Train: 3 [" say it, and no metric called train.
var progressRE = pattern.Lazy(`^\d+(?:%[ \t]*[|\[]|/|[ \t]*\[)`)

// separates measures what may divide a line into parts, if text begins with it.
func separates(text []byte) int {
	switch {
	case strings.IndexByte("|[](){}:", text[0]) >= 0:
		return 1
	case bytes.HasPrefix(text, []byte(" - ")), bytes.HasPrefix(text, []byte("│")):
		return len("│") // which is 3, too
	}
	return 0
}

// qualifierBefore finds the qualifier that ends text.
func qualifierBefore(text []byte) qualifier {
	end := len(text)
	for steps := 0; end > 0 && steps < 8 && bytes.IndexByte([]byte(" \t:,])|{[\"'(-"), text[end-1]) >= 0; steps++ {
		end--
	}
	if owner := ownerBefore(text[:end]); owner != unqualified {
		return owner
	}
	start := end
	for start > 0 && end-start <= len("validation") && isLetter(text[start-1]) {
		start--
	}
	if start == end || start > 0 && (text[start-1] == '_' || isDigit(text[start-1])) {
		return unqualified
	}
	return qualifierNamed(text[start:end])
}

// ownerBefore finds a word with an apostrophe and s at the end of text.
func ownerBefore(text []byte) qualifier {
	const longest = 40
	owner, found := bytes.CutSuffix(text, []byte("'s"))
	before := bytes.TrimRightFunc(owner[max(len(owner)-longest, 0):], isNameRune)
	size := min(len(owner), longest) - len(before)
	if !found || size == 0 {
		return unqualified
	}
	return qualifier(text[len(owner)-size:])
}

// qualifierWords are the words for the parts of the data, and the best of all epochs.
var qualifierWords = map[string]qualifier{
	"train": "train", "training": "train", "trn": "train",
	"val": "validation", "valid": "validation", "validation": "validation", "dev": "validation",
	"eval": "evaluation", "evaluation": "evaluation",
	"test": "test", "testing": "test", "best": "best",
}

func qualifierNamed(word []byte) qualifier {
	if len(word) > len("validation") {
		return unqualified
	}
	return qualifierWords[strings.ToLower(string(word))]
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
