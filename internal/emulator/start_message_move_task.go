package emulator

type startMessageMoveTaskInput struct {
	DestinationArn               *string
	MaxNumberOfMessagesPerSecond *int64
	SourceArn                    *string
}

type startMessageMoveTaskOutput struct {
	TaskHandle string
}

func (s *Server) startMessageMoveTask(_ *call, in *startMessageMoveTaskInput) (any, error) {
	if in.SourceArn == nil {
		return nil, missingParameter("SourceArn")
	}
	rate := int64(0)
	if n := in.MaxNumberOfMessagesPerSecond; n != nil {
		if err := checkRange("MaxNumberOfMessagesPerSecond", *n, 1, fastest); err != nil {
			return nil, err
		}
		rate = *n
	}
	s.lock()
	defer s.mu.Unlock()
	source := s.named(*in.SourceArn)
	switch {
	case source == nil:
		return nil, resourceNotFound("The resource that you specified for the SourceArn parameter doesn't exist.")
	case len(s.sources(source)) == 0:
		return nil, invalidParameter("Source queue must be configured as a Dead Letter Queue.")
	}
	if arn := text(in.DestinationArn); arn != "" {
		switch {
		case s.named(arn) == nil:
			return nil, resourceNotFound("The resource that you specified for the DestinationArn parameter doesn't exist.")
		case s.named(arn) == source:
			return nil, invalidParameter("Source queue arn and destination queue arn must be different.")
		}
	}
	if len(source.tasks) > 0 && source.tasks[0].status == taskRunning {
		return nil, invalidParameter("There is already a task running. Only one active task is allowed for a source queue arn at a given time.")
	}
	return startMessageMoveTaskOutput{s.start(s.now(), source, text(in.DestinationArn), rate).handle()}, nil
}
