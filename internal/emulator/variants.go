package emulator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fifoproof/internal/fifo"
	"fifoproof/internal/window"
)

// Kind tells what a variant proves.
type Kind string

const (
	// Faulty breaks a rule: a test suite must notice.
	Faulty Kind = "faulty"
	// Legal does otherwise what AWS's documentation leaves open: a test suite must put
	// up with it.
	Legal Kind = "legal"
)

// Variant is an endpoint that does one thing otherwise than the right one.
type Variant struct {
	Name string
	Kind Kind
	Text string // one sentence: what it does otherwise, and which endpoint is known for it
}

// Variants lists all variants, the faulty ones first.
func Variants() []Variant {
	all := make([]Variant, len(catalogue))
	for i, v := range catalogue {
		all[i] = v.Variant
	}
	return all
}

// vary makes the server a variant. An unknown name breaks it.
func (s *Server) vary(name string) {
	if name == "" {
		return
	}
	at := slices.IndexFunc(catalogue, func(v entry) bool { return v.Name == name })
	if at < 0 {
		s.broken = fmt.Errorf("no variant is named %q", quoted(name))
		return
	}
	s.variants = append(s.variants, name)
	catalogue[at].apply(s, &s.queueVariant, &s.hooks)
}

type entry struct {
	Variant
	apply func(s *Server, queue *fifo.Variant, hooks *hooks)
}

// inQueue is an entry that changes the queue, onWire one that changes the protocol.
func inQueue(name string, kind Kind, text string, apply func(*fifo.Variant)) entry {
	return entry{Variant{name, kind, text}, func(_ *Server, v *fifo.Variant, _ *hooks) { apply(v) }}
}

func onWire(name string, kind Kind, text string, apply func(*hooks)) entry {
	return entry{Variant{name, kind, text}, func(_ *Server, _ *fifo.Variant, h *hooks) { apply(h) }}
}

var catalogue = slices.Concat(faulty, ours, legal)

