package backoff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"fifoproof/internal/backoff"
)

// policies are all sorts of policies, the absurd ones included.
var policies = rapid.Custom(func(t *rapid.T) backoff.Policy {
	length := rapid.OneOf(
		rapid.Int64Range(-10, 10),
		rapid.Int64Range(0, int64(24*time.Hour)),
		rapid.Int64Range(math.MaxInt64-10, math.MaxInt64),
		rapid.Int64(),
	)
	return backoff.Policy{
		Base:   time.Duration(length.Draw(t, "base")),
		Cap:    time.Duration(length.Draw(t, "cap")),
		Steady: rapid.Bool().Draw(t, "steady"),
	}
})

// farthest is an attempt that nobody gets to: SQS counts receives, and moves a message
// after 1,000 of them at the latest (maxReceiveCount).
const farthest = 10_000

func TestLimitDoublesUpToTheCap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		policy backoff.Policy
		want   []time.Duration // after attempts 1, 2, 3 ...
	}{
		{backoff.Policy{}, []time.Duration{0, 0, 0}},
		{backoff.Policy{Base: 8 * time.Second, Cap: time.Minute}, []time.Duration{
			8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute,
		}},
		{backoff.Policy{Base: time.Second}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}},
		{backoff.Policy{Base: time.Minute, Cap: time.Second}, []time.Duration{time.Second, time.Second}},
		{backoff.Policy{Base: 3, Cap: 7}, []time.Duration{3, 6, 7, 7}},
		{backoff.Policy{Base: -time.Second, Cap: time.Second}, []time.Duration{0, 0}},
		{backoff.Policy{Base: backoff.Forever - 1}, []time.Duration{backoff.Forever - 1, backoff.Forever, backoff.Forever}},
	} {
		for i, want := range tt.want {
			require.Equal(t, want, tt.policy.Limit(i+1), "%+v after attempt %d", tt.policy, i+1)
		}
		require.Equal(t, tt.want[0], tt.policy.Limit(0), "there is no attempt before the first")
	}
}

// Limit never falls, and is over neither the cap nor what a Duration holds.
func TestLimitIsMonotoneAndBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := policies.Draw(t, "policy")
		attempt := rapid.IntRange(-1, farthest).Draw(t, "attempt")
		limit, next := p.Limit(attempt), p.Limit(attempt+1)
		require.GreaterOrEqual(t, limit, time.Duration(0))
		require.LessOrEqual(t, limit, backoff.Forever)
		require.GreaterOrEqual(t, next, limit)
		if p.Cap > 0 {
			require.LessOrEqual(t, limit, p.Cap)
		}
		if attempt >= 1 && next > limit && next < backoff.Forever && next != p.Cap {
			require.Equal(t, 2*limit, next)
		}
	})
}

func TestLimitUpToTheFarthestAttempt(t *testing.T) {
	t.Parallel()
	for _, p := range []backoff.Policy{
		{Base: 1}, {Base: 1, Cap: math.MaxInt64}, {Base: time.Second, Cap: 12 * time.Hour}, {Base: math.MaxInt64},
	} {
		last := time.Duration(0)
		for attempt := 1; attempt <= farthest; attempt++ {
			limit := p.Limit(attempt)
			require.GreaterOrEqual(t, limit, last, "%+v after attempt %d", p, attempt)
			last = limit
		}
	}
}

func TestWaitIsWithinTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := policies.Draw(t, "policy")
		attempt := rapid.IntRange(1, farthest).Draw(t, "attempt")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		limit, wait := p.Limit(attempt), p.Wait(attempt, random)
		require.GreaterOrEqual(t, wait, time.Duration(0))
		require.LessOrEqual(t, wait, limit)
		if p.Steady {
			require.Equal(t, limit, wait)
		}
	})
}

// Both ends of [0, Limit] are among the choices.
func TestWaitReachesBothEnds(t *testing.T) {
	t.Parallel()
	random, seen := rand.New(rand.NewPCG(1, 0)), map[time.Duration]bool{}
	for range 100 {
		seen[backoff.Policy{Base: 2}.Wait(1, random)] = true
	}
	require.Equal(t, map[time.Duration]bool{0: true, 1: true, 2: true}, seen)
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]time.Duration{
		0: 0, 1: time.Second, time.Second - 1: time.Second, time.Second: time.Second, time.Second + 1: 2 * time.Second,
		43_200*time.Second - 1: 12 * time.Hour,
	} {
		require.Equal(t, want, backoff.Seconds(wait), wait)
	}
	rapid.Check(t, func(t *rapid.T) {
		wait := time.Duration(rapid.Int64Range(0, int64(backoff.Forever)).Draw(t, "wait"))
		whole := backoff.Seconds(wait)
		require.Zero(t, whole%time.Second)
		require.GreaterOrEqual(t, whole, wait)
		require.Less(t, whole-wait, time.Second)
	})
}

const (
	draws = 10_000
	bins  = 50
	// significance is how likely uniform waits are to be called uneven. Seeds are
	// fixed: whoever passes once passes always.
	significance = 0.001
)

// uneven is Pearson's chi-square of waits sorted into equal bins of [0, limit], and
// whether it is beyond what uniform waits come to but for one time in 1,000.
func uneven(waits []time.Duration, limit time.Duration) (chi2 float64, beyond bool) {
	observed, expected := make([]float64, bins), make([]float64, bins)
	for i := range expected {
		expected[i] = float64(len(waits)) / bins
	}
	for _, wait := range waits {
		observed[int(float64(wait)/float64(limit+1)*bins)]++
	}
	chi2 = stat.ChiSquare(observed, expected)
	return chi2, chi2 > distuv.ChiSquared{K: bins - 1}.Quantile(1-significance)
}

// TestWaitsAreUniform is issue 7's "uniformity of each attempt's delays tested".
func TestWaitsAreUniform(t *testing.T) {
	t.Parallel()
	p := backoff.Policy{Base: 8 * time.Second, Cap: time.Minute}
	for attempt := 1; attempt <= 5; attempt++ {
		t.Run(fmt.Sprintf("attempt %d", attempt), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(attempt), 0))
			waits := make([]time.Duration, draws)
			for i := range waits {
				waits[i] = p.Wait(attempt, random)
			}
			chi2, beyond := uneven(waits, p.Limit(attempt))
			require.False(t, beyond, "chi-square %.1f of %d bins", chi2, bins)
		})
	}
}

// The control: the same test sees what is only nearly uniform.
func TestUnevenWaitsAreSeen(t *testing.T) {
	t.Parallel()
	limit := time.Minute
	for name, wait := range map[string]func(random *rand.Rand) time.Duration{
		"equal jitter": func(random *rand.Rand) time.Duration {
			return limit/2 + time.Duration(random.Int64N(int64(limit/2)+1))
		},
		"a tenth too short": func(random *rand.Rand) time.Duration { return time.Duration(random.Int64N(int64(limit) * 9 / 10)) },
		"the lesser of two, one time in ten": func(random *rand.Rand) time.Duration {
			wait := random.Int64N(int64(limit))
			if random.IntN(10) == 0 {
				wait = min(wait, random.Int64N(int64(limit)))
			}
			return time.Duration(wait)
		},
	} {
		random := rand.New(rand.NewPCG(1, 0))
		waits := make([]time.Duration, draws)
		for i := range waits {
			waits[i] = wait(random)
		}
		chi2, beyond := uneven(waits, limit)
		require.True(t, beyond, "%s: chi-square %.1f", name, chi2)
	}
}
