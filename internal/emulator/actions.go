package emulator

// actions are the actions that are served.
var actions = map[string]action{
	"ChangeMessageVisibility":      takes((*Server).changeMessageVisibility),
	"ChangeMessageVisibilityBatch": takes((*Server).changeMessageVisibilityBatch),
	"CancelMessageMoveTask":        takes((*Server).cancelMessageMoveTask),
	"CreateQueue":                  takes((*Server).createQueue),
	"DeleteMessage":                takes((*Server).deleteMessage),
	"DeleteMessageBatch":           takes((*Server).deleteMessageBatch),
	"DeleteQueue":                  takes((*Server).deleteQueue),
	"GetQueueAttributes":           takes((*Server).getQueueAttributes),
	"GetQueueUrl":                  takes((*Server).getQueueURL),
	"ListDeadLetterSourceQueues":   takes((*Server).listDeadLetterSourceQueues),
	"ListMessageMoveTasks":         takes((*Server).listMessageMoveTasks),
	"ListQueueTags":                takes((*Server).listQueueTags),
	"ListQueues":                   takes((*Server).listQueues),
	"PurgeQueue":                   takes((*Server).purgeQueue),
	"ReceiveMessage":               takes((*Server).receiveMessage),
	"SendMessage":                  takes((*Server).sendMessage),
	"SendMessageBatch":             takes((*Server).sendMessageBatch),
	"SetQueueAttributes":           takes((*Server).setQueueAttributes),
	"StartMessageMoveTask":         takes((*Server).startMessageMoveTask),
	"TagQueue":                     takes((*Server).tagQueue),
	"UntagQueue":                   takes((*Server).untagQueue),
}

// notServed are SQS's other actions, each with the reason it is refused.
var notServed = map[string]string{
	"AddPermission":    "there is one account, and it may do everything",
	"RemovePermission": "there is one account, and it may do everything",
}
