//go:build !(linux && amd64)

package runner

import "errors"

// nativeProgram: here the supervisor is a shell.
func nativeProgram() (string, error) { return "", errors.ErrUnsupported }
