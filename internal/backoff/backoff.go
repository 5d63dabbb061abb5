package backoff

import (
	"cmp"
	"math/rand/v2"
	"time"
)

// Policy is how waits grow. Its zero value never waits.
type Policy struct {
	Base time.Duration // the most that the first wait may be
	Cap  time.Duration // the most that any wait may be; zero: no cap but Forever
	// Steady leaves out the jitter: every wait is as long as it may be. To show what
	// jitter is for.
	Steady bool
}

// Forever is the most that any wait can be, 146 years: sums and doublings of waits
// stay within a Duration.
const Forever time.Duration = 1 << 62

// Limit is the most that the wait after a failed attempt (from 1) may be: the base,
// doubled with every attempt, up to the cap.
func (p Policy) Limit(attempt int) time.Duration {
	most := min(cmp.Or(max(p.Cap, 0), Forever), Forever)
	limit := min(max(p.Base, 0), most)
	for i := 1; i < attempt && limit > 0; i++ {
		if limit > most/2 {
			return most
		}
		limit *= 2
	}
	return limit
}

// Wait is how long to wait after a failed attempt (from 1): full jitter, a uniform
// choice from [0, Limit]. (AWS Architecture Blog, "Exponential Backoff And Jitter",
// sleep = random_between(0, min(cap, base * 2 ** attempt)).)
func (p Policy) Wait(attempt int, random *rand.Rand) time.Duration {
	limit := p.Limit(attempt)
	if p.Steady || limit == 0 {
		return limit
	}
	return time.Duration(random.Int64N(int64(limit) + 1))
}

// Seconds rounds a wait up to whole seconds, the unit of SQS's visibility timeout.
func Seconds(wait time.Duration) time.Duration {
	whole := wait.Truncate(time.Second)
	if whole < wait {
		whole += time.Second
	}
	return whole
}
