# What must not go unnoticed, and where it is said.

locals {
  # Dead letters by what is there: NumberOfMessagesSent does not count what SQS moves.
  alarms = {
    for name, alarm in {
      dead-letters = {
        text      = "Messages are in ${local.dead_letter_name}: each was received ${var.max_receive_count} times and never deleted"
        queue     = local.dead_letter_name
        metric    = "ApproximateNumberOfMessagesVisible"
        statistic = "Maximum"
        threshold = var.alarm_dead_letter_depth
      }
      oldest-message = {
        text      = "A message has been in ${local.queue_name} too long: the consumer is down, too slow, or held up by a group whose first message fails"
        queue     = local.queue_name
        metric    = "ApproximateAgeOfOldestMessage"
        statistic = "Maximum"
        threshold = var.alarm_oldest_message_seconds
      }
      duplicates = {
        text      = "SQS swallowed many sends to ${local.queue_name} as duplicates: a producer repeats itself, or makes one ID for different events, which are then lost"
        queue     = local.queue_name
        metric    = "NumberOfDeduplicatedSentMessages"
        statistic = "Sum"
        threshold = var.alarm_deduplicated_messages
      }
    } : name => alarm if var.create_alarms && alarm.threshold != null
  }

  alarm_actions = concat(aws_sns_topic.alarms[*].arn, var.alarm_action_arns)
}

resource "aws_cloudwatch_metric_alarm" "queue" {
  for_each = local.alarms

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.text
  namespace           = "AWS/SQS"
  metric_name         = each.value.metric
  dimensions          = { QueueName = each.value.queue }
  statistic           = each.value.statistic
  comparison_operator = "GreaterThanThreshold"
  threshold           = each.value.threshold
  period              = var.alarm_period_seconds
  evaluation_periods  = 1

  # A queue that nobody has used for six hours publishes nothing.
  treat_missing_data = "notBreaching"

  alarm_actions = local.alarm_actions
  ok_actions    = local.alarm_actions
  tags          = var.tag_alarms ? var.tags : {}
}

resource "aws_sns_topic" "alarms" {
  count = var.create_alarm_topic ? 1 : 0

  name              = "${var.name}-alarms"
  kms_master_key_id = var.alarm_topic_kms_key_arn
  tags              = var.tags
}

# Only the alarms of this account may publish, and only with TLS may anybody.
resource "aws_sns_topic_policy" "alarms" {
  count = var.create_alarm_topic ? 1 : 0

  arn = aws_sns_topic.alarms[0].arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "AlarmsPublish"
        Effect    = "Allow"
        Principal = { Service = "cloudwatch.amazonaws.com" }
        Action    = "sns:Publish"
        Resource  = aws_sns_topic.alarms[0].arn
        Condition = {
          StringEquals = { "aws:SourceAccount" = local.account }
          ArnLike      = { "aws:SourceArn" = "arn:${local.partition}:cloudwatch:${local.region}:${local.account}:alarm:${var.name}-*" }
        }
      },
      {
        Sid       = "OnlyTLS"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sns:Publish"
        Resource  = aws_sns_topic.alarms[0].arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })
}

resource "aws_sns_topic_subscription" "email" {
  for_each = var.create_alarm_topic ? var.alarm_emails : []

  topic_arn = aws_sns_topic.alarms[0].arn
  protocol  = "email"
  endpoint  = each.key
}
