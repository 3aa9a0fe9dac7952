package push

import "math"

// Vector is a point or a direction in the plane, in metres.
type Vector struct{ X, Y float64 }

func (a Vector) plus(b Vector) Vector            { return Vector{a.X + b.X, a.Y + b.Y} }
func (a Vector) minus(b Vector) Vector           { return Vector{a.X - b.X, a.Y - b.Y} }
func (a Vector) times(s float64) Vector          { return Vector{s * a.X, s * a.Y} }
func (a Vector) dot(b Vector) float64            { return a.X*b.X + a.Y*b.Y }
func (a Vector) cross(b Vector) float64          { return a.X*b.Y - a.Y*b.X }
func (a Vector) length() float64                 { return math.Hypot(a.X, a.Y) }
func (a Vector) clockwise() Vector               { return Vector{a.Y, -a.X} } // by 90°
func (a Vector) rotated(sin, cos float64) Vector { return Vector{cos*a.X - sin*a.Y, sin*a.X + cos*a.Y} }

// Distance between two points.
func (a Vector) Distance(b Vector) float64 { return a.minus(b).length() }
