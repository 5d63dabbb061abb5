package main

import (
	"errors"
	"fmt"
	"slices"

	"fifoproof/internal/cli"
	"fifoproof/internal/conformance"
	"fifoproof/internal/target"
)

// selection says what is to be tested: the flags that verify and plan share.
type selection struct {
	Target           string              `default:"embedded" placeholder:"embedded|localstack|aws|URL" help:"Endpoint to test: 'embedded' (no set-up, virtual clock), 'localstack' (at FIFOPROOF_LOCALSTACK_URL, else 127.0.0.1:4566), 'aws' (Amazon SQS, in the region and account of your AWS configuration) or a URL, in real time. Default: embedded." completion-predictor:"target"`
	EndpointOverride bool                `help:"With --target aws: test the endpoint that AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_SQS or the profile puts in AWS's place. Every report names it by its URL."`
	Queue            *string             `placeholder:"NAME|URL" help:"Test this queue, which exists and carries the tag fifoproof:permit=verify, and not queues of the run's own: with the cases that its answers can decide. It is never deleted, purged or changed."`
	Case             []string            `placeholder:"GLOB" sep:"none" help:"Only the cases whose id matches, such as 'window', 'window/resend' or '*/*/after-delete', and those they build on. Can be repeated." completion-predictor:"case"`
	Profile          conformance.Profile `default:"default" enum:"quick,default,experiments" placeholder:"quick|default|experiments" help:"quick: the cases without a wait. default: and those that wait up to 365 s. experiments: and all others, up to 21 min. Default: ${default}."`
	Quick            bool                `help:"The same as --profile quick."`
}

// cases are the selected cases and the premises that they build on, which are told
// apart. Errors are of the command line.
func (s *selection) cases() (cases []conformance.Case, premises []string, err error) {
	if s.Quick {
		s.Profile = conformance.QuickProfile
	}
	catalogue := conformance.Catalogue()
	if s.Queue != nil && *s.Queue == "" {
		// A script's variable that is not set must not become a run on other queues.
		return nil, nil, cli.Hint(errors.New("--queue is given and names no queue"), "is the variable set that it comes from?")
	}
	if s.Queue != nil && s.Target == target.Embedded {
		return nil, nil, cli.Hint(errors.New("the embedded endpoint has no queue that exists before the run"), "name the queue's endpoint with --target")
	}
	matching, err := conformance.Select(catalogue, s.Case)
	if err != nil {
		return nil, nil, cli.Hint(err, "'fifoproof cases' lists the ids")
	}
	var selected []conformance.Case
	for _, c := range matching {
		if s.Profile.In(c) && (s.Queue == nil || c.OnQueue) {
			selected = append(selected, c)
		}
	}
	if len(selected) == 0 && s.Queue != nil {
		err := fmt.Errorf("none of the %d matching cases can be told on a queue that exists", len(matching))
		return nil, nil, cli.Hint(err, "docs/aws.md lists those that can")
	}
	if len(selected) == 0 {
		err := fmt.Errorf("none of the %d matching cases is in the profile %s", len(matching), s.Profile)
		if len(matching) == 1 {
			err = fmt.Errorf("the case %s is not in the profile %s", matching[0].ID, s.Profile)
		}
		return nil, nil, cli.Hint(err, "add --profile %s", profileOf(matching))
	}
	if s.Queue != nil {
		return selected, nil, nil // premises are of absences, and those count for nothing there
	}
	cases, premises = conformance.Close(catalogue, selected)
	return cases, premises, nil
}

// profileOf is the smallest profile that has one of the cases.
func profileOf(cases []conformance.Case) conformance.Profile {
	for _, p := range []conformance.Profile{conformance.QuickProfile, conformance.Default} {
		if slices.ContainsFunc(cases, p.In) {
			return p
		}
	}
	return conformance.Experiments
}

// policy is what counts for the exit code: the flags that verify and judge share.
type policy struct {
	Strict       bool     `help:"Count a SHOULD that is not met as a failure."`
	AllowSkip    []string `placeholder:"ID" sep:"none" help:"A MUST case that may be skipped for want of a capability. Can be repeated." completion-predictor:"case"`
	Inconclusive string   `default:"fail" enum:"fail,warn" placeholder:"fail|warn" help:"With 'warn', open questions (inconclusive or skipped) leave the exit code alone. Default: ${default}."`
	KnownFailing string   `placeholder:"FILE" type:"existingfile" help:"List of verdicts that are no surprise on this target. They do not count; a list that does not fit any more does."`
}

func (p *policy) rules() (conformance.Policy, []conformance.Known, error) {
	for _, id := range p.AllowSkip {
		if err := known(id); err != nil {
			return conformance.Policy{}, nil, cli.Hint(err, "--allow-skip takes the id of a case; 'fifoproof cases' lists them")
		}
	}
	list, err := readKnown(p.KnownFailing)
	return conformance.Policy{Strict: p.Strict, Inconclusive: p.Inconclusive, AllowSkip: p.AllowSkip}, list, err
}

// known is an error where no case has the id.
func known(id string) error {
	if slices.ContainsFunc(conformance.Catalogue(), func(c conformance.Case) bool { return c.ID == id }) {
		return nil
	}
	return errors.New("no case is called " + id)
}
