// SPDX-License-Identifier: Apache-2.0
// Loaded into the CDK command line before it starts: every name below localhost is this machine,
// as S3's clients put a bucket's name before the host and few systems resolve that.
"use strict";

const dns = require("node:dns");

const lookup = dns.lookup;

dns.lookup = function (hostname, options, callback) {
  const local = hostname === "localhost" || hostname.endsWith(".localhost");
  return lookup.call(dns, local ? "127.0.0.1" : hostname, options, callback);
};
