# Every option, shown to do what it says, and the defaults. The provider is a mock, and
# the ARNs of the queues are as AWS would make them.

mock_provider "aws" {
  source = "./tests/mocks"

  override_resource {
    target = aws_sqs_queue.main
    values = {
      arn = "arn:aws:sqs:eu-central-1:123456789012:orders.fifo"
      id  = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo"
      url = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo"
    }
  }
  override_resource {
    target = aws_sqs_queue.dead_letter
    values = {
      arn = "arn:aws:sqs:eu-central-1:123456789012:orders-dlq.fifo"
      id  = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders-dlq.fifo"
      url = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders-dlq.fifo"
    }
  }
}

variables {
  name = "orders"
}

run "defaults_of_the_queues" {
  assert {
    condition     = aws_sqs_queue.main.name == "orders.fifo" && aws_sqs_queue.dead_letter.name == "orders-dlq.fifo"
    error_message = "the names should end in .fifo, once"
  }
  assert {
    condition     = aws_sqs_queue.main.fifo_queue && aws_sqs_queue.dead_letter.fifo_queue
    error_message = "both should be FIFO queues: SQS refuses a standard dead-letter queue for one"
  }
  assert {
    condition     = !aws_sqs_queue.main.content_based_deduplication
    error_message = "content-based deduplication should be off"
  }
  assert {
    condition     = aws_sqs_queue.main.deduplication_scope == "queue" && aws_sqs_queue.main.fifo_throughput_limit == "perQueue"
    error_message = "scope and limit should be those of the queue"
  }
  assert {
    condition     = aws_sqs_queue.main.delay_seconds == 0 && aws_sqs_queue.main.visibility_timeout_seconds == 120
    error_message = "no delay, and two minutes of visibility timeout"
  }
  assert {
    condition     = aws_sqs_queue.main.message_retention_seconds == 345600 && aws_sqs_queue.dead_letter.message_retention_seconds == 1209600
    error_message = "four days in the queue, and fourteen in the dead-letter queue"
  }
  assert {
    condition     = length(aws_sqs_queue.main.tags) == 0
    error_message = "no tags, and above all none that permits verify"
  }
}

run "defaults_of_redrive" {
  assert {
    condition     = aws_sqs_queue_redrive_policy.main.queue_url == aws_sqs_queue.main.id
    error_message = "the redrive policy belongs to the queue"
  }
  assert {
    condition = jsondecode(aws_sqs_queue_redrive_policy.main.redrive_policy) == {
      deadLetterTargetArn = "arn:aws:sqs:eu-central-1:123456789012:orders-dlq.fifo"
      maxReceiveCount     = 3
    }
    error_message = "three receives, then the dead-letter queue"
  }
  assert {
    condition     = aws_sqs_queue_redrive_allow_policy.dead_letter[0].queue_url == aws_sqs_queue.dead_letter.id
    error_message = "the allow policy belongs to the dead-letter queue"
  }
  assert {
    condition = jsondecode(aws_sqs_queue_redrive_allow_policy.dead_letter[0].redrive_allow_policy) == {
      redrivePermission = "byQueue"
      sourceQueueArns   = ["arn:aws:sqs:eu-central-1:123456789012:orders.fifo"]
    }
    error_message = "only the queue may use the dead-letter queue"
  }
}

run "defaults_of_encryption_and_tls" {
  assert {
    condition     = aws_sqs_queue.main.sqs_managed_sse_enabled && aws_sqs_queue.dead_letter.sqs_managed_sse_enabled
    error_message = "both queues should be encrypted by SQS"
  }
  assert {
    condition = alltrue([for policy in [aws_sqs_queue_policy.main[0].policy, aws_sqs_queue_policy.dead_letter[0].policy] :
      jsondecode(policy).Statement[0].Effect == "Deny" && jsondecode(policy).Statement[0].Condition.Bool["aws:SecureTransport"] == "false"
    ])
    error_message = "both queues should deny what comes without TLS"
  }
  assert {
    condition     = jsondecode(aws_sqs_queue_policy.dead_letter[0].policy).Statement[0].Resource == aws_sqs_queue.dead_letter.arn
    error_message = "each policy names its own queue"
  }
}

run "high_throughput" {
  variables {
    deduplication_scope   = "messageGroup"
    fifo_throughput_limit = "perMessageGroupId"
  }
  assert {
    condition     = aws_sqs_queue.main.deduplication_scope == "messageGroup" && aws_sqs_queue.main.fifo_throughput_limit == "perMessageGroupId"
    error_message = "the queue should have high throughput"
  }
  assert {
    condition     = aws_sqs_queue.dead_letter.deduplication_scope == "messageGroup" && aws_sqs_queue.dead_letter.fifo_throughput_limit == "perMessageGroupId"
    error_message = "and so should the dead-letter queue"
  }
}

# SQS allows the scope alone.
run "scope_of_groups_with_the_limit_of_the_queue" {
  variables {
    deduplication_scope = "messageGroup"
  }
  assert {
    condition     = output.settings.deduplication_scope == "messageGroup" && output.settings.fifo_throughput_limit == "perQueue"
    error_message = "the scope can be set without the limit"
  }
}

