package emulator

type deleteMessageBatchInput struct {
	Entries  []deleteEntry
	QueueURL *string `json:"QueueUrl"`
}

type deleteEntry struct {
	ID            *string `json:"Id"`
	ReceiptHandle *string
}

func (e deleteEntry) entryID() string { return text(e.ID) }

func (s *Server) deleteMessageBatch(_ *call, in *deleteMessageBatchInput) (any, error) {
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
		if err := s.deleteBy(q, text(e.ReceiptHandle)); err != nil {
			// In a batch an expired handle has the code of an invalid one, as logged
			// of AWS.
			err.code = receiptHandleIsInvalid().code
			out.Failed = append(out.Failed, failed(e.entryID(), err))
			continue
		}
		out.Successful = append(out.Successful, succeededEntry{e.entryID()})
	}
	s.wake(q)
	return out, nil
}
