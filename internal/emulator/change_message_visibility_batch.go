package emulator

type changeMessageVisibilityBatchInput struct {
	Entries  []changeEntry
	QueueURL *string `json:"QueueUrl"`
}

type changeEntry struct {
	ID                *string `json:"Id"`
	ReceiptHandle     *string
	VisibilityTimeout *int64
}

func (e changeEntry) entryID() string { return text(e.ID) }

func (s *Server) changeMessageVisibilityBatch(_ *call, in *changeMessageVisibilityBatchInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if err := checkEntryIDs(in.Entries); err != nil {
		return nil, err
	}
	var out batchOutput[succeededEntry]
	for _, e := range in.Entries {
		if err := s.changeBy(q, text(e.ReceiptHandle), e.VisibilityTimeout); err != nil {
			out.Failed = append(out.Failed, failed(e.entryID(), err))
			continue
		}
		out.Successful = append(out.Successful, succeededEntry{e.entryID()})
	}
	s.wake(q)
	return out, nil
}
