package spaces

import "github.com/lbotune/lbotune/internal/lists"

// NewFloat is a parameter that takes any number of a range, ends included.
func NewFloat(name string, least, most float64) Param {
	return Param{Name: name, Kind: KindFloat, Min: least, Max: most}
}

// NewInt is a parameter that takes any whole number of a range, ends included.
func NewInt(name string, least, most int) Param {
	return Param{Name: name, Kind: KindInt, Min: float64(least), Max: float64(most)}
}

// NewChoice is a parameter that takes one of some texts, which have no order.
func NewChoice(name string, choices ...string) Param {
	return Param{Name: name, Kind: KindChoice, Choices: lists.Map(choices, String)}
}

// NewBool is a parameter that is true or false.
func NewBool(name string) Param { return Param{Name: name, Kind: KindBool} }

// Log is the parameter on a log scale, for a range of several powers of ten.
func (p Param) Log() Param {
	p.Scale = Log
	return p
}

// Today is the parameter with the value that is used today, a float64, int, bool or string:
// the first trial has it.
func (p Param) Today(value any) Param {
	switch n, whole := value.(int); {
	case whole && p.Kind == KindFloat:
		p.Default = Float(float64(n))
	case whole:
		p.Default = Int(int64(n))
	default:
		p.Default = Value{value} // if it is of another type, Check refuses it
	}
	return p
}
