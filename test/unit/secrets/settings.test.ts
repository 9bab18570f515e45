import { expect, test } from "vitest";
import { namesSecret, secretsOfAddress } from "../../../src/secrets/settings.ts";

test.each([
  ["aws_secret_access_key", true],
  ["aws_session_token", true],
  ["azure_storage_sas_key", true],
  ["account_key", true],
  ["Authorization", true],
  ["X-Lance-Key", true],
  ["sig", true],
  ["aws_access_key_id", false],
  ["region", false],
  ["google_service_account_path", false],
  ["bucket_key_enabled", false],
  ["x-tenant", false],
])("a setting %s is a secret: %s", (name, secret) => expect(namesSecret(name)).toBe(secret));

test.each<readonly [string, readonly string[]]>([
  ["s3://bucket/path", []],
  ["s3://AKIA:s%2Fcret@bucket/path", ["AKIA:s/cret", "s/cret"]],
  ["az://c/x?sv=1&sig=a%2Bb", ["a+b"]],
  ["folder/with@sign", []],
])("of the address %s the secrets are %j", (address, secrets) => expect(secretsOfAddress(address)).toEqual(secrets));