run "content_based" {
  variables {
    content_based_deduplication = true
  }
  assert {
    condition     = aws_sqs_queue.main.content_based_deduplication && output.settings.content_based_deduplication
    error_message = "content-based deduplication should be on"
  }
}

run "times_and_sizes" {
  variables {
    visibility_timeout_seconds    = 43200
    delay_seconds                 = 900
    receive_wait_time_seconds     = 0
    max_message_size              = 1024
    message_retention_seconds     = 1209599
    dead_letter_retention_seconds = 1209600
    max_receive_count             = 1000
  }
  assert {
    condition     = aws_sqs_queue.main.visibility_timeout_seconds == 43200 && aws_sqs_queue.main.delay_seconds == 900
    error_message = "the largest timeout and delay should be allowed"
  }
  assert {
    condition     = aws_sqs_queue.main.receive_wait_time_seconds == 0 && aws_sqs_queue.main.max_message_size == 1024
    error_message = "the smallest wait and size should be allowed"
  }
  assert {
    condition     = aws_sqs_queue.dead_letter.message_retention_seconds - aws_sqs_queue.main.message_retention_seconds == 1
    error_message = "a second longer is longer"
  }
  assert {
    condition     = jsondecode(aws_sqs_queue_redrive_policy.main.redrive_policy).maxReceiveCount == 1000
    error_message = "a thousand receives should be allowed"
  }
}

run "without_redrive_allow_policy" {
  variables {
    create_redrive_allow_policy = false
  }
  assert {
    condition     = length(aws_sqs_queue_redrive_allow_policy.dead_letter) == 0
    error_message = "there should be no redrive-allow policy"
  }
}

run "without_tls_policy" {
  variables {
    create_tls_policy = false
  }
  assert {
    condition     = length(aws_sqs_queue_policy.main) + length(aws_sqs_queue_policy.dead_letter) == 0
    error_message = "there should be no queue policy"
  }
}

run "kms" {
  variables {
    kms_key_arn                       = "arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    kms_data_key_reuse_period_seconds = 86400
  }
  assert {
    condition     = aws_sqs_queue.main.kms_master_key_id == var.kms_key_arn && aws_sqs_queue.dead_letter.kms_master_key_id == var.kms_key_arn
    error_message = "both queues should use the key"
  }
  assert {
    condition     = aws_sqs_queue.main.kms_data_key_reuse_period_seconds == 86400
    error_message = "the reuse period should be set"
  }
  assert {
    condition     = [for s in jsondecode(output.policy_documents.producer).Statement : s.Action if s.Sid == "UseTheKey"] == [["kms:Decrypt", "kms:GenerateDataKey"]]
    error_message = "a producer needs a data key, and decrypts it"
  }
  assert {
    condition     = [for s in jsondecode(output.policy_documents.consumer).Statement : s.Action if s.Sid == "UseTheKey"] == [["kms:Decrypt"]]
    error_message = "a consumer decrypts, and no more"
  }
  assert {
    condition     = length([for s in jsondecode(output.policy_documents.verifier).Statement : s if s.Sid == "UseTheKey"]) == 0
    error_message = "the verifier's own queues do not use the key"
  }
}

run "tags" {
  variables {
    tags          = { team = "payments" }
    permit_verify = true
  }
  assert {
    condition     = aws_sqs_queue.main.tags == tomap({ team = "payments", "fifoproof:permit" = "verify" })
    error_message = "the queue should have the tags and the permission"
  }
  assert {
    condition     = aws_sqs_queue.dead_letter.tags == tomap({ team = "payments" })
    error_message = "nobody is permitted to verify on the dead-letter queue"
  }
  assert {
    condition     = aws_sns_topic.alarms[0].tags == tomap({ team = "payments" }) && alltrue([for p in aws_iam_policy.role : p.tags == tomap({ team = "payments" })])
    error_message = "topic and policies should have the tags"
  }
  assert {
    condition     = alltrue([for a in aws_cloudwatch_metric_alarm.queue : a.tags == tomap({ team = "payments" })])
    error_message = "and so should the alarms"
  }
}

run "alarms_without_tags" {
  variables {
    tags       = { team = "payments" }
    tag_alarms = false
  }
  assert {
    condition     = alltrue([for a in aws_cloudwatch_metric_alarm.queue : length(a.tags) == 0]) && length(aws_sns_topic.alarms[0].tags) == 1
    error_message = "the alarms alone should be without tags"
  }
}