// faulty are mistakes that real endpoints make, or made, or could.
var faulty = []entry{
	inQueue("forgets-on-delete", Faulty, "an id is forgotten when its message is deleted, as in moto 5.2.5",
		func(v *fifo.Variant) { v.Forgets |= fifo.OnDelete }),
	inQueue("forgets-on-receive", Faulty, "an id is forgotten when its message is first received, as in kumo 0.33.1",
		func(v *fifo.Variant) { v.Forgets |= fifo.OnReceive }),
	inQueue("forgets-on-dead-letter", Faulty, "an id is forgotten when its message moves to the dead-letter queue",
		func(v *fifo.Variant) { v.Forgets |= fifo.OnDeadLetter }),
	inQueue("window-slides", Faulty, "every duplicate begins the window anew",
		func(v *fifo.Variant) { v.Memory.Slides = true }),
	inQueue("window-295s", Faulty, "the window is 295 s long",
		func(v *fifo.Variant) { v.Memory.Length = 295 * time.Second }),
	inQueue("window-305s", Faulty, "the window is 305 s long",
		func(v *fifo.Variant) { v.Memory.Length = 305 * time.Second }),
	inQueue("sweeps-every-minute", Faulty, "an id outlives its window up to the next full minute, when a sweeper removes it",
		func(v *fifo.Variant) { v.Memory.SweepEvery = time.Minute }),
	inQueue("keeps-10000-ids", Faulty, "a queue remembers its latest 10,000 ids and no more",
		func(v *fifo.Variant) { v.Memory.KeepsAtMost = 10_000 }),
	inQueue("scope-ignored", Faulty, "DeduplicationScope messageGroup is read back and ids count for the whole queue, as in moto 5.2.5 and fauxqs 2.4.1",
		func(v *fifo.Variant) {
			v.Memory.Key = func(_ window.Scope, _, id string) string { return id }
		}),
	inQueue("scope-keyed-by-id", Faulty, "with scope messageGroup one table holds the last group of each id, so that groups 1, 2, 1 deliver three copies, as in LocalStack 4.14.0",
		func(v *fifo.Variant) { v.Memory.OneGroupAnID = true }),
	inQueue("joins-with-colon", Faulty, "with scope messageGroup group and id are joined by a colon, so that a:b with c and a with b:c are one, as in MiniStack 1.5.33",
		func(v *fifo.Variant) {
			v.Memory.Key = func(scope window.Scope, group, id string) string {
				if scope == window.ScopeGroup {
					return group + ":" + id
				}
				return id
			}
		}),
	inQueue("md5-content-id", Faulty, "the id made from a body is its MD5 and not its SHA-256",
		func(v *fifo.Variant) { v.ContentID = func(letter fifo.Letter) string { return md5Of(letter.Body) } }),
	inQueue("attributes-in-content-id", Faulty, "the id made from a body covers the message attributes too",
		func(v *fifo.Variant) { v.ContentID = contentIDWithAttributes }),
	inQueue("explicit-id-ignored", Faulty, "a queue with content-based deduplication makes the id from the body even if one is given",
		func(v *fifo.Variant) { v.IgnoresExplicitID = true }),
	inQueue("batch-unchecked", Faulty, "SendMessageBatch enqueues every entry, whatever its id",
		func(v *fifo.Variant) { v.Memory.BatchUnchecked = true }),
	inQueue("batch-checks-itself-only", Faulty, "the entries of a batch are compared with each other and not with earlier sends",
		func(v *fifo.Variant) { v.Memory.BatchChecksBatch = true }),
	inQueue("duplicate-replaces-body", Faulty, "a duplicate replaces body and attributes of the first copy while that is in the queue",
		func(v *fifo.Variant) { v.ReplacesBody = true }),
	inQueue("duplicate-new-message-id", Faulty, "a duplicate is answered with a MessageId of its own, as in moto 5.2.5",
		func(v *fifo.Variant) { v.FreshMessageID = true }),
	inQueue("duplicate-enqueued", Faulty, "a duplicate is answered with the first copy's MessageId and SequenceNumber and enqueued under them",
		func(v *fifo.Variant) { v.EnqueuesDuplicates = true }),
	onWire("duplicate-first-md5", Faulty, "a duplicate is answered with the digests of the first copy's body and attributes, as reported of MiniStack",
		func(h *hooks) { h.firstDigests = true }),
	inQueue("group-not-locked", Faulty, "a message in flight does not hold back the later ones of its group",
		func(v *fifo.Variant) { v.GroupNotLocked = true }),
	inQueue("group-lock-shared", Faulty, "a message in flight holds back the messages of all groups",
		func(v *fifo.Variant) { v.GroupLockShared = true }),
	inQueue("order-lost-after-timeout", Faulty, "a message whose visibility timeout ends goes to the end of its group",
		func(v *fifo.Variant) { v.TimeoutReorders = true }),
	inQueue("keeps-id-in-dead-letter-queue", Faulty, "a message keeps its deduplication id in the dead-letter queue",
		func(v *fifo.Variant) { v.KeepsDeadID = true }),
	inQueue("folds-case", Faulty, "ids that differ in the case of letters are one",
		func(v *fifo.Variant) { thenID(v, strings.ToLower) }),
	inQueue("cuts-id-at-64", Faulty, "ids that agree in their first 64 characters are one",
		func(v *fifo.Variant) { thenID(v, func(id string) string { return id[:min(len(id), 64)] }) }),
	inQueue("never-deduplicates", Faulty, "no send is ever a duplicate, as in old ElasticMQ images",
		func(v *fifo.Variant) { v.Memory.Never = true }),
}

// ours are mistakes thought up here: intermittent, late, or dependent on how many there
// were of something.
var ours = []entry{
	inQueue("every-13th-duplicate-passes", Faulty, "of a queue's duplicates every thirteenth is taken for a new message",
		func(v *fifo.Variant) { v.Memory.EveryNth = 13 }),
	inQueue("forgets-after-100-resends", Faulty, "an id is forgotten after 100 duplicates of it",
		func(v *fifo.Variant) { v.Memory.AfterResends = 100 }),
	inQueue("late-copy", Faulty, "a suppressed duplicate is delivered after all, 90 s later and under the first copy's identity",
		func(v *fifo.Variant) { v.EnqueuesLate = 90 * time.Second }),
	inQueue("forgets-when-queue-empties", Faulty, "a queue forgets all ids when its last message is gone",
		func(v *fifo.Variant) { v.Forgets |= fifo.WhenEmpty }),
	inQueue("forgets-newest-past-500-ids", Faulty, "while a queue knows 500 ids it remembers no further one",
		func(v *fifo.Variant) { v.Memory.LearnsAtMost = 500 }),
	inQueue("window-from-receive", Faulty, "the window begins when the message is first received, and until then has no end",
		func(v *fifo.Variant) { v.Memory.FromReceive = true }),
	onWire("refused-send-claims-id", Faulty, "a send that is refused with 400 leaves its id behind, so that the mended one is a duplicate",
		func(h *hooks) { h.refusedClaims = true }),
	inQueue("forgets-on-redelivery", Faulty, "an id is forgotten when the visibility timeout of its message ends",
		func(v *fifo.Variant) { v.Forgets |= fifo.OnTimeout }),
	inQueue("second-group-forgets", Faulty, "a send of an id to a second group makes the queue forget that the first group had it",
		func(v *fifo.Variant) { v.Memory.SecondGroup = true }),
	{
		Variant{"concurrent-double", Faulty, "two sends of one id that overlap in time are both new"},
		func(_ *Server, v *fifo.Variant, h *hooks) {
			v.Memory.OverlapPasses = true
			h.overlaps = &overlapping{going: map[string]int{}}
		},
	},
	inQueue("drops-first-after-window", Faulty, "the first send of an id after its window is answered like a new message and lost",
		func(v *fifo.Variant) { v.Memory.Swallows = true }),
	inQueue("resend-reorders", Faulty, "a suppressed duplicate moves the first copy to the end of its group",
		func(v *fifo.Variant) { v.ResendReorders = true }),
}

