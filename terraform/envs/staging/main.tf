# A staging queue on AWS. Credentials come from the AWS environment or profile, and must
# be those of the account that is named here.

provider "aws" {
  region              = var.region
  allowed_account_ids = [var.account_id]
}

module "queue" {
  source = "../../modules/fifo-queue"

  name          = var.name
  tags          = merge({ environment = "staging", "managed-by" = "terraform" }, var.tags)
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
}
