package optimizer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/optimizer/internal/acquisition"
)

// Settings select and configure a method. The zero Settings are the default
// method with its defaults; every field left empty or zero means its default.
// The names are those of the spec's [optimizer] table. All fields after Preset
// speak to method lbo alone.
type Settings struct {
	// Method is lbo, random, sobol, grid or lipschitz. Default lbo.
	Method string `json:"method,omitempty" toml:"method"`
	// Preset is default or paper: the configuration of Ahmed, Vaswani and
	// Schmidt throughout. Fields that are set override the preset's. Default
	// default.
	Preset string `json:"preset,omitempty" toml:"preset"`

	// Acquisition is ei (expected improvement), pi (probability of
	// improvement), ucb (upper confidence bound) or ts (Thompson sampling).
	// Default ei.
	Acquisition string `json:"acquisition,omitempty" toml:"acquisition"`
	// Lipschitz says how the Lipschitz bounds enter the acquisition: truncate
	// (TEI, TPI, TUCB; samples are cut at the upper bound), clip (clipped EI;
	// like truncate for the others), reject (AR-UCB, AR-TS; like truncate for
	// ei and pi) or off. Default truncate, for ts reject.
	Lipschitz string `json:"lipschitz,omitempty" toml:"lipschitz"`
	// LipschitzConstant is a known Lipschitz constant of the objective, in its
	// own units per unit of distance in the cube. Default 0: estimated.
	LipschitzConstant float64 `json:"lipschitz_constant,omitempty" toml:"lipschitz_constant"`
	// Estimator of the constant is corrected (largest slope beyond what noise
	// explains), slope (the paper's largest slope) or gradient (the larger of
	// corrected and the model's steepest gradient). Default corrected.
	Estimator string `json:"estimator,omitempty" toml:"estimator"`
	// Metric in which an estimated constant measures distances is ard (divided by
	// the model's length scales) or cube. Default ard; with preset paper cube.
	Metric string `json:"metric,omitempty" toml:"metric"`
	// Schedule by which the estimate is multiplied at t observations: constant
	// (kappa), root (kappa max(1, (t/10d)^(1/d))) or paper (kappa t). Default
	// constant.
	Schedule string `json:"schedule,omitempty" toml:"schedule"`
	// Kappa is the factor of the schedule. Default 2; with preset paper 10.
	Kappa float64 `json:"kappa,omitempty" toml:"kappa"`

	// Beta of the upper confidence bound: dragonfly (0.5 d ln(2dt+1)),
	// kandasamy (5 d ln(2dt+1)), group (0.2 d ln(2dt+1)) or a fixed number.
	// Default dragonfly; with preset paper kandasamy.
	Beta WordOrNumber `json:"beta,omitzero" toml:"beta"`
	// Thompson is how posterior functions are drawn: pathwise (Matheron's rule)
	// or rff (random Fourier features alone). Default pathwise.
	Thompson string `json:"thompson,omitempty" toml:"thompson"`

	// ExploreEvery makes every N-th proposal ignore the model, from the twelfth on, or from number 2N if
	// that is earlier. A negative number means never, which gives up the guarantee that no region is
	// forgotten. Default 16; with preset paper 4.
	ExploreEvery int `json:"explore_every,omitempty" toml:"explore_every"`
	// Explore is where such a proposal goes: bound (the largest Lipschitz upper bound), random
	// (uniform where the bound allows an improvement) or both (random first, then in turn).
	// Default both; with preset paper random.
	Explore string `json:"explore,omitempty" toml:"explore"`
	// Local switches the trust regions around the best point on or off. Default
	// on; with preset paper off.
	Local string `json:"local,omitempty" toml:"local"`
	// Design of the first proposals is lhs (the centre and a maximin latin hypercube), walk
	// (from today's values or the centre, steps along each parameter), sobol or random.
	// Default lhs.
	Design string `json:"design,omitempty" toml:"design"`
	// DesignSize is the number of first proposals, but for a walk. Default d+1 for d
	// parameters, at least 4 and at most 24; with preset paper 3d.
	DesignSize int `json:"design_size,omitempty" toml:"design_size"`

	// Hyperparameters of the Gaussian process are found by map (maximum a
	// posteriori) or slice (averaged over samples of a slice sampler). Default
	// map; with preset paper slice.
	Hyperparameters string `json:"hyperparameters,omitempty" toml:"hyperparameters"`
	// Maximizer of the acquisition is lbfgs (multi-start) or direct. Default
	// lbfgs; with preset paper direct.
	Maximizer string `json:"maximizer,omitempty" toml:"maximizer"`
	// Warp of the values is auto (chosen by leave-one-out density), identity,
	// log, asinh or yeo-johnson. Default auto; with preset paper identity.
	Warp string `json:"warp,omitempty" toml:"warp"`
	// Noise is auto (learned) or the standard deviation of a measured value in
	// the objective's units; 0 declares a deterministic objective. Default
	// auto.
	Noise WordOrNumber `json:"noise,omitzero" toml:"noise"`

	// SafetyConstant, if positive, is a Lipschitz constant of Observation.Margin, per unit
	// of distance in the cube. Only points are then proposed at which the trials told so
	// far show under it that the margin is not negative; ErrNothingSafe if there are none.
	SafetyConstant float64 `json:"safety_constant,omitempty" toml:"-"`
}

