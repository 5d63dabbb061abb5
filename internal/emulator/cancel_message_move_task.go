package emulator

import (
	"encoding/base64"
	"encoding/json"
)

type cancelMessageMoveTaskInput struct {
	TaskHandle *string
}

type cancelMessageMoveTaskOutput struct {
	ApproximateNumberOfMessagesMoved int
}

// cancelMessageMoveTask ends a task at once. What it moved stays moved.
func (s *Server) cancelMessageMoveTask(_ *call, in *cancelMessageMoveTaskInput) (any, error) {
	if in.TaskHandle == nil {
		return nil, missingParameter("TaskHandle")
	}
	var name taskName
	raw, err := base64.StdEncoding.DecodeString(*in.TaskHandle)
	if err != nil || json.Unmarshal(raw, &name) != nil || name.ID == "" {
		return nil, invalidValue(*in.TaskHandle, "TaskHandle", "It is not the handle of a task.")
	}
	s.lock()
	defer s.mu.Unlock()
	source := s.named(name.Source)
	if source == nil {
		return nil, resourceNotFound("The source queue of the task doesn't exist.")
	}
	for _, t := range source.tasks {
		switch {
		case t.id != name.ID:
		case t.status != taskRunning:
			return nil, invalidParameter("Only active tasks can be cancelled.")
		default:
			s.end(t, taskCancelled, "")
			return cancelMessageMoveTaskOutput{t.moved}, nil
		}
	}
	return nil, resourceNotFound("Task does not exist.")
}
