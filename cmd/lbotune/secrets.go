package main

import (
	"os"

	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// checkSecrets refuses to begin without the secrets that the trials need.
func checkSecrets(cfg *study.Config) error {
	for _, name := range cfg.Run.SecretEnv {
		switch value, set := os.LookupEnv(name); {
		case !set:
			return usagef("run.secret_env: %s is not set in the environment of lbotune", name)
		case len(value) < session.ShortestSecret:
			return usagef("run.secret_env: the value of %s is too short to be kept out of other text; want at least %d bytes", name, session.ShortestSecret)
		}
	}
	return nil
}
