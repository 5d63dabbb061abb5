output "queue_url" {
  description = "URL of the queue."
  value       = module.queue.queue_url
}

output "dead_letter_queue_url" {
  description = "URL of the dead-letter queue."
  value       = module.queue.dead_letter_queue_url
}

output "dead_letter_queue_arn" {
  description = "ARN of the dead-letter queue, for start-message-move-task."
  value       = module.queue.dead_letter_queue_arn
}

output "region" {
  description = "Region of the queues."
  value       = var.region
}

output "account" {
  description = "Account of the queues."
  value       = var.account_id
}

output "settings" {
  description = "What decides how the queue treats duplicates and failures."
  value       = module.queue.settings
}

output "permit_verify" {
  description = "Whether 'verify --queue' may send to the queue: true or false."
  value       = tostring(module.queue.settings.permit_verify)
}

output "policy_arns" {
  description = "ARNs of the IAM policies, by role."
  value       = module.queue.policy_arns
}

output "alarm_arns" {
  description = "ARNs of the alarms, by name."
  value       = module.queue.alarm_arns
}

output "alarm_topic_arn" {
  description = "ARN of the alarms' topic."
  value       = module.queue.alarm_topic_arn
}

output "environment_lines" {
  description = "Lines for a shell that the tools read."
  value       = module.queue.environment_lines
}