// legal are endpoints that AWS's documentation allows.
var legal = []entry{
	onWire("empty-receives", Legal, "about every third receive comes back empty although messages wait, never more than four in a row",
		func(h *hooks) {
			h.emptyReceives = func(c *chance) bool { return c.hit(1. / 3) }
		}),
	onWire("one-message-a-receive", Legal, "a receive hands out one message, however many are asked for",
		func(h *hooks) { h.oneMessage = true }),
	onWire("visible-a-second-late", Legal, "a message is available one second after it was accepted",
		func(h *hooks) { h.lateBy = time.Second }),
	onWire("slow-replies", Legal, "requests take up to 2 s on the server's clock, half of them before and half after they are carried out",
		func(h *hooks) {
			alsoStrike(h, func(c *chance) (Effect, time.Duration) {
				by := time.Duration(c.below(int64(2*time.Second))) + 1
				if c.hit(0.5) {
					return Delay, by
				}
				return DelayReply, by
			})
		}),
	onWire("stale-counters", Legal, "the counters of messages are those of the last full minute",
		func(h *hooks) { h.staleCounters = true }),
	inQueue("suppresses-330s", Legal, "duplicates are suppressed for 330 s: the API reference says five minutes in one place and at least five in another",
		func(v *fifo.Variant) { v.Memory.Length = 330 * time.Second }),
	inQueue("duplicate-fresh-sequence", Legal, "a duplicate is answered with a SequenceNumber of its own, as in LocalStack 4.14.0",
		func(v *fifo.Variant) { v.FreshSequence = true }),
	onWire("throttles-and-fails", Legal, "about 10 % of all requests are throttled and 5 % fail, neither carried out, and 2 % fail although they were carried out",
		func(h *hooks) {
			alsoStrike(h, func(c *chance) (Effect, time.Duration) {
				switch n := c.below(100); {
				case n < 10:
					return Throttle, 0
				case n < 15:
					return Fail, 0
				case n < 17:
					return FailReply, 0
				}
				return "", 0
			})
		}),
	inQueue("purge-clears-ids", Legal, "PurgeQueue forgets the ids of the queue, as in LocalStack and ElasticMQ; AWS says nothing on it",
		func(v *fifo.Variant) { v.Forgets |= fifo.OnPurge }),
	onWire("batch-refuses-per-entry", Legal, "a missing or malformed id fails its entry of a batch and not the batch",
		func(h *hooks) { h.entriesAlone = true }),
	{
		Variant{"any-group-first", Legal, "a receive begins with any group that is free, and not with the one that has waited longest"},
		func(s *Server, v *fifo.Variant, _ *hooks) {
			v.Pick = func(n int) int { return int(s.chance.below(int64(n))) }
		},
	},
	onWire("short-sequence-numbers", Legal, "sequence numbers start small and are not of one length: they compare as numbers and not as texts",
		func(h *hooks) { h.shortSequences = true }),
}

// thenID adds to what is done to ids before they are compared.
func thenID(v *fifo.Variant, change func(string) string) {
	before := v.Memory.ID
	v.Memory.ID = func(id string) string {
		if before != nil {
			id = before(id)
		}
		return change(id)
	}
}

// alsoStrike adds to what strikes a request; what came first goes first.
func alsoStrike(h *hooks, strike func(*chance) (Effect, time.Duration)) {
	before := h.strike
	h.strike = func(c *chance) (Effect, time.Duration) {
		if before != nil {
			if effect, by := before(c); effect != "" {
				return effect, by
			}
		}
		return strike(c)
	}
}

func contentIDWithAttributes(letter fifo.Letter) string {
	text := letter.Body
	if with, ok := letter.Enclosed.(*enclosed); ok {
		text += md5OfAttributes(with.attributes)
	}
	return fifo.ContentID(text)
}
