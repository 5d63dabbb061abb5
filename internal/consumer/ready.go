package consumer

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// readiness tells when it changes whether work can be done. It is ready once nothing
// is known to be in the way, beginning with the first answer of the queue.
type readiness struct {
	tell func(ready bool, why string)

	mu   sync.Mutex
	told bool
	last string
	why  map[string]string // by what is in the way
}

// set says why a thing is in the way; "": it is not.
func (r *readiness) set(thing, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if why == "" {
		if !r.told && thing != "queue" {
			return // not before the queue has answered
		}
		delete(r.why, thing)
	} else {
		if r.why == nil {
			r.why = map[string]string{}
		}
		r.why[thing] = thing + ": " + why
	}
	all := strings.Join(slices.Sorted(maps.Values(r.why)), "; ")
	if r.told && all == r.last {
		return
	}
	r.told, r.last = true, all
	r.tell(all == "", all)
}