// The words that a setting may hold, the default first.
const (
	methodLBO       = "lbo"
	methodRandom    = "random"
	methodLipschitz = "lipschitz"
	methodSobol     = "sobol"
	methodGrid      = "grid"

	presetPaper = "paper"

	auto = "auto"
	on   = "on"
	off  = "off"

	walking = "walk"
)

// choice is a setting that holds one of some words.
type choice struct {
	field   string
	of      func(*Settings) *string
	allowed []string // the default first
	paper   string   // the value under preset paper, if another
}

func choices() []choice {
	return []choice{
		{"method", func(s *Settings) *string { return &s.Method }, []string{methodLBO, methodRandom, methodSobol, methodGrid, methodLipschitz}, ""},
		{"preset", func(s *Settings) *string { return &s.Preset }, []string{"default", presetPaper}, ""},
		{"acquisition", func(s *Settings) *string { return &s.Acquisition }, []string{"ei", "pi", "ucb", "ts"}, ""},
		{"lipschitz", func(s *Settings) *string { return &s.Lipschitz }, []string{"truncate", "clip", "reject", off}, ""},
		{"estimator", func(s *Settings) *string { return &s.Estimator }, []string{"corrected", "slope", "gradient"}, "slope"},
		{"metric", func(s *Settings) *string { return &s.Metric }, []string{"ard", "cube"}, "cube"},
		{"schedule", func(s *Settings) *string { return &s.Schedule }, []string{"constant", "root", "paper"}, "paper"},
		{"thompson", func(s *Settings) *string { return &s.Thompson }, []string{"pathwise", "rff"}, "rff"},
		{"explore", func(s *Settings) *string { return &s.Explore }, []string{"both", "bound", "random"}, "random"},
		{"local", func(s *Settings) *string { return &s.Local }, []string{on, off}, off},
		{"design", func(s *Settings) *string { return &s.Design }, []string{"lhs", walking, "sobol", "random"}, ""},
		{"hyperparameters", func(s *Settings) *string { return &s.Hyperparameters }, []string{"map", "slice"}, "slice"},
		{"maximizer", func(s *Settings) *string { return &s.Maximizer }, []string{"lbfgs", "direct"}, "direct"},
		{"warp", func(s *Settings) *string { return &s.Warp }, []string{auto, "identity", "log", "asinh", "yeo-johnson"}, "identity"},
	}
}

// Problem is one thing wrong with Settings. Field is the key in the spec.
type Problem struct {
	Field, Message string
	// Found is the wrong word and Allowed what it may be, if they can be listed.
	Found   string
	Allowed []string
}

func (p Problem) Error() string { return fmt.Sprintf("optimizer: %s: %s", p.Field, p.Message) }

