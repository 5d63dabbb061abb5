//go:build unix

package handler_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the program that some tests start: this test binary, told by its
// environment to be something else (exec_test.go).
func TestMain(m *testing.M) {
	if role := os.Getenv("HANDLER_TEST_ROLE"); role != "" {
		os.Exit(play(role))
	}
	goleak.VerifyTestMain(m)
}
