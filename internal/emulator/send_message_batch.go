package emulator

import "fifoproof/internal/fifo"

type sendMessageBatchInput struct {
	Entries  []sendEntry
	QueueURL *string `json:"QueueUrl"`
}

type sendEntry struct {
	messageInput
	ID *string `json:"Id"`
}

func (e sendEntry) entryID() string { return text(e.ID) }

type sentEntry struct {
	sentOutput
	ID string `json:"Id"`
}

// sendMessageBatch enqueues the entries in their order. Faults of ids and of the
// size as a whole fail all of them, other faults only their own entry.
func (s *Server) sendMessageBatch(_ *call, in *sendMessageBatchInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if err := checkEntryIDs(in.Entries); err != nil {
		return nil, err
	}
	size := 0
	for i := range in.Entries {
		size += in.Entries[i].size()
	}
	if size > sizeLimit {
		return nil, batchTooLong(size)
	}
	for i := range in.Entries {
		if err := in.Entries[i].checkIDs(q.contentBased); err != nil && !s.hooks.entriesAlone {
			// A missing group is another code here than for a single message, as
			// recorded of AWS.
			return nil, invalidParameter("%s", err.message)
		}
	}

	s.batches++
	aside := fifo.Aside{Batch: s.batches}
	var out batchOutput[sentEntry]
	for i := range in.Entries {
		e := &in.Entries[i]
		refusal := e.checkIDs(q.contentBased) // passed before, but for a variant
		if refusal == nil {
			refusal = e.check(q.maximumSize)
		}
		if refusal != nil {
			s.refused(q, &e.messageInput)
			out.Failed = append(out.Failed, failed(e.entryID(), refusal))
			continue
		}
		sent, err := s.send(q, &e.messageInput, aside)
		if err != nil {
			return nil, err
		}
		out.Successful = append(out.Successful, sentEntry{sent, e.entryID()})
	}
	s.wake(q)
	return out, nil
}
