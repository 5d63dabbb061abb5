package conformance

// What marks a queue of a run.
const (
	// QueuePrefix begins the name of every queue that a run makes.
	QueuePrefix = "fifoproof-"
	// RunTag names the run that made the queue.
	RunTag = "fifoproof:run"
	// ExpiresTag is when that run is surely over (RFC 3339, UTC).
	ExpiresTag = "fifoproof:expires"
)
