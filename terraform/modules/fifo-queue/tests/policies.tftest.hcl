# Who may do what: each role's document, word for word what it needs and no more.

mock_provider "aws" {
  source = "./tests/mocks"

  override_resource {
    target = aws_sqs_queue.main
    values = {
      arn = "arn:aws-cn:sqs:cn-north-1:123456789012:orders.fifo"
    }
  }
  override_resource {
    target = aws_sqs_queue.dead_letter
    values = {
      arn = "arn:aws-cn:sqs:cn-north-1:123456789012:orders-dlq.fifo"
    }
  }
}

variables {
  name = "orders"
}

run "producer" {
  assert {
    condition = jsondecode(output.policy_documents.producer).Statement == [{
      Sid      = "Send"
      Effect   = "Allow"
      Action   = ["sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:SendMessage"]
      Resource = ["arn:aws-cn:sqs:cn-north-1:123456789012:orders.fifo"]
    }]
    error_message = "a producer sends, and reads where to and with which scope"
  }
}

run "consumer" {
  assert {
    condition = { for s in jsondecode(output.policy_documents.consumer).Statement : one(s.Resource) => s.Action } == {
      "arn:aws-cn:sqs:cn-north-1:123456789012:orders.fifo" = [
        "sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage",
      ]
      "arn:aws-cn:sqs:cn-north-1:123456789012:orders-dlq.fifo" = ["sqs:GetQueueAttributes", "sqs:GetQueueUrl"]
    }
    error_message = "a consumer receives, hides and deletes, and counts dead letters"
  }
}

run "redrive_operator" {
  assert {
    condition = { for s in jsondecode(output.policy_documents.redrive).Statement : one(s.Resource) => s.Action } == {
      "arn:aws-cn:sqs:cn-north-1:123456789012:orders-dlq.fifo" = [
        "sqs:CancelMessageMoveTask", "sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ListDeadLetterSourceQueues",
        "sqs:ListMessageMoveTasks", "sqs:ReceiveMessage", "sqs:StartMessageMoveTask",
      ]
      "arn:aws-cn:sqs:cn-north-1:123456789012:orders.fifo" = ["sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:SendMessage"]
    }
    error_message = "an operator takes from the dead-letter queue and puts into the queue"
  }
}

run "verifier_may_do_what_the_published_policy_says" {
  assert {
    condition = toset(flatten([for s in jsondecode(output.policy_documents.verifier).Statement : [for a in s.Action : [
      for r in s.Resource : "${a} on ${replace(r, "arn:aws-cn:sqs:cn-north-1:123456789012:", "arn:aws:sqs:*:*:")}"]]])) == toset(flatten([
      for s in jsondecode(file("../../../docs/policies/verifier.json")).Statement : [for a in flatten([s.Action]) : [
    for r in flatten([s.Resource]) : "${a} on ${r}"]]]))
    error_message = "the module's verifier policy and docs/policies/verifier.json should be the same"
  }
}

run "verifier_stays_with_its_own_queues" {
  assert {
    condition = alltrue([for s in jsondecode(output.policy_documents.verifier).Statement :
      s.Resource == ["arn:aws-cn:sqs:cn-north-1:123456789012:fifoproof-*"] || s.Action == ["sqs:ListQueues"]
    ])
    error_message = "a verifier may only list what it has not made"
  }
  assert {
    condition     = !strcontains(output.policy_documents.verifier, "orders.fifo")
    error_message = "without permit_verify the queue is none of the verifier's business"
  }
}

run "verifier_on_a_queue_that_permits_it" {
  variables {
    permit_verify = true
    kms_key_arn   = "arn:aws-cn:kms:cn-north-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
  }
  assert {
    condition = [for s in jsondecode(output.policy_documents.verifier).Statement : s.Action if s.Resource == ["arn:aws-cn:sqs:cn-north-1:123456789012:orders.fifo"]] == [
      one(jsondecode(file("../../../docs/policies/verifier-queue.json")).Statement).Action
    ]
    error_message = "there it may do what docs/policies/verifier-queue.json says: nothing that changes or deletes the queue"
  }
  assert {
    condition     = length([for s in jsondecode(output.policy_documents.verifier).Statement : s if s.Sid == "UseTheKey"]) == 1
    error_message = "and use the queue's key"
  }
}

run "nobody_has_a_wildcard_action" {
  assert {
    condition = alltrue(flatten([for document in output.policy_documents : [for s in jsondecode(document).Statement : [
      for a in s.Action : !strcontains(a, "*")
    ]]]))
    error_message = "each action is named"
  }
}

run "names_and_path" {
  variables {
    iam_path = "/staging/"
  }
  assert {
    condition     = [for p in aws_iam_policy.role : p.name] == ["orders-cn-north-1-consumer", "orders-cn-north-1-producer", "orders-cn-north-1-redrive", "orders-cn-north-1-verifier"]
    error_message = "IAM has no regions, so the names should carry the region"
  }
  assert {
    condition     = alltrue([for p in aws_iam_policy.role : p.path == "/staging/"])
    error_message = "the path should be that which is given"
  }
  assert {
    condition     = keys(output.policy_arns) == ["consumer", "producer", "redrive", "verifier"]
    error_message = "each policy's ARN should be an output"
  }
}

run "only_some_policies" {
  variables {
    iam_policies = ["producer"]
  }
  assert {
    condition     = keys(aws_iam_policy.role) == ["producer"] && keys(output.policy_arns) == ["producer"]
    error_message = "only the producer's policy should be created"
  }
  assert {
    condition     = length(output.policy_documents) == 4
    error_message = "the documents should be outputs all the same"
  }
}
