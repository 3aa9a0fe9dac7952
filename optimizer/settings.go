package optimizer

// Settings select and configure a method. The zero Settings are the default
// method with its defaults; every field left empty or zero means its default.
// The names are those of the spec's [optimizer] table.
type Settings struct {
	// Method is lbo (default), random or lipschitz.
	Method string `json:"method,omitempty" toml:"method"`
	// Preset is default or paper: the configuration of Ahmed, Vaswani and
	// Schmidt throughout.
	Preset string `json:"preset,omitempty" toml:"preset"`
}
