/** S3 by Python's moto, which also checks signatures and the policies of keys. */
import { installed, quietly } from "./install.ts";
import type { StorageOptions, StoreProgram } from "./program.ts";

// Not moto[server], which brings three times as much for other services.
const packages = ["moto[s3]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5"];

/** For each request it would write a line and look for its modules in the file system, which takes longer than the answer. */
const program = (folder: string) => `
import logging, sys
sys.path.insert(0, ${JSON.stringify(folder)})
from moto import backends
from moto.server import main
logging.getLogger("werkzeug").setLevel(logging.ERROR)
modules = set(backends.list_of_moto_modules())
backends.list_of_moto_modules = lambda: modules
main()
`;

export const moto: StoreProgram = {
  async install() {
    const folder = await installed("moto-5.2.5", (folder) =>
      quietly("python3", ["-m", "pip", "install", "--quiet", "--no-compile", "--target", folder, ...packages]),
    );
    return ["python3", "-c", program(folder)];
  },
  args: (port) => ["--port", String(port)],
  async prepare(port) {
    const endpoint = `http://127.0.0.1:${port}`;
    await sent(`${endpoint}/tables`, { method: "PUT" });
    const common = { endpoint, region: "us-east-1", allow_http: "true" };
    const writer = { ...common, ...(await keyFor(endpoint, "writer", ["s3:*"])) };
    const reader = { ...common, ...(await keyFor(endpoint, "reader", ["s3:Get*", "s3:List*"])) };
    // From now on, keys are checked.
    await sent(`${endpoint}/moto-api/reset-auth`, { method: "POST", body: "0" });
    return {
      uri: (bucket) => `s3://${bucket}`,
      endpoint,
      storageOptions: writer,
      readOnly: reader,
      unknownKey: { ...writer, aws_access_key_id: "AKIAUNKNOWN" },
    };
  },
};

async function keyFor(endpoint: string, UserName: string, Action: readonly string[]): Promise<StorageOptions> {
  const policy = { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action, Resource: "*" }] };
  await iam(endpoint, { Action: "CreateUser", UserName });
  const PolicyDocument = JSON.stringify(policy);
  await iam(endpoint, { Action: "PutUserPolicy", UserName, PolicyName: "only", PolicyDocument });
  const key = await iam(endpoint, { Action: "CreateAccessKey", UserName });
  const element = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(key)![1]!;
  return { aws_access_key_id: element("AccessKeyId"), aws_secret_access_key: element("SecretAccessKey") };
}

async function iam(endpoint: string, parameters: Readonly<Record<string, string>>): Promise<string> {
  // The server finds the service in the scope of the signature, which it does not check yet.
  const authorization = "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/iam/aws4_request";
  const body = new URLSearchParams({ Version: "2010-05-08", ...parameters });
  return await sent(endpoint, { method: "POST", headers: { authorization }, body });
}

async function sent(url: string, request: RequestInit): Promise<string> {
  const answer = await fetch(url, request);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return text;
}
