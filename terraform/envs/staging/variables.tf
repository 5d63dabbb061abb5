variable "account_id" {
  description = "Account that the credentials must belong to. Another one is refused before anything is made."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account_id))
    error_message = "An AWS account has 12 digits."
  }
}

variable "region" {
  description = "Region of the queues."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]+$", var.region))
    error_message = "That is no AWS region, such as eu-central-1."
  }
}

# What follows is the module's: see ../../modules/fifo-queue/README.md.

variable "name" {
  description = "Base of all names."
  type        = string
  default     = "staging-orders"
}

variable "tags" {
  description = "Further tags."
  type        = map(string)
  default     = {}
}

variable "permit_verify" {
  description = "Whether 'verify --queue' may send to the queue."
  type        = bool
  default     = true
}

variable "content_based_deduplication" {
  description = "Whether SQS makes the deduplication ID from the body where a send has none."
  type        = bool
  default     = false
}

variable "deduplication_scope" {
  description = "queue or messageGroup."
  type        = string
  default     = "queue"
}

variable "fifo_throughput_limit" {
  description = "perQueue or perMessageGroupId."
  type        = string
  default     = "perQueue"
}

variable "visibility_timeout_seconds" {
  description = "How long a received message is hidden."
  type        = number
  default     = 120
}

variable "max_receive_count" {
  description = "How many receives a message has before it is a dead letter."
  type        = number
  default     = 3
}

variable "kms_key_arn" {
  description = "Customer managed KMS key, or null for SSE-SQS."
  type        = string
  default     = null
}

variable "create_redrive_allow_policy" {
  description = "Whether only the queue may name its dead-letter queue."
  type        = bool
  default     = true
}

variable "iam_policies" {
  description = "Which IAM policies to create."
  type        = set(string)
  default     = ["producer", "consumer", "verifier", "redrive"]
}

variable "create_alarms" {
  description = "Whether to create the alarms and their topic."
  type        = bool
  default     = true
}

variable "alarm_emails" {
  description = "Addresses that the alarms are mailed to."
  type        = set(string)
  default     = []
}
