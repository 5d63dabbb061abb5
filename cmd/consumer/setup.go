package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

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
	switch when {
	case groupAlways:
		return true, nil
	case groupNever:
		return false, nil
	}
	if settings.Scope == nil {
		return false, cli.Hint(fmt.Errorf("the queue %s does not tell its DeduplicationScope, so it is not known whether equal events of two groups are one", settings.Name),
			"say it with --key-group always or --key-group never")
	}
	return *settings.Scope == window.ScopeGroup, nil
}

// redrive says what becomes of messages that fail.
func (s *surroundings) redrive(ctx context.Context, cfg *consumer.Config, talk *talk) error {
	policy := s.settings.Redrive
	if policy == nil {
		talk.sayf("warning: the queue %s has no redrive policy: what is rejected or keeps failing comes again until its retention of %v ends, and its group waits",
			s.settings.Name, s.settings.Retention)
		return nil
	}
	if err := policy.Check(); err != nil {
		return fmt.Errorf("the redrive policy of the queue %s: %w", s.settings.Name, err)
	}
	cfg.MaxReceives = policy.MaxReceives
	talk.sayf("after %s a message that failed is moved to %s; back-off from 0 to %v, growing to %v",
		plural(int64(policy.MaxReceives), "delivery", "deliveries"), policy.TargetName(), cfg.Backoff.Base, cfg.Backoff.Cap)
	if policy.MaxReceives == 1 {
		talk.sayf("warning: with a maxReceiveCount of 1 a message whose consumer dies is moved without a second attempt")
	}
	settings, err := target.ReadSettings(ctx, s.client, policy.TargetURL(cfg.Queue))
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		talk.sayf("warning: the dead-letter queue %s cannot be read: %v", policy.TargetName(), err)
		return nil
	}
	s.deadLetters = &settings
	return nil
}

// retention checks how long keys are kept.
func (s *surroundings) retention(f consumeFlags, talk *talk) error {
	if s.settings.Redrive != nil && s.deadLetters == nil && f.Retention > 0 && !f.ShortRetention {
		return cli.Hint(fmt.Errorf("how long the dead-letter queue %s keeps messages is not known, so --retention %v cannot be checked",
			s.settings.Redrive.TargetName(), f.Retention), "permit sqs:GetQueueAttributes on it, or add --short-retention")
	}
	note, err := checkRetention(f, shortest(s.settings, s.deadLetters))
	if note != "" {
		talk.sayf("%s", note)
	}
	return err
}

// settle is how long the end of a run may take beyond --drain.
const settle = 10 * time.Second
