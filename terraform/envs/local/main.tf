# The staging queue on LocalStack, or another endpoint that speaks SQS, SNS, IAM,
# CloudWatch, KMS and STS. What differs from ../staging is the provider and the defaults
# of variables.

provider "aws" {
  region     = var.region
  access_key = "test"
  secret_key = "test"

  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true

  endpoints {
    cloudwatch = var.endpoint
    iam        = var.endpoint
    kms        = var.endpoint
    sns        = var.endpoint
    sqs        = var.endpoint
    sts        = var.endpoint
  }
}

module "queue" {
  source = "../../modules/fifo-queue"

  name          = var.name
  tags          = merge({ environment = "local", "managed-by" = "terraform" }, var.tags)
  permit_verify = var.permit_verify

  content_based_deduplication = var.content_based_deduplication
  deduplication_scope         = var.deduplication_scope
  fifo_throughput_limit       = var.fifo_throughput_limit
  visibility_timeout_seconds  = var.visibility_timeout_seconds
  max_receive_count           = var.max_receive_count
  kms_key_arn                 = var.kms_key_arn

  create_redrive_allow_policy = var.create_redrive_allow_policy
  iam_policies                = var.iam_policies
  create_alarms               = var.create_alarms
  create_alarm_topic          = var.create_alarms
  alarm_emails                = var.alarm_emails
  tag_alarms                  = var.tag_alarms
}
