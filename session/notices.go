package session

import "github.com/lbotune/lbotune/optimizer"

// warnOfConstant says, once, that all values are equal: the metric may be another number.
func (l *loop) warnOfConstant() {
	if l.constant {
		return
	}
	if text := l.study.state.Constant(); text != "" {
		l.constant = true
		l.study.opts.Log.Warn(text)
	}
}

// warnOfContradictions says, once a session, that an earlier study's results are not those of today's
// objective.
func (l *loop) warnOfContradictions(n optimizer.Note) {
	for _, k := range n.Contradicted {
		if earlier := l.study.state.Earlier; k < len(earlier) && !l.doubted[k] {
			l.doubted[k] = true
			l.study.opts.Log.Warn("same = true does not hold: results of an earlier study are far from today's, and it counts as related", "from", earlier[k].From)
		}
	}
}
