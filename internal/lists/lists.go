// Package lists makes one list of another.
package lists

// Map is what of makes of each element of a list, in order; nil of an empty one.
func Map[T, U any](list []T, of func(T) U) (out []U) {
	for _, x := range list {
		out = append(out, of(x))
	}
	return out
}
