package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"fifoproof/internal/conformance"
)

// JUnit writes results as JUnit XML: a suite for the run, a test case for each case,
// with its level and area as the class. A known failure is skipped, since it must not
// turn a CI job red; an open question is an error.
func JUnit(w io.Writer, results *conformance.Results) error {
	suite := junit.Testsuite{
		Name: "fifoproof " + results.Target.Name,
		Time: fmt.Sprintf("%.3f", results.Summary.Seconds),
	}
	suite.SetTimestamp(results.Started)
	for _, property := range [][2]string{
		{"target", results.Target.Name},
		{"product", strings.TrimSpace(results.Target.Product + " " + results.Target.Version)},
		{"clock", results.Target.Clock},
		{"run", results.Run},
		{"fifoproof", results.Version},
	} {
		suite.AddProperty(property[0], property[1])
	}
	for _, r := range results.Cases {
		suite.AddTestcase(testcase(r))
	}
	suites := junit.Testsuites{Name: "fifoproof", Time: suite.Time}
	suites.AddSuite(suite)
	return suites.WriteXML(w)
}

func testcase(r conformance.Result) junit.Testcase {
	area, _, _ := strings.Cut(r.ID, "/")
	c := junit.Testcase{
		Name:      r.ID,
		Classname: string(r.Level) + "." + area,
		Time:      fmt.Sprintf("%.3f", r.QueueTime),
		SystemOut: &junit.Output{Data: fmt.Sprintf("source: %s\nexpected: %s\nseen: %s\n", r.Source, r.Expected, r.Seen)},
	}
	result := &junit.Result{Message: r.Reason, Type: string(r.Verdict), Data: r.Seen}
	switch {
	case r.Known != nil:
		c.Skipped = &junit.Result{Message: "known: " + r.Known.Note + " (" + r.Known.Link + ")"}
	case r.Verdict == conformance.Fail:
		c.Failure = result
	case r.Verdict == conformance.Errored, r.Verdict == conformance.Inconclusive:
		c.Error = result
	case r.Verdict == conformance.Skipped:
		c.Skipped = result
	case r.Verdict == conformance.NonStrict, r.Verdict == conformance.Noted, r.Verdict == conformance.Pass:
	}
	return c
}
