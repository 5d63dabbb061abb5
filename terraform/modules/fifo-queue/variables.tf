# Each description is one line, and each type and default stands on one line: the tables
# in README.md are made from them.

# --- names

variable "name" {
  description = "Base of all names: NAME.fifo is the queue, NAME-dlq.fifo its dead-letter queue."
  type        = string
  nullable    = false

  validation {
    condition     = !endswith(var.name, ".fifo")
    error_message = "Give the name without .fifo: the module appends it, exactly once."
  }
  validation {
    condition     = endswith(var.name, ".fifo") || can(regex("^[A-Za-z0-9_-]+$", var.name))
    error_message = "A queue's name has letters, digits, - and _, and nothing else."
  }
  validation {
    condition     = length("${var.name}-dlq.fifo") <= 80
    error_message = "The name has more than 71 characters: with -dlq.fifo it is longer than the 80 that SQS allows."
  }
  validation {
    condition     = !startswith(var.name, "fifoproof-")
    error_message = "Names that begin with fifoproof- belong to the queues that verify makes, and its policy allows their deletion."
  }
}

variable "tags" {
  description = "Tags of everything that can have tags."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "permit_verify" {
  description = "Whether the queue has the tag fifoproof:permit = verify, without which 'verify --queue' does not send to it."
  type        = bool
  default     = false
  nullable    = false
}

# --- deduplication and throughput

variable "content_based_deduplication" {
  description = "Whether SQS makes the deduplication ID from the body where a send has none. The producer always sends one."
  type        = bool
  default     = false
  nullable    = false
}

variable "deduplication_scope" {
  description = "Where an ID counts as seen: in the whole queue (queue) or in its message group (messageGroup)."
  type        = string
  default     = "queue"
  nullable    = false

  validation {
    condition     = contains(["queue", "messageGroup"], var.deduplication_scope)
    error_message = "The deduplication scope is queue or messageGroup."
  }
}

variable "fifo_throughput_limit" {
  description = "What the throughput quota counts for: the queue (perQueue) or each message group (perMessageGroupId)."
  type        = string
  default     = "perQueue"
  nullable    = false

  validation {
    condition     = contains(["perQueue", "perMessageGroupId"], var.fifo_throughput_limit)
    error_message = "The throughput limit is perQueue or perMessageGroupId."
  }
  validation {
    condition     = var.fifo_throughput_limit != "perMessageGroupId" || var.deduplication_scope == "messageGroup"
    error_message = "SQS allows perMessageGroupId only with the deduplication scope messageGroup: set deduplication_scope too, and know that one ID in two groups is then two messages."
  }
}

# --- messages

variable "visibility_timeout_seconds" {
  description = "How long a received message is hidden (0 to 43200). Longer than a consumer needs for one message."
  type        = number
  default     = 120
  nullable    = false

  validation {
    condition     = var.visibility_timeout_seconds >= 0 && var.visibility_timeout_seconds <= 43200
    error_message = "The visibility timeout is 0 to 43200 seconds (12 hours)."
  }
}

variable "delay_seconds" {
  description = "How long a new message is hidden before its first receive (0 to 900). FIFO queues have no delay for a single message."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.delay_seconds >= 0 && var.delay_seconds <= 900
    error_message = "The delay is 0 to 900 seconds (15 minutes)."
  }
}

variable "receive_wait_time_seconds" {
  description = "How long a receive without a wait of its own waits for a message (0 to 20)."
  type        = number
  default     = 20
  nullable    = false

  validation {
    condition     = var.receive_wait_time_seconds >= 0 && var.receive_wait_time_seconds <= 20
    error_message = "The wait of a receive is 0 to 20 seconds."
  }
}

variable "max_message_size" {
  description = "Largest message in bytes, body and attributes (1024 to 262144)."
  type        = number
  default     = 262144
  nullable    = false

  validation {
    condition     = var.max_message_size >= 1024 && var.max_message_size <= 262144
    error_message = "The largest message is 1024 to 262144 bytes."
  }
}

variable "message_retention_seconds" {
  description = "How long the queue keeps a message (60 to 1209600)."
  type        = number
  default     = 345600
  nullable    = false

  validation {
    condition     = var.message_retention_seconds >= 60 && var.message_retention_seconds <= 1209600
    error_message = "The retention is 60 to 1209600 seconds (14 days)."
  }
}

variable "dead_letter_retention_seconds" {
  description = "How long the dead-letter queue keeps a message (60 to 1209600). Longer than the queue itself."
  type        = number
  default     = 1209600
  nullable    = false

  validation {
    condition     = var.dead_letter_retention_seconds >= 60 && var.dead_letter_retention_seconds <= 1209600
    error_message = "The retention of the dead-letter queue is 60 to 1209600 seconds (14 days)."
  }
  validation {
    condition     = var.dead_letter_retention_seconds > var.message_retention_seconds
    error_message = "The dead-letter queue must keep messages longer than the queue does, or what failed is gone before anybody looks."
  }
}

# --- dead letters

variable "max_receive_count" {
  description = "How many receives a message has before it moves to the dead-letter queue (1 to 1000)."
  type        = number
  default     = 3
  nullable    = false

  validation {
    condition     = var.max_receive_count >= 1 && var.max_receive_count <= 1000 && floor(var.max_receive_count) == var.max_receive_count
    error_message = "The receives before a message is a dead letter are a whole number from 1 to 1000."
  }
}

variable "create_redrive_allow_policy" {
  description = "Whether only this queue may name the dead-letter queue as its own. Off on LocalStack 4.14.0 and moto, where destroy or apply hangs on it."
  type        = bool
  default     = true
  nullable    = false
}

