package study

// EqualBest are the trials that share the best value.
func EqualBest(s *State) []*Trial { return s.equalBest() }

// Meant is the direction that a metric's name speaks of.
func Meant(name string) Direction { return meant(name) }

// Violation is by how much metrics break the limits.
func (c *Config) Violation(m outcomes) float64 { return c.violation(m) }
