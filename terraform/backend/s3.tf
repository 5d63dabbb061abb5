# The state in S3, for a staging queue that several people or CI share. Not used as it
# stands: see ../README.md.
terraform {
  # 1.11: use_lockfile without DynamoDB.
  required_version = ">= 1.11"

  backend "s3" {}
}
