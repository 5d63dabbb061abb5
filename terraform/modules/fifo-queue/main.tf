# The queue and its dead-letter queue. Redrive policies are resources of their own, since
# two queues that name each other make a cycle.

locals {
  queue_name       = "${var.name}.fifo"
  dead_letter_name = "${var.name}-dlq.fifo"

  # arn:PARTITION:sqs:REGION:ACCOUNT:NAME, so that no other service need be asked.
  arn       = split(":", aws_sqs_queue.main.arn)
  partition = local.arn[1]
  region    = local.arn[3]
  account   = local.arn[4]
}

resource "aws_sqs_queue" "dead_letter" {
  name       = local.dead_letter_name
  fifo_queue = true

  message_retention_seconds  = var.dead_letter_retention_seconds
  visibility_timeout_seconds = var.visibility_timeout_seconds
  receive_wait_time_seconds  = var.receive_wait_time_seconds
  max_message_size           = var.max_message_size

  # The same as the queue's, so that what can be sent there can be moved here and back.
  deduplication_scope   = var.deduplication_scope
  fifo_throughput_limit = var.fifo_throughput_limit

  sqs_managed_sse_enabled           = var.kms_key_arn == null ? true : null
  kms_master_key_id                 = var.kms_key_arn
  kms_data_key_reuse_period_seconds = var.kms_key_arn == null ? null : var.kms_data_key_reuse_period_seconds

  tags = var.tags

  lifecycle {
    # Set by the resource below. An endpoint that answers a policy with other spaces
    # would show a difference here too.
    ignore_changes = [redrive_allow_policy]
  }
}

resource "aws_sqs_queue" "main" {
  name       = local.queue_name
  fifo_queue = true

  content_based_deduplication = var.content_based_deduplication
  deduplication_scope         = var.deduplication_scope
  fifo_throughput_limit       = var.fifo_throughput_limit

  visibility_timeout_seconds = var.visibility_timeout_seconds
  message_retention_seconds  = var.message_retention_seconds
  delay_seconds              = var.delay_seconds
  receive_wait_time_seconds  = var.receive_wait_time_seconds
  max_message_size           = var.max_message_size

  # With managed encryption and a reuse period both set, the provider waits in vain for
  # the attributes to read back.
  sqs_managed_sse_enabled           = var.kms_key_arn == null ? true : null
  kms_master_key_id                 = var.kms_key_arn
  kms_data_key_reuse_period_seconds = var.kms_key_arn == null ? null : var.kms_data_key_reuse_period_seconds

  tags = merge(var.tags, var.permit_verify ? { "fifoproof:permit" = "verify" } : {})

  lifecycle {
    ignore_changes = [redrive_policy]
  }
}

resource "aws_sqs_queue_redrive_policy" "main" {
  queue_url = aws_sqs_queue.main.id
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead_letter.arn
    maxReceiveCount     = var.max_receive_count
  })
}

resource "aws_sqs_queue_redrive_allow_policy" "dead_letter" {
  count = var.create_redrive_allow_policy ? 1 : 0

  queue_url = aws_sqs_queue.dead_letter.id
  redrive_allow_policy = jsonencode({
    redrivePermission = "byQueue"
    sourceQueueArns   = [aws_sqs_queue.main.arn]
  })
}

# After the redrive policies: an endpoint may forget the policy when another attribute
# is set.
resource "aws_sqs_queue_policy" "main" {
  count = var.create_tls_policy ? 1 : 0

  queue_url = aws_sqs_queue.main.id
  policy    = local.tls_only.main

  depends_on = [aws_sqs_queue_redrive_policy.main]
}

resource "aws_sqs_queue_policy" "dead_letter" {
  count = var.create_tls_policy ? 1 : 0

  queue_url = aws_sqs_queue.dead_letter.id
  policy    = local.tls_only.dead_letter

  depends_on = [aws_sqs_queue_redrive_allow_policy.dead_letter]
}
