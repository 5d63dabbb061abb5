package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"fifoproof/internal/cli"
	"fifoproof/internal/consumer"
	"fifoproof/internal/target"
	"fifoproof/internal/window"
)

// surroundings are what the consumer found out about its queue.
type surroundings struct {
	client      *sqs.Client
	settings    target.Settings
	deadLetters *target.Settings // nil: the queue has none, or they cannot be read
}

// connect opens the client, finds the queue and completes cfg by what the queue says
// of itself.
func connect(ctx context.Context, f consumeFlags, cfg *consumer.Config, talk *talk) (surroundings, error) {
	var s surroundings
	client, notes, err := target.Client(ctx, target.Options{Endpoint: f.Endpoint, Queue: f.Queue})
	for _, note := range notes {
		talk.sayf("%s", note)
	}
	if err != nil {
		return s, err
	}
	s.client = client
	if cfg.Queue, err = target.QueueURL(ctx, client, f.Queue, false); err != nil {
		return s, err
	}
	if s.settings, err = target.ReadSettings(ctx, client, cfg.Queue); err != nil {
		return s, err
	}
	if cfg.Grouped, err = grouped(f.KeyGroup, s.settings); err != nil {
		return s, err
	}
	if err := s.redrive(ctx, cfg, talk); err != nil {
		return s, err
	}
	return s, s.retention(f, talk)
}

// grouped decides whether the message group is part of the key.
func grouped(when string, settings target.Settings) (bool, error) {
	switch {
	case when == groupAlways:
		return true, nil
	case when == groupNever:
		return false, nil
	case !settings.ScopeTold:
		return false, cli.Hint(fmt.Errorf("the queue %s does not tell its DeduplicationScope, so it is not known whether equal events of two groups are one", settings.Name),
			"say it with --key-group always or --key-group never")
	default:
		return settings.Scope == window.ScopeGroup, nil
	}
}

// redrive says what becomes of messages that fail.
func (s *surroundings) redrive(ctx context.Context, cfg *consumer.Config, talk *talk) error {
	policy := s.settings.Redrive
	if policy.MaxReceives == 0 {
		talk.sayf(warningPrefix+"the queue %s has no redrive policy: what is rejected or keeps failing comes again, and holds up its group, until its retention of %s ends",
			s.settings.Name, span(s.settings.Retention))
		return nil
	}
	cfg.MaxReceives = policy.MaxReceives
	talk.sayf("what fails is tried again after 0 to %v, growing to %v, and moved to %s after %s",
		cfg.Backoff.Base, cfg.Backoff.Cap, policy.Name(), plural(int64(policy.MaxReceives), "delivery", "deliveries"))
	if policy.MaxReceives == 1 {
		talk.sayf(warningPrefix + "with a maxReceiveCount of 1 a message whose consumer dies is moved without a second attempt")
	}
	settings, err := target.DeadLetters(ctx, s.client, s.settings)
	var answered smithy.APIError
	switch {
	case err == nil:
		s.deadLetters = &settings
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &answered): // it may be nobody's business but the operator's
		talk.sayf(warningPrefix+"the dead-letter queue %s cannot be read, so its depth is not known: %v", policy.Name(), err)
		return nil
	default:
		return err
	}
}

// retention checks how long keys are kept.
func (s *surroundings) retention(f consumeFlags, talk *talk) error {
	if s.settings.Redrive.MaxReceives > 0 && s.deadLetters == nil && f.Retention > 0 && !f.ShortRetention {
		return cli.Hint(fmt.Errorf("how long the dead-letter queue %s keeps messages is not known, so --retention %s cannot be checked",
			s.settings.Redrive.Name(), span(f.Retention)), "permit sqs:GetQueueAttributes on it, or add --short-retention")
	}
	note, err := checkRetention(f, shortest(s.settings, s.deadLetters))
	if note != "" {
		talk.sayf("%s", note)
	}
	return err
}
