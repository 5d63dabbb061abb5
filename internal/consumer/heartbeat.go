package consumer

import (
	"context"
	"slices"
	"time"
)

// beats hides everything in hand for longer, each message after a third of its
// visibility timeout at the latest, until ctx ends. Messages that wait have their
// heartbeat as well as those at work.
func (r *run) beats(ctx context.Context) {
	// Four looks to a beat, so that messages that came at different times share calls.
	ticker := time.NewTicker(r.cfg.Visibility / 12)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for {
			due := r.due()
			if len(due) == 0 || !r.prolong(ctx, due) {
				break
			}
		}
	}
}

// due picks up to ten messages whose heartbeat has to come before the next look, and
// marks them: see hush.
func (r *run) due() (changes []change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	beat := make(chan struct{})
	for a := range r.hand {
		if len(changes) == batch {
			break
		}
		extended := r.capped(a, r.cfg.Visibility)
		if a.quiet || a.lost || extended < time.Second || now.Sub(a.beaten) < r.cfg.Visibility/4 {
			continue
		}
		if !a.hidden.Before(now.Add(extended)) {
			continue // the 12 hours are nearly over: nothing would be won
		}
		a.beat = beat
		changes = append(changes, hiding(a, extended))
	}
	return changes
}

// prolong sends one heartbeat. False: the call failed, and is better left for the next
// look.
func (r *run) prolong(ctx context.Context, changes []change) bool {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Visibility/3)
	defer cancel()
	asked := time.Now()
	failed, err := r.hide(ctx, changes)
	if err != nil {
		r.warn.unbeaten(len(changes), err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	close(changes[0].beat)
	for _, ch := range changes {
		ch.beat = nil
		i := slices.IndexFunc(failed, func(f refusal) bool { return f.arrival == ch.arrival })
		switch {
		case err != nil:
		case i < 0:
			ch.beaten, ch.hidden = asked, asked.Add(time.Duration(ch.seconds)*time.Second)
		case failed[i].gone:
			ch.lost = true
		default:
			ch.beaten = asked // again after a while; a call that always fails must not be hurried
		}
	}
	return err == nil
}

// hush ends the heartbeat of messages, and waits for the call that is under way: a
// message is deleted, or made visible, by whoever has the last word on it.
func (r *run) hush(quiet ...*arrival) {
	var under []chan struct{}
	r.mu.Lock()
	for _, a := range quiet {
		a.quiet = true
		if a.beat != nil {
			under = append(under, a.beat)
		}
	}
	r.mu.Unlock()
	for _, beat := range under {
		<-beat
	}
}
