package backoff

import (
	"math/rand/v2"
	"time"
)

// Policy is how waits grow. Its zero value never waits.
type Policy struct {
	Base time.Duration // the most that the first wait may be
	Cap  time.Duration // the most that any wait may be; zero: no cap
	// Steady leaves out the jitter: every wait is as long as it may be. To show what
	// jitter is for.
	Steady bool
}

// Limit is the most that the wait after a failed attempt (from 1) may be: the base,
// doubled with every attempt, up to the cap.
func (p Policy) Limit(attempt int) time.Duration {
	limit := p.Base
	for range attempt - 1 {
		if p.Cap > 0 && limit >= p.Cap {
			break
		}
		if limit > 1<<61 { // the next doubling would overflow
			return max(limit, p.Cap)
		}
		limit *= 2
	}
	if p.Cap > 0 {
		limit = min(limit, p.Cap)
	}
	return limit
}

// Wait is how long to wait after a failed attempt (from 1): full jitter, a uniform
// choice from [0, Limit]. (AWS Architecture Blog, "Exponential Backoff And Jitter",
// sleep = random_between(0, min(cap, base * 2 ** attempt)).)
func (p Policy) Wait(attempt int, random *rand.Rand) time.Duration {
	limit := p.Limit(attempt)
	if p.Steady || limit <= 0 {
		return max(limit, 0)
	}
	return time.Duration(random.Int64N(int64(limit) + 1))
}

// Seconds rounds a wait up to whole seconds, the unit of SQS's visibility timeout.
func Seconds(wait time.Duration) time.Duration {
	return (wait + time.Second - 1).Truncate(time.Second)
}
