variable "endpoint" {
  description = "URL of LocalStack."
  type        = string
  default     = "http://127.0.0.1:4566"

  validation {
    condition     = can(regex("^https?://[^/]+$", var.endpoint))
    error_message = "The endpoint is a URL without a path, such as http://127.0.0.1:4566."
  }
  validation {
    condition     = !can(regex("amazonaws\\.com", var.endpoint))
    error_message = "This environment has made-up credentials and is not for AWS: use envs/staging."
  }
}

variable "region" {
  description = "Region of the queues."
  type        = string
  default     = "us-east-1"
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

# LocalStack 4.14.0 never lets go of it: destroy hangs. moto never answers it: apply hangs.
variable "create_redrive_allow_policy" {
  description = "Whether only the queue may name its dead-letter queue."
  type        = bool
  default     = false
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

# LocalStack 4.14.0 forgets them, and each plan would set them again.
variable "tag_alarms" {
  description = "Whether the alarms have the tags too."
  type        = bool
  default     = false
}
