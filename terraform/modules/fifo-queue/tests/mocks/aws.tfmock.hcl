# What AWS would answer. The ARNs of queues are read by the module.
mock_resource "aws_sqs_queue" {
  defaults = {
    arn = "arn:aws:sqs:eu-central-1:123456789012:mock.fifo"
    id  = "https://sqs.eu-central-1.amazonaws.com/123456789012/mock.fifo"
    url = "https://sqs.eu-central-1.amazonaws.com/123456789012/mock.fifo"
  }
}

mock_resource "aws_sns_topic" {
  defaults = {
    arn = "arn:aws:sns:eu-central-1:123456789012:mock-alarms"
  }
}

mock_resource "aws_iam_policy" {
  defaults = {
    arn = "arn:aws:iam::123456789012:policy/mock"
  }
}

mock_resource "aws_cloudwatch_metric_alarm" {
  defaults = {
    arn = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:mock"
  }
}
