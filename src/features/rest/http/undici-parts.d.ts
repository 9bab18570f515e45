declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}

declare module "undici/lib/dispatcher/dispatcher.js" {
  export { Dispatcher as default } from "undici";
}

declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  export { EnvHttpProxyAgent as default } from "undici";
}

declare module "undici/lib/api/api-connect.js" {
  const connect: unknown;
  export default connect;
}

declare module "undici/lib/api/api-request.js" {
  const request: unknown;
  export default request;
}
