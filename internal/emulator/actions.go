package emulator

// actions are the actions that are served.
var actions = map[string]action{
	"ChangeMessageVisibility":      takes((*Server).changeMessageVisibility),
	"ChangeMessageVisibilityBatch": takes((*Server).changeMessageVisibilityBatch),
	"CreateQueue":                  takes((*Server).createQueue),
	"DeleteMessage":                takes((*Server).deleteMessage),
	"DeleteMessageBatch":           takes((*Server).deleteMessageBatch),
	"DeleteQueue":                  takes((*Server).deleteQueue),
	"GetQueueAttributes":           takes((*Server).getQueueAttributes),
	"GetQueueUrl":                  takes((*Server).getQueueURL),
	"ListQueueTags":                takes((*Server).listQueueTags),
	"ListQueues":                   takes((*Server).listQueues),
	"PurgeQueue":                   takes((*Server).purgeQueue),
	"ReceiveMessage":               takes((*Server).receiveMessage),
	"SendMessage":                  takes((*Server).sendMessage),
	"SendMessageBatch":             takes((*Server).sendMessageBatch),
	"SetQueueAttributes":           takes((*Server).setQueueAttributes),
	"TagQueue":                     takes((*Server).tagQueue),
	"UntagQueue":                   takes((*Server).untagQueue),
}

// notServed are SQS's other actions, each with the reason it is refused.
var notServed = map[string]string{
	"AddPermission":              "there is one account, and it may do everything",
	"CancelMessageMoveTask":      noDeadLetters,
	"ListDeadLetterSourceQueues": noDeadLetters,
	"ListMessageMoveTasks":       noDeadLetters,
	"RemovePermission":           "there is one account, and it may do everything",
	"StartMessageMoveTask":       noDeadLetters,
}

const noDeadLetters = "dead-letter queues are not emulated"
