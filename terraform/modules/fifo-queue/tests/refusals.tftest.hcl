# Every validation, shown to refuse, and beside it the nearest value that is allowed.
# Nothing is asked of AWS: the provider is a mock.

mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name = "orders"
}

run "name_with_suffix" {
  command = plan
  variables {
    name = "orders.fifo"
  }
  expect_failures = [var.name]
}

run "name_with_other_characters" {
  command = plan
  variables {
    name = "orders v2"
  }
  expect_failures = [var.name]
}

run "name_empty" {
  command = plan
  variables {
    name = ""
  }
  expect_failures = [var.name]
}

# 72 characters: with -dlq.fifo 81.
run "name_too_long" {
  command = plan
  variables {
    name = "a23456789b23456789c23456789d23456789e23456789f23456789g23456789h23456789"
  }
  expect_failures = [var.name]
}

# 71 characters: 80 with -dlq.fifo.
run "name_as_long_as_can_be" {
  command = plan
  variables {
    name = "a23456789b23456789c23456789d23456789e23456789f23456789g23456789h2345678"
  }
  assert {
    condition     = length(aws_sqs_queue.dead_letter.name) == 80
    error_message = "the dead-letter queue's name should have 80 characters"
  }
}

run "name_of_a_run" {
  command = plan
  variables {
    name = "fifoproof-staging"
  }
  expect_failures = [var.name]
}

run "scope_unknown" {
  command = plan
  variables {
    deduplication_scope = "group"
  }
  expect_failures = [var.deduplication_scope]
}

run "throughput_unknown" {
  command = plan
  variables {
    fifo_throughput_limit = "perGroup"
  }
  expect_failures = [var.fifo_throughput_limit]
}

run "throughput_without_its_scope" {
  command = plan
  variables {
    fifo_throughput_limit = "perMessageGroupId"
  }
  expect_failures = [var.fifo_throughput_limit]
}

run "visibility_too_long" {
  command = plan
  variables {
    visibility_timeout_seconds = 43201
  }
  expect_failures = [var.visibility_timeout_seconds]
}

run "visibility_negative" {
  command = plan
  variables {
    visibility_timeout_seconds = -1
  }
  expect_failures = [var.visibility_timeout_seconds]
}

run "delay_too_long" {
  command = plan
  variables {
    delay_seconds = 901
  }
  expect_failures = [var.delay_seconds]
}

run "receive_wait_too_long" {
  command = plan
  variables {
    receive_wait_time_seconds = 21
  }
  expect_failures = [var.receive_wait_time_seconds]
}

run "message_too_large" {
  command = plan
  variables {
    max_message_size = 262145
  }
  expect_failures = [var.max_message_size]
}

run "retention_too_short" {
  command = plan
  variables {
    message_retention_seconds    = 59
    alarm_oldest_message_seconds = null
  }
  expect_failures = [var.message_retention_seconds]
}

run "dead_letter_retention_too_long" {
  command = plan
  variables {
    dead_letter_retention_seconds = 1209601
  }
  expect_failures = [var.dead_letter_retention_seconds]
}

run "dead_letters_kept_no_longer" {
  command = plan
  variables {
    message_retention_seconds     = 345600
    dead_letter_retention_seconds = 345600
  }
  expect_failures = [var.dead_letter_retention_seconds]
}

run "no_receives" {
  command = plan
  variables {
    max_receive_count = 0
  }
  expect_failures = [var.max_receive_count]
}

run "half_a_receive" {
  command = plan
  variables {
    max_receive_count = 2.5
  }
  expect_failures = [var.max_receive_count]
}

run "key_by_alias" {
  command = plan
  variables {
    kms_key_arn = "alias/orders"
  }
  expect_failures = [var.kms_key_arn]
}

run "data_key_reuse_too_short" {
  command = plan
  variables {
    kms_data_key_reuse_period_seconds = 59
  }
  expect_failures = [var.kms_data_key_reuse_period_seconds]
}

run "policy_of_nobody" {
  command = plan
  variables {
    iam_policies = ["producer", "administrator"]
  }
  expect_failures = [var.iam_policies]
}

run "iam_path_without_slash" {
  command = plan
  variables {
    iam_path = "staging"
  }
  expect_failures = [var.iam_path]
}

run "alarm_depth_negative" {
  command = plan
  variables {
    alarm_dead_letter_depth = -1
  }
  expect_failures = [var.alarm_dead_letter_depth]
}

run "alarm_age_zero" {
  command = plan
  variables {
    alarm_oldest_message_seconds = 0
  }
  expect_failures = [var.alarm_oldest_message_seconds]
}

run "alarm_age_beyond_retention" {
  command = plan
  variables {
    message_retention_seconds    = 3600
    alarm_oldest_message_seconds = 3600
  }
  expect_failures = [var.alarm_oldest_message_seconds]
}

run "alarm_duplicates_negative" {
  command = plan
  variables {
    alarm_deduplicated_messages = -1
  }
  expect_failures = [var.alarm_deduplicated_messages]
}

run "alarm_period_uneven" {
  command = plan
  variables {
    alarm_period_seconds = 90
  }
  expect_failures = [var.alarm_period_seconds]
}

run "topic_under_the_managed_key" {
  command = plan
  variables {
    alarm_topic_kms_key_arn = "alias/aws/sns"
  }
  expect_failures = [var.alarm_topic_kms_key_arn]
}

run "email_without_at" {
  command = plan
  variables {
    alarm_emails = ["oncall"]
  }
  expect_failures = [var.alarm_emails]
}

run "email_without_topic" {
  command = plan
  variables {
    alarm_emails       = ["oncall@example.com"]
    create_alarm_topic = false
  }
  expect_failures = [var.alarm_emails]
}

run "action_by_name" {
  command = plan
  variables {
    alarm_action_arns = ["oncall"]
  }
  expect_failures = [var.alarm_action_arns]
}
