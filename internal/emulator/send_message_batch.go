package emulator

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
	defer q.mu.Unlock()
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
		if err := in.Entries[i].checkIDs(q.contentBased); err != nil {
			// A missing group is another code here than for a single message, as
			// recorded of AWS.
			return nil, invalidParameter("%s", err.message)
		}
	}

	var out batchOutput[sentEntry]
	for i := range in.Entries {
		e := &in.Entries[i]
		if err := e.check(q.maximumSize); err != nil {
			out.Failed = append(out.Failed, failed(e.entryID(), err))
			continue
		}
		sent, err := s.send(q, &e.messageInput)
		if err != nil {
			return nil, err
		}
		out.Successful = append(out.Successful, sentEntry{sent, e.entryID()})
	}
	q.wake()
	return out, nil
}
