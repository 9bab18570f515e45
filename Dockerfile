# The table service: migrate serve, with its tables on the volume /data.
#
#   docker build --tag lance-migrate .
#   docker run --publish 2333:2333 --volume tables:/data --env MIGRATE_API_KEY lance-migrate [--database NAME]
#
# The command: migrate, with the project at /project.
#
#   docker build --target command --tag migrate .
#   docker run --rm --volume ./:/project --env MIGRATE_API_KEY migrate up --target production
#
# Networks that need them: --build-arg HTTPS_PROXY=… and --build-arg NPM_CONFIG_REGISTRY=…

FROM node:24-bookworm-slim AS install
ARG NPM_CONFIG_REGISTRY
WORKDIR /app
COPY package.json package-lock.json ./
# Without scripts: ours would build sources that are not here yet, the package node's would fetch a second Node.
RUN npm ci --ignore-scripts && npm cache clean --force

FROM install AS dependencies
# What the service needs, in the versions of the lock file. To the package these are optional peers, and what is not needed
# is a dev dependency. What LanceDB brings along to compute embeddings is more than half of all, and the service computes none.
RUN npm pkg set "dependencies=$(node --print 'const { dependencies, devDependencies } = require("./package.json"); \
    const all = { ...dependencies, ...devDependencies }; \
    const names = ["@fastify/swagger", "@lancedb/lancedb", "fastify", "workerpool"]; \
    JSON.stringify(Object.fromEntries(names.map((name) => [name, all[name]])))')" --json && \
  npm pkg delete devDependencies peerDependencies peerDependenciesMeta && \
  npm prune --ignore-scripts && cd node_modules && \
  rm -rf @huggingface @img onnxruntime-common onnxruntime-node onnxruntime-web openai sharp

FROM install AS build
COPY tsconfig.json tsconfig.build.json rolldown.config.ts rolldown.types.config.ts ./
COPY src src
RUN npm run build

FROM node:24-bookworm-slim AS base
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY --from=build /app/dist dist

FROM base AS command
# So that a configuration and migrations find the package and its engine without an installation of their own.
RUN ln -s /app /app/node_modules/lance-migrate && ln -s /app/node_modules /node_modules && \
  mkdir /project && chown node:node /project
WORKDIR /project
USER node
# Node is the first process, and stops at a safe point on SIGTERM.
ENTRYPOINT ["node", "/app/dist/bin.js"]

FROM base AS service
# A new volume takes over the owner of the folder that it is mounted on.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 2333
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:2333/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The key comes from MIGRATE_API_KEY alone: anybody may read arguments and layers.
ENTRYPOINT ["node", "dist/bin.js", "serve", "--data", "/data", "--host", "0.0.0.0", "--port", "2333"]
