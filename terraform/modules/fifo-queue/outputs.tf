output "queue_url" {
  description = "URL of the queue."
  value       = aws_sqs_queue.main.url
}

output "queue_arn" {
  description = "ARN of the queue."
  value       = aws_sqs_queue.main.arn
}

output "queue_name" {
  description = "Name of the queue, with .fifo."
  value       = aws_sqs_queue.main.name
}

output "dead_letter_queue_url" {
  description = "URL of the dead-letter queue."
  value       = aws_sqs_queue.dead_letter.url
}

output "dead_letter_queue_arn" {
  description = "ARN of the dead-letter queue."
  value       = aws_sqs_queue.dead_letter.arn
}

output "dead_letter_queue_name" {
  description = "Name of the dead-letter queue, with .fifo."
  value       = aws_sqs_queue.dead_letter.name
}

output "region" {
  description = "Region of the queues."
  value       = local.region
}

output "account" {
  description = "Account of the queues."
  value       = local.account
}

output "settings" {
  description = "What decides how the queue treats duplicates and failures."
  value = {
    content_based_deduplication = aws_sqs_queue.main.content_based_deduplication
    deduplication_scope         = aws_sqs_queue.main.deduplication_scope
    fifo_throughput_limit       = aws_sqs_queue.main.fifo_throughput_limit
    visibility_timeout_seconds  = aws_sqs_queue.main.visibility_timeout_seconds
    message_retention_seconds   = aws_sqs_queue.main.message_retention_seconds
    delay_seconds               = aws_sqs_queue.main.delay_seconds
    max_receive_count           = var.max_receive_count
    permit_verify               = var.permit_verify
  }
}

output "policy_documents" {
  description = "IAM policy documents as JSON, by role: producer, consumer, verifier, redrive."
  value       = local.policy_documents
}

output "policy_arns" {
  description = "ARNs of the IAM policies that were created, by role."
  value       = { for role, policy in aws_iam_policy.role : role => policy.arn }
}

output "alarm_arns" {
  description = "ARNs of the alarms, by name: dead-letters, oldest-message, duplicates."
  value       = { for name, alarm in aws_cloudwatch_metric_alarm.queue : name => alarm.arn }
}

output "alarm_topic_arn" {
  description = "ARN of the topic that the alarms publish to, or null."
  value       = one(aws_sns_topic.alarms[*].arn)
}

output "environment" {
  description = "Environment of producer, consumer and fifoproof: AWS_REGION, QUEUE_URL, DEAD_LETTER_QUEUE_URL."
  value       = local.environment
}

output "environment_lines" {
  description = "The same as lines for a shell, for eval."
  value       = join("\n", [for name in sort(keys(local.environment)) : "export ${name}='${local.environment[name]}'"])
}

locals {
  environment = {
    AWS_REGION            = local.region
    QUEUE_URL             = aws_sqs_queue.main.url
    DEAD_LETTER_QUEUE_URL = aws_sqs_queue.dead_letter.url
  }
}
