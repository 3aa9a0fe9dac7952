package spec

import (
	"slices"
	"strings"

	"github.com/lbotune/lbotune/study"
)

// checkSecrets finds names in secret_env that no trial can be handed.
func (t *table) checkSecrets(r study.Run) {
	given := slices.Clone(r.Env)
	for _, slot := range r.Slots {
		given = append(given, slot.Env...)
	}
	for _, name := range r.SecretEnv {
		switch {
		case !identifierRE.MatchString(name):
			t.at("secret_env", "", "%q is not the name of an environment variable", name)
		case slices.ContainsFunc(given, func(e string) bool { return strings.HasPrefix(e, name+"=") }):
			t.at("secret_env", "take it out of env", "the value of %s comes from lbotune's own environment, and env sets it too", name)
		}
	}
}
