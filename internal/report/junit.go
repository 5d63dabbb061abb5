package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"fifoproof/internal/conformance"
)

// JUnit writes results as JUnit XML: a suite for the run, a test case for each case,
// with its level and area as the class. What the run's policy counts is a failure or
// an error, whose type is the verdict; what it does not count cannot turn a CI job
// red. A known-failing list that is out of date is a failure of its own.
func JUnit(w io.Writer, results *conformance.Results) error {
	suite := junit.Testsuite{
		Name: clean(program + " " + results.Target.Name),
		Time: fmt.Sprintf("%.3f", results.Summary.Seconds),
	}
	suite.SetTimestamp(results.Started)
	for _, property := range [][2]string{
		{"target", place(results.Target)},
		{"product", strings.TrimSpace(results.Target.Product + " " + results.Target.Version)},
		{"clock", results.Target.Clock},
		{"run", results.Run},
		{"profile", string(results.Profile)},
		{program, results.Version},
	} {
		suite.AddProperty(property[0], clean(property[1]))
	}
	for _, r := range results.Cases {
		suite.AddTestcase(testcase(results, r))
	}
	if len(results.Stale) > 0 {
		suite.AddTestcase(junit.Testcase{
			Name: "known-failing-list", Classname: "list.stale", Time: "0.000",
			Failure: &junit.Result{Message: "the known-failing list is out of date", Type: "stale", Data: clean(strings.Join(results.Stale, "\n"))},
		})
	}
	suites := junit.Testsuites{Name: program, Time: suite.Time}
	suites.AddSuite(suite)
	return suites.WriteXML(w)
}

func testcase(results *conformance.Results, r conformance.Result) junit.Testcase {
	c := junit.Testcase{
		Name:      clean(r.ID),
		Classname: clean(string(r.Level) + "." + areaOf(r.ID)),
		Time:      fmt.Sprintf("%.3f", r.QueueTime),
		SystemOut: &junit.Output{Data: clean(fmt.Sprintf("verdict: %s\nsource: %s\nexpected: %s\nseen: %s\nagain: %s\n",
			r.Verdict, r.Source, r.Expected, r.Seen, repeat(results, r)))},
	}
	result := &junit.Result{Message: clean(r.Reason), Type: clean(string(r.Verdict)), Data: clean(r.Seen)}
	switch results.Policy.Weigh(r) {
	case conformance.CountsFailed:
		c.Failure = result
	case conformance.CountsErrored, conformance.CountsOpen:
		c.Error = result
	case conformance.CountsNot:
		switch {
		case r.Known != nil && !settled(r):
			c.Skipped = &junit.Result{Message: clean("known: " + r.Known.Note + " (" + r.Known.Link + ")"), Type: "known"}
		case r.Verdict == conformance.Skipped, r.Verdict == conformance.Inconclusive:
			c.Skipped = result
		}
	}
	return c
}

// clean takes out what XML 1.0 cannot hold, and the end of a CDATA section, which a
// writer would have to cut in two: an endpoint's words may contain either.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.ReplaceAll(text, "]]>", "]] >")
}
