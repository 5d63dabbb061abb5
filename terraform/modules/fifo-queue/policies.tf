# Who may do what. jsonencode and not aws_iam_policy_document, so that 'terraform test'
# sees the documents that AWS will see.

locals {
  tls_only = {
    for queue, arn in { main = aws_sqs_queue.main.arn, dead_letter = aws_sqs_queue.dead_letter.arn } : queue => jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Sid       = "OnlyTLS"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sqs:*"
        Resource  = arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      }]
    })
  }

  # The batch calls need the permission of the single one, which has no name of its own.
  producer = [{
    Sid      = "Send"
    Effect   = "Allow"
    Action   = ["sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:SendMessage"]
    Resource = [aws_sqs_queue.main.arn]
  }]

  consumer = [
    {
      Sid      = "Receive"
      Effect   = "Allow"
      Action   = ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage"]
      Resource = [aws_sqs_queue.main.arn]
    },
    {
      Sid      = "CountDeadLetters"
      Effect   = "Allow"
      Action   = ["sqs:GetQueueAttributes", "sqs:GetQueueUrl"]
      Resource = [aws_sqs_queue.dead_letter.arn]
    },
  ]

  # 'consumer dlq' takes from the dead-letter queue and sends to the other; so does
  # StartMessageMoveTask, with the permissions of who started it.
  redrive = [
    {
      Sid    = "TakeDeadLetters"
      Effect = "Allow"
      Action = [
        "sqs:CancelMessageMoveTask", "sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ListDeadLetterSourceQueues",
        "sqs:ListMessageMoveTasks", "sqs:ReceiveMessage", "sqs:StartMessageMoveTask",
      ]
      Resource = [aws_sqs_queue.dead_letter.arn]
    },
    {
      Sid      = "PutThemBack"
      Effect   = "Allow"
      Action   = ["sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:SendMessage"]
      Resource = [aws_sqs_queue.main.arn]
    },
  ]

  # What a run of the suite does on the queues that it makes, tags and deletes itself, and
  # what 'fifoproof clean' needs to find those that a killed run left. The same as
  # docs/policies/verifier.json, narrowed to the region and account of this queue.
  verifier = [
    {
      Sid    = "QueuesOfRuns"
      Effect = "Allow"
      Action = [
        "sqs:ChangeMessageVisibility", "sqs:CreateQueue", "sqs:DeleteMessage", "sqs:DeleteQueue", "sqs:GetQueueAttributes", "sqs:GetQueueUrl",
        "sqs:ListDeadLetterSourceQueues", "sqs:ListMessageMoveTasks", "sqs:ListQueueTags", "sqs:PurgeQueue", "sqs:ReceiveMessage", "sqs:SendMessage",
        "sqs:SetQueueAttributes", "sqs:StartMessageMoveTask", "sqs:TagQueue",
      ]
      Resource = ["arn:${local.partition}:sqs:${local.region}:${local.account}:fifoproof-*"]
    },
    {
      Sid      = "FindLeftovers"
      Effect   = "Allow"
      Action   = ["sqs:ListQueues"]
      Resource = ["*"] # it has no resource to name
    },
  ]

  # What 'verify --queue' does to a queue that it did not make.
  verifier_here = [for sid in var.permit_verify ? ["VerifyThisQueue"] : [] : {
    Sid    = sid
    Effect = "Allow"
    Action = [
      "sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ListQueueTags", "sqs:ReceiveMessage", "sqs:SendMessage",
    ]
    Resource = [aws_sqs_queue.main.arn]
  }]

  # To send, SQS needs a data key and decrypts it; to receive, it decrypts.
  kms = {
    producer = ["kms:Decrypt", "kms:GenerateDataKey"]
    consumer = ["kms:Decrypt"]
    verifier = var.permit_verify ? ["kms:Decrypt", "kms:GenerateDataKey"] : []
    redrive  = ["kms:Decrypt", "kms:GenerateDataKey"]
  }

  policy_documents = {
    for role, statements in {
      producer = local.producer
      consumer = local.consumer
      verifier = concat(local.verifier, local.verifier_here)
      redrive  = local.redrive
      } : role => jsonencode({
        Version = "2012-10-17"
        Statement = concat(statements, [for key in var.kms_key_arn == null || length(local.kms[role]) == 0 ? [] : [var.kms_key_arn] : {
          Sid      = "UseTheKey"
          Effect   = "Allow"
          Action   = local.kms[role]
          Resource = [key]
        }])
    })
  }
}

# IAM has no regions, so the region is in the name.
resource "aws_iam_policy" "role" {
  for_each = var.iam_policies

  name        = "${var.name}-${local.region}-${each.key}"
  path        = var.iam_path
  description = "What a ${each.key} needs on ${local.queue_name}, and no more"
  policy      = local.policy_documents[each.key]
  tags        = var.tags
}
