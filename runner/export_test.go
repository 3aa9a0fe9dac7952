package runner

// WithoutCgroups has l make no control groups, as where the system allows none.
func (l *Local) WithoutCgroups() { l.grouped.Do(func() {}) }
