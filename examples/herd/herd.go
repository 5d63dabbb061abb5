package main

import (
	"math/rand/v2"
	"slices"
	"time"

	"fifoproof/internal/backoff"
)

// The experiment: the clients fail together at 0, and every retry fails as well.
const (
	clients = 100
	retries = 5
	seeds   = 100                    // runs, each with its own fixed seed from 1
	bin     = 100 * time.Millisecond // calls within one are together
	bar     = 10                     // how many times lower jitter has to make the peak
)

// setting is a policy, and the unit that its waits are rounded up to.
type setting struct {
	name   string
	policy backoff.Policy
	whole  bool // whole seconds, as SQS counts visibility
}

// settings are what is measured. The bar is for the first; the others show what a
// short base and whole seconds cost.
func settings() []setting {
	const most = time.Minute
	return []setting{
		{name: "base 8 s, cap 60 s", policy: backoff.Policy{Base: 8 * time.Second, Cap: most}},
		{name: "base 1 s, cap 60 s", policy: backoff.Policy{Base: time.Second, Cap: most}},
		{name: "base 8 s, cap 60 s, whole seconds", policy: backoff.Policy{Base: 8 * time.Second, Cap: most}, whole: true},
	}
}

// steady is the same setting without jitter.
func (s setting) steady() setting {
	s.policy.Steady = true
	return s
}

// calls are when the retries of all clients are made, counted from the moment at which
// all of them failed. The first attempts are left out: they are together whatever
// follows. A call takes no time, so a client's next wait begins with its retry.
func (s setting) calls(seed uint64) []time.Duration {
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // nothing here is secret
	at := make([]time.Duration, 0, clients*retries)
	for range clients {
		now := time.Duration(0)
		for attempt := 1; attempt <= retries; attempt++ {
			wait := s.policy.Wait(attempt, random)
			if s.whole {
				wait = backoff.Seconds(wait)
			}
			now += wait
			at = append(at, now)
		}
	}
	return at
}

// longest is when the last retry can be at the latest.
func (s setting) longest() (last time.Duration) {
	for attempt := 1; attempt <= retries; attempt++ {
		last += s.policy.Limit(attempt)
	}
	return last
}

// histogram counts calls by bin: [0, bin), [bin, 2*bin) and so on.
func histogram(calls []time.Duration) []int {
	counts := make([]int, slices.Max(calls)/bin+1)
	for _, at := range calls {
		counts[at/bin]++
	}
	return counts
}

// peak is the most calls in one bin.
func peak(calls []time.Duration) int { return slices.Max(histogram(calls)) }

// spread is how many times lower jitter makes the peak, over all seeds.
type spread struct {
	steady                int // peak without jitter; it knows no chance
	lowest, highest       int // peaks with jitter
	least, middle, utmost float64
}

func (s setting) measure() spread {
	steady := peak(s.steady().calls(0))
	peaks := make([]int, seeds)
	for i := range peaks {
		peaks[i] = peak(s.calls(uint64(i + 1)))
	}
	slices.Sort(peaks)
	ratio := func(peak int) float64 { return float64(steady) / float64(peak) }
	return spread{
		steady: steady, lowest: peaks[0], highest: peaks[seeds-1],
		least: ratio(peaks[seeds-1]), utmost: ratio(peaks[0]),
		middle: (ratio(peaks[seeds/2-1]) + ratio(peaks[seeds/2])) / 2,
	}
}
