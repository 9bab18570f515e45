import { expect, test } from "vitest";
import {
  namesSecret,
  secretsOfAddress,
  secretsOfProxy,
  secretsOfSettings,
} from "../../../src/secrets/find-in-settings.ts";

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
  ["AZURE_STORAGE_ACCESS_KEY", true],
  ["GOOGLE_SERVICE_ACCOUNT_KEY", true],
  ["AWS_CONTAINER_AUTHORIZATION_TOKEN", true],
  ["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", false],
  ["AWS_CONTAINER_CREDENTIALS_FULL_URI", false],
  ["AWS_CREDENTIAL_EXPIRATION", false],
  ["AZURE_AUTHORITY_HOST", false],
  ["azure_storage_authority_id", false],
  ["GOOGLE_APPLICATION_CREDENTIALS", false],
  ["x-author", false],
  ["subject_token_type", false],
  ["private_key", true],
  ["private_key_id", false],
  ["auth_provider_x509_cert_url", false],
])("a setting %s is a secret: %s", (name, secret) => expect(namesSecret(name)).toBe(secret));

test.each<readonly [string, readonly string[]]>([
  ["s3://bucket/path", []],
  ["s3://AKIA:s%2Fcret@bucket/path", ["AKIA:s/cret", "s/cret"]],
  ["az://c/x?sv=1&sig=a%2Bb", ["a+b"]],
  ["https://x/?token&key", []],
  ["s3://user:a:b@bucket", ["user:a:b", "a:b"]],
  ["https://t%2Fken:@host", ["t/ken:", "t/ken"]],
  ["folder/with@sign", []],
])("of the address %s the secrets are %j", (address, secrets) => expect(secretsOfAddress(address)).toEqual(secrets));

test.each<readonly [string, Readonly<Record<string, string>>, readonly string[]]>([
  ["a key file", { google_service_account_key: '{"client_id": "7", "private_key": "a\\nb"}' }, ["a\nb"]],
  ["a document inside another", { token: '{"source": {"id": "7", "client_secret": "a"}}' }, ["a"]],
  ["a document under a harmless name", { google_service_account: '{"refresh_token": "a"}' }, ["a"]],
  ["a document that names no secret", { token: '{"a": "b"}' }, ['{"a": "b"}']],
  ["half a document", { token: '{"a": "b"' }, ['{"a": "b"']],
])("of %s the secrets are known", (_, settings, secrets) => {
  expect(secretsOfSettings(settings)).toEqual(expect.arrayContaining([...secrets]));
  expect(new Set(secretsOfSettings(settings)).size).toBe(secrets.length);
});

test.each<readonly [string, readonly string[]]>([
  ["proxy.example.com:3128", []],
  ["http://user:s%40cret@proxy.example.com", ["user:s@cret", "s@cret"]],
  ["user:s3cret@proxy.example.com:3128", ["user:s3cret", "s3cret"]],
  [" socks5h://user:s3cret@proxy.example.com ", ["user:s3cret", "s3cret"]],
  ["http://user:a:b/c d#e@proxy.example.com", ["user:a:b/c d#e", "a:b/c d#e"]],
  ["http://t0ken@proxy.example.com", ["t0ken"]],
  ["http://t0ken:@proxy.example.com", ["t0ken:", "t0ken"]],
])("of the proxy %s the secrets are %j", (proxy, secrets) => expect(secretsOfProxy(proxy)).toEqual(secrets));
