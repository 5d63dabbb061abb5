package emulator

type listMessageMoveTasksInput struct {
	MaxResults *int64
	SourceArn  *string
}

type listMessageMoveTasksOutput struct {
	Results []listedTask `json:",omitempty"`
}

// listedTask is ListMessageMoveTasksResultEntry. What was not asked for at the start
// is left out, and so is the handle of a task that has ended (API reference).
type listedTask struct {
	ApproximateNumberOfMessagesMoved  int
	ApproximateNumberOfMessagesToMove int
	DestinationArn                    string `json:",omitempty"`
	FailureReason                     string `json:",omitempty"`
	MaxNumberOfMessagesPerSecond      int64  `json:",omitempty"`
	SourceArn                         string
	StartedTimestamp                  int64 // ms since 1970
	Status                            string
	TaskHandle                        string `json:",omitempty"`
}

// listMessageMoveTasks lists the latest tasks, the newest first.
func (s *Server) listMessageMoveTasks(_ *call, in *listMessageMoveTasksInput) (any, error) {
	if in.SourceArn == nil {
		return nil, missingParameter("SourceArn")
	}
	most := 1
	if in.MaxResults != nil {
		if err := checkRange("MaxResults", *in.MaxResults, 1, tasksListed); err != nil {
			return nil, err
		}
		most = int(*in.MaxResults)
	}
	s.lock()
	defer s.mu.Unlock()
	source := s.named(*in.SourceArn)
	if source == nil {
		return nil, resourceNotFound("The resource that you specified for the SourceArn parameter doesn't exist.")
	}
	var out listMessageMoveTasksOutput
	for _, t := range source.tasks[:min(most, len(source.tasks))] {
		listed := listedTask{
			ApproximateNumberOfMessagesMoved:  t.moved,
			ApproximateNumberOfMessagesToMove: t.toMove,
			DestinationArn:                    t.destination,
			FailureReason:                     t.reason,
			MaxNumberOfMessagesPerSecond:      t.rate,
			SourceArn:                         source.arn(),
			StartedTimestamp:                  t.started.UnixMilli(),
			Status:                            t.status,
		}
		if t.status == taskRunning {
			listed.TaskHandle = t.handle()
		}
		out.Results = append(out.Results, listed)
	}
	return out, nil
}
