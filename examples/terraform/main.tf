# SPDX-License-Identifier: Apache-2.0
# Deploys what `make template` wrote; docs/deploy.md explains it.

terraform {
  required_providers {
    aws = { source = "hashicorp/aws", version = ">= 5.0" }
  }
}

locals {
  account    = "111122223333"
  region     = "us-east-1"
  bucket     = "MY-BUCKET"             # exists, in this region
  out        = "../../.local/template" # from the folder of this file
  parameters = { AssetsBucket = local.bucket, AssetsPrefix = "kafka-lag/" }
}

provider "aws" {
  region              = local.region
  allowed_account_ids = [local.account]
}

# The old code stays until the stacks use the new code.
resource "aws_s3_object" "asset" {
  for_each = fileset("${local.out}/assets", "*")
  bucket   = local.bucket
  key      = "kafka-lag/${each.key}"
  source   = "${local.out}/assets/${each.key}"
  lifecycle { create_before_destroy = true }
}

# The hash is in the key, because Terraform updates a stack when its URL changes.
resource "aws_s3_object" "template" {
  for_each = fileset(local.out, "*.template.json")
  bucket   = local.bucket
  key      = "kafka-lag/templates/${filesha256("${local.out}/${each.key}")}.json"
  source   = "${local.out}/${each.key}"
  lifecycle { create_before_destroy = true }
}

resource "aws_cloudformation_stack" "shared" {
  name         = "kafka-lag-shared"
  template_url = "https://${local.bucket}.s3.${local.region}.amazonaws.com/${aws_s3_object.template["Shared-${local.account}-${local.region}.template.json"].key}"
  capabilities = ["CAPABILITY_IAM"]
  parameters   = local.parameters
  depends_on   = [aws_s3_object.asset]
}

resource "aws_cloudformation_stack" "orders" {
  name         = "kafka-lag-orders"
  template_url = "https://${local.bucket}.s3.${local.region}.amazonaws.com/${aws_s3_object.template["kafka-lag-orders.template.json"].key}"
  capabilities = ["CAPABILITY_IAM"]
  parameters   = local.parameters
  depends_on   = [aws_s3_object.asset, aws_cloudformation_stack.shared]
}