# --- encryption and access

variable "kms_key_arn" {
  description = "ARN of a customer managed KMS key for both queues. Without it SQS encrypts with a key of its own (SSE-SQS)."
  type        = string
  default     = null

  validation {
    condition     = var.kms_key_arn == null || can(regex("^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/.+$", var.kms_key_arn))
    error_message = "The KMS key is given by the ARN of the key, such as arn:aws:kms:eu-central-1:123456789012:key/..., since an IAM policy takes no alias or bare id."
  }
}

variable "kms_data_key_reuse_period_seconds" {
  description = "How long SQS uses a data key again before it asks KMS (60 to 86400). Only with kms_key_arn."
  type        = number
  default     = 300
  nullable    = false

  validation {
    condition     = var.kms_data_key_reuse_period_seconds >= 60 && var.kms_data_key_reuse_period_seconds <= 86400
    error_message = "A data key is used again for 60 to 86400 seconds."
  }
}

variable "create_tls_policy" {
  description = "Whether both queues refuse requests without TLS."
  type        = bool
  default     = true
  nullable    = false
}

variable "iam_policies" {
  description = "Which IAM policies to create: producer, consumer, verifier, redrive. The documents are outputs in any case."
  type        = set(string)
  default     = ["producer", "consumer", "verifier", "redrive"]
  nullable    = false

  validation {
    condition     = length(setsubtract(var.iam_policies, ["producer", "consumer", "verifier", "redrive"])) == 0
    error_message = "There are the IAM policies producer, consumer, verifier and redrive, and no other."
  }
}

variable "iam_path" {
  description = "Path of the IAM policies."
  type        = string
  default     = "/"
  nullable    = false

  validation {
    condition     = can(regex("^/([!-.0-~]+/)*$", var.iam_path))
    error_message = "The path of IAM policies begins and ends with /."
  }
}

# --- alarms

variable "create_alarms" {
  description = "Whether to create the CloudWatch alarms."
  type        = bool
  default     = true
  nullable    = false
}

variable "alarm_dead_letter_depth" {
  description = "Alarm when more messages than this are in the dead-letter queue; null: no such alarm."
  type        = number
  default     = 0

  validation {
    condition     = var.alarm_dead_letter_depth == null ? true : var.alarm_dead_letter_depth >= 0
    error_message = "The threshold for dead letters is 0 or more, or null."
  }
}

variable "alarm_oldest_message_seconds" {
  description = "Alarm when the oldest message in the queue is older than this; null: no such alarm. Below the retention."
  type        = number
  default     = 900

  validation {
    condition     = var.alarm_oldest_message_seconds == null ? true : var.alarm_oldest_message_seconds > 0
    error_message = "The threshold for the oldest message is more than 0 seconds, or null."
  }
  validation {
    condition     = var.alarm_oldest_message_seconds == null ? true : var.alarm_oldest_message_seconds < var.message_retention_seconds
    error_message = "The threshold for the oldest message is not below the retention, so the alarm could never go off: messages are gone first."
  }
}

variable "alarm_deduplicated_messages" {
  description = "Alarm when SQS swallowed more sends than this as duplicates in one period; null: no such alarm."
  type        = number
  default     = 100

  validation {
    condition     = var.alarm_deduplicated_messages == null ? true : var.alarm_deduplicated_messages >= 0
    error_message = "The threshold for duplicates is 0 or more, or null."
  }
}

variable "alarm_period_seconds" {
  description = "Period of the alarms: a multiple of 60. SQS publishes its metrics once a minute."
  type        = number
  default     = 300
  nullable    = false

  validation {
    condition     = var.alarm_period_seconds >= 60 && var.alarm_period_seconds % 60 == 0 && var.alarm_period_seconds <= 86400
    error_message = "The period of the alarms is a multiple of 60 seconds, from 60 to 86400."
  }
}

variable "tag_alarms" {
  description = "Whether the alarms have the tags too. Off on LocalStack 4.14.0, which forgets them, so that each plan would set them again."
  type        = bool
  default     = true
  nullable    = false
}

variable "create_alarm_topic" {
  description = "Whether to create an SNS topic that the alarms publish to."
  type        = bool
  default     = true
  nullable    = false
}

variable "alarm_topic_kms_key_arn" {
  description = "ARN of a customer managed KMS key for that topic. Its key policy must admit cloudwatch.amazonaws.com."
  type        = string
  default     = null

  validation {
    condition     = var.alarm_topic_kms_key_arn == null || can(regex("^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/.+$", var.alarm_topic_kms_key_arn))
    error_message = "The topic's key is given by the ARN of a customer managed key: CloudWatch cannot publish to a topic under alias/aws/sns, whose policy does not admit it."
  }
}

variable "alarm_emails" {
  description = "Addresses that the topic mails to. Each must confirm the first mail. Only with create_alarm_topic."
  type        = set(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for address in var.alarm_emails : can(regex("^[^@\\s]+@[^@\\s]+$", address))])
    error_message = "An address of alarm_emails is no mail address."
  }
  validation {
    condition     = length(var.alarm_emails) == 0 || var.create_alarm_topic
    error_message = "There is no topic that could mail: set create_alarm_topic, or leave alarm_emails empty."
  }
}

variable "alarm_action_arns" {
  description = "Further actions of the alarms, such as the ARN of a topic that exists."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for arn in var.alarm_action_arns : startswith(arn, "arn:")])
    error_message = "An alarm's action is given by its ARN."
  }
}
