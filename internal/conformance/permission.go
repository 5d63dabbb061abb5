package conformance

import (
	"maps"
	"slices"
	"strings"
)

// withActions are the further permissions that AWS asks for with an action: tags of a
// new queue are tagging it, and a move task works in its caller's name (SQS developer
// guide, API permissions reference; API reference, CreateQueue, tags).
var withActions = map[string][]string{
	callCreate:              {"TagQueue"}, // each queue of a run is made with tags
	"StartMessageMoveTask":  {callReceive, callDelete, callSettings, callSend},
	"CancelMessageMoveTask": {callReceive, callDelete, callSettings},
	"ListMessageMoveTasks":  {callSettings},
}

// Permissions are those that AWS asks for with SQS actions, as an IAM policy names them,
// sorted: "sqs:SendMessage" is for SendMessageBatch too.
func Permissions(actions ...string) []string {
	need := map[string]bool{}
	for _, action := range actions {
		need["sqs:"+strings.TrimSuffix(action, "Batch")] = true
		for _, more := range withActions[action] {
			need["sqs:"+more] = true
		}
	}
	return slices.Sorted(maps.Keys(need))
}

// Actions are the SQS actions of a history, sorted.
func Actions(history []Record) []string {
	called := map[string]bool{}
	for _, r := range history {
		if r.Call != nil && r.Call.Action != "" {
			called[r.Call.Action] = true
		}
	}
	return slices.Sorted(maps.Keys(called))
}
