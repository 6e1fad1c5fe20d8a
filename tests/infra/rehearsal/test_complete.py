# SPDX-License-Identifier: Apache-2.0
"""Whatever a stack holds is rehearsed in this folder, or here with the reason why not."""

from __future__ import annotations

from tests.infra.conftest import Synthesised

REHEARSED = {
    "AWS::ApplicationAutoScaling::ScalableTarget",
    "AWS::ApplicationAutoScaling::ScalingPolicy",
    "AWS::Athena::NamedQuery",
    "AWS::Athena::WorkGroup",
    "AWS::Chatbot::SlackChannelConfiguration",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::Events::Rule",
    "AWS::Glue::Database",
    "AWS::Glue::Job",
    "AWS::Glue::Table",
    "AWS::Glue::Trigger",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
    "AWS::IAM::Role",
    "AWS::KMS::Key",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::Function",
    "AWS::Lambda::Permission",
    "AWS::Lambda::Url",
    "AWS::Logs::LogGroup",
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SNS::Topic",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::Queue",
    "AWS::SQS::QueuePolicy",
    "AWS::Scheduler::Schedule",
    "AWS::SecretsManager::Secret",
}

NOT_REHEARSED = {
    "AWS::CDK::Metadata": "CDK's own, no call makes it",
    "AWS::CloudFormation::CustomResource": "is a call of our own function, tested as one",
    "AWS::CloudWatch::AnomalyDetector": "moto has none; part of its alarm, which is validated",
    "AWS::EC2::SecurityGroup": "two texts and the rules that are validated one by one",
    "AWS::Lambda::LayerVersion": "its content is what the collector's tests read",
    "AWS::SSM::Parameter": "a name and a text",
}


def test_every_kind_of_resource_is_rehearsed_or_excused(
    examples: dict[str, Synthesised],
) -> None:
    kinds = {
        resource["Type"]
        for example in examples.values()
        for template in example.templates.values()
        for resource in template["Resources"].values()
    }
    assert kinds - REHEARSED == kinds & set(NOT_REHEARSED)
    assert REHEARSED - kinds == set()