run "alarms" {
  assert {
    condition     = toset(keys(aws_cloudwatch_metric_alarm.queue)) == toset(["dead-letters", "duplicates", "oldest-message"])
    error_message = "there should be three alarms"
  }
  assert {
    condition = alltrue([for name, want in {
      dead-letters   = ["orders-dlq.fifo", "ApproximateNumberOfMessagesVisible", "Maximum", 0]
      oldest-message = ["orders.fifo", "ApproximateAgeOfOldestMessage", "Maximum", 900]
      duplicates     = ["orders.fifo", "NumberOfDeduplicatedSentMessages", "Sum", 100]
      } : [for a in [aws_cloudwatch_metric_alarm.queue[name]] : [a.dimensions.QueueName, a.metric_name, a.statistic, a.threshold]] == [want]
    ])
    error_message = "each alarm should watch its metric on its queue"
  }
  assert {
    condition = alltrue([for a in aws_cloudwatch_metric_alarm.queue :
      a.comparison_operator == "GreaterThanThreshold" && a.treat_missing_data == "notBreaching" && a.period == 300 && a.namespace == "AWS/SQS"
    ])
    error_message = "over the threshold in five minutes, and a queue at rest is no alarm"
  }
  assert {
    condition     = alltrue([for a in aws_cloudwatch_metric_alarm.queue : a.alarm_actions == toset([aws_sns_topic.alarms[0].arn])])
    error_message = "each alarm should publish to the topic"
  }
  assert {
    condition     = output.alarm_topic_arn == "arn:aws:sns:eu-central-1:123456789012:mock-alarms"
    error_message = "the topic should be an output"
  }
}

run "alarms_with_other_thresholds" {
  variables {
    alarm_dead_letter_depth      = 5
    alarm_oldest_message_seconds = 60
    alarm_deduplicated_messages  = 0
    alarm_period_seconds         = 60
  }
  assert {
    condition     = [for name in ["dead-letters", "oldest-message", "duplicates"] : aws_cloudwatch_metric_alarm.queue[name].threshold] == [5, 60, 0]
    error_message = "the thresholds should be those that are given"
  }
  assert {
    condition     = alltrue([for a in aws_cloudwatch_metric_alarm.queue : a.period == 60])
    error_message = "the period should be that which is given"
  }
}

run "alarms_left_out_one_by_one" {
  variables {
    alarm_dead_letter_depth     = null
    alarm_deduplicated_messages = null
  }
  assert {
    condition     = keys(aws_cloudwatch_metric_alarm.queue) == ["oldest-message"]
    error_message = "one alarm should be left"
  }
}

run "no_alarms" {
  variables {
    create_alarms      = false
    create_alarm_topic = false
  }
  assert {
    condition     = length(aws_cloudwatch_metric_alarm.queue) + length(aws_sns_topic.alarms) + length(aws_sns_topic_policy.alarms) == 0
    error_message = "there should be neither alarms nor a topic"
  }
  assert {
    condition     = output.alarm_topic_arn == null && length(output.alarm_arns) == 0
    error_message = "the outputs should say so"
  }
}

run "alarms_to_a_topic_that_exists" {
  variables {
    create_alarm_topic = false
    alarm_action_arns  = ["arn:aws:sns:eu-central-1:123456789012:oncall"]
  }
  assert {
    condition = alltrue([for a in aws_cloudwatch_metric_alarm.queue :
      a.alarm_actions == toset(["arn:aws:sns:eu-central-1:123456789012:oncall"]) && a.ok_actions == a.alarm_actions
    ])
    error_message = "the alarms should publish to that topic alone"
  }
}

run "topic" {
  variables {
    alarm_topic_kms_key_arn = "arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    alarm_emails            = ["oncall@example.com", "lead@example.com"]
  }
  assert {
    condition     = aws_sns_topic.alarms[0].name == "orders-alarms" && aws_sns_topic.alarms[0].kms_master_key_id == var.alarm_topic_kms_key_arn
    error_message = "the topic should use the key"
  }
  assert {
    condition     = toset([for s in aws_sns_topic_subscription.email : s.endpoint]) == toset(["lead@example.com", "oncall@example.com"])
    error_message = "both addresses should be subscribed"
  }
  assert {
    condition = one([for s in jsondecode(aws_sns_topic_policy.alarms[0].policy).Statement : s if s.Effect == "Allow"]).Condition == {
      StringEquals = { "aws:SourceAccount" = "123456789012" }
      ArnLike      = { "aws:SourceArn" = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:orders-*" }
    }
    error_message = "only the alarms of this queue should be able to publish"
  }
}

run "outputs" {
  assert {
    condition     = output.queue_url == "https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo" && output.queue_arn == "arn:aws:sqs:eu-central-1:123456789012:orders.fifo" && output.queue_name == "orders.fifo"
    error_message = "URL, ARN and name of the queue"
  }
  assert {
    condition     = output.dead_letter_queue_url == "https://sqs.eu-central-1.amazonaws.com/123456789012/orders-dlq.fifo" && output.dead_letter_queue_arn == "arn:aws:sqs:eu-central-1:123456789012:orders-dlq.fifo" && output.dead_letter_queue_name == "orders-dlq.fifo"
    error_message = "URL, ARN and name of the dead-letter queue"
  }
  assert {
    condition     = output.region == "eu-central-1" && output.account == "123456789012"
    error_message = "region and account of the queues"
  }
  assert {
    condition     = output.environment_lines == "export AWS_REGION='eu-central-1'\nexport DEAD_LETTER_QUEUE_URL='${output.dead_letter_queue_url}'\nexport QUEUE_URL='${output.queue_url}'"
    error_message = "the lines for a shell"
  }
}
