//go:build linux

package torture_test

import (
	"net/http"
	"os"
	"regexp"
	"syscall"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Prometheus' own parser takes what serve gives it: each family with its help and its type.
func TestPrometheusReadsTheMetrics(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", "echo loss={x}", 4, 1)
	l.run(0, "run", "spec.toml")
	const token = "a-token-that-stays-the-same"
	l.env = append(l.env, "LBOTUNE_TOKEN="+token)
	server := l.start("serve", "spec.toml", "--listen", "127.0.0.1:0")
	defer func() {
		l.check(server.Process.Signal(syscall.SIGINT))
		server.end()
	}()
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	said := func() string {
		out, err := os.ReadFile(server.out)
		l.check(err)
		return url.FindString(string(out) + server.said())
	}
	l.await("the address", func() bool { return said() != "" })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, said()+"/metrics", nil)
	l.check(err)
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	l.check(err)
	defer answer.Body.Close()
	if format := expfmt.ResponseFormat(answer.Header); format.FormatType() != expfmt.TypeTextPlain {
		t.Errorf("it comes as %s", answer.Header.Get("Content-Type"))
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	l.check(err)
	for name, kind := range map[string]string{
		"lbotune_trials": "GAUGE", "lbotune_running": "GAUGE", "lbotune_seconds": "GAUGE", "lbotune_best": "GAUGE",
	} {
		t.Run(name, func(t *testing.T) {
			f := families[name]
			if f == nil || f.GetHelp() == "" || f.GetType().String() != kind {
				t.Errorf("%s is %v; want a %s with help", name, f, kind)
			}
			delete(families, name)
		})
	}
	if len(families) > 0 {
		t.Errorf("not known: %v", families)
	}
}