// Validate returns everything that is wrong with s.
func (s Settings) Validate() []Problem {
	var out []Problem
	bad := func(field, format string, args ...any) {
		out = append(out, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	for _, c := range choices() {
		if v := *c.of(&s); v != "" && !slices.Contains(c.allowed, v) {
			bad(c.field, "found %q; allowed are %s", v, list(c.allowed))
			out[len(out)-1].Found, out[len(out)-1].Allowed = v, c.allowed
		}
	}
	if l := s.LipschitzConstant; !(l >= 0) || math.IsInf(l, 0) {
		bad("lipschitz_constant", "found %v; want a positive number, or 0 to have it estimated", l)
	}
	if l := s.SafetyConstant; !(l >= 0) || math.IsInf(l, 0) || l > 0 && s.Method != "" && s.Method != methodLBO {
		bad("method", "found %s, with a safety constant of %v; only %s, with a positive constant, keeps a limit", s.Method, l, methodLBO)
	}
	if k := s.Kappa; k != 0 && !(k > 0) || math.IsInf(k, 0) {
		bad("kappa", "found %v; want a positive number", k)
	}
	if s.DesignSize < 0 {
		bad("design_size", "found %d; want at least 1, or 0 for the default", s.DesignSize)
	}
	if msg := s.Beta.problem(acquisition.BetaRules()); msg != "" {
		bad("beta", "%s", msg)
	}
	if msg := s.Noise.problem([]string{auto}); msg != "" {
		bad("noise", "%s", msg)
	}
	return out
}

// Resolved fills every empty field with its default for d parameters.
func (s Settings) Resolved(d int) Settings {
	paper := s.Preset == presetPaper
	if s.Lipschitz == "" && (s.Acquisition == "ts" || paper && s.Acquisition == "ucb") {
		s.Lipschitz = "reject"
	}
	for _, c := range choices() {
		v := c.of(&s)
		if *v == "" && paper {
			*v = c.paper
		}
		*v = cmp.Or(*v, c.allowed[0])
	}
	kappa, every, size, beta := 2.0, defaultExploreEvery, max(leastDesign, min(d+1, mostDesign)), WordOrNumber("dragonfly")
	if paper {
		kappa, every, size, beta = 10, 4, 3*d, "kandasamy"
	}
	s.Kappa = cmp.Or(s.Kappa, kappa)
	s.ExploreEvery = cmp.Or(s.ExploreEvery, every)
	s.DesignSize = cmp.Or(s.DesignSize, size)
	s.Beta = cmp.Or(s.Beta, beta)
	s.Noise = cmp.Or(s.Noise, auto)
	return s
}

const defaultExploreEvery = 16

// list writes words as "a, b and c".
func list(words []string) string {
	n := len(words)
	if n == 1 {
		return words[0]
	}
	return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
}

// WordOrNumber is a setting that is either a word, such as "auto", or a number, such as "0.1".
// An empty one means the default.
type WordOrNumber string

// number is the number, and false if s holds a word or nothing.
func (s WordOrNumber) number() (float64, bool) {
	x, err := strconv.ParseFloat(string(s), 64)
	return x, err == nil
}

// problem says what is wrong with s, given the allowed words; numbers must be
// finite and not negative.
func (s WordOrNumber) problem(words []string) string {
	x, number := s.number()
	switch {
	case number && (!(x >= 0) || math.IsInf(x, 0)):
		return fmt.Sprintf("found %v; want a number that is not negative, or %s", x, list(words))
	case !number && s != "" && !slices.Contains(words, string(s)):
		return fmt.Sprintf("found %q; allowed are %s and a number", string(s), list(words))
	}
	return ""
}

// MarshalJSON writes a JSON number or string.
func (s WordOrNumber) MarshalJSON() ([]byte, error) {
	if x, number := s.number(); number {
		return json.Marshal(x)
	}
	return json.Marshal(string(s))
}

// UnmarshalJSON reads a JSON number or string.
func (s *WordOrNumber) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	return s.UnmarshalTOML(v)
}

// UnmarshalTOML takes a decoded TOML number or string.
func (s *WordOrNumber) UnmarshalTOML(v any) error {
	switch v := v.(type) {
	case string:
		*s = WordOrNumber(v)
		if _, number := s.number(); !number {
			return nil
		}
	case int64:
		return s.UnmarshalTOML(float64(v))
	case float64:
		*s = WordOrNumber(strconv.FormatFloat(v, 'g', -1, 64))
		return nil
	}
	return fmt.Errorf("found %#v; want a number or a word", v)
}
