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
# Leaves a package.json that needs just the packages that are its arguments. Most others are for tests. A package that is
# not in it is a binary of LanceDB, and has its version.
ENV ONLY='const { writeFileSync } = require("node:fs"); \
  const { dependencies, devDependencies, peerDependencies, peerDependenciesMeta, ...rest } = require("./package.json"); \
  const all = { ...dependencies, ...devDependencies }; \
  const wanted = Object.fromEntries(process.argv.slice(1).map((name) => [name, all[name] ?? all["@lancedb/lancedb"]])); \
  writeFileSync("package.json", JSON.stringify({ ...rest, dependencies: wanted }));'
# In the versions of the lock file. Without scripts: ours would build sources that are not here yet.
ENV INSTALL="npm install --ignore-scripts --no-audit --no-fund --cache /tmp/npm"

FROM install AS dependencies
# What the service needs. To the package these are optional peers. LanceDB's optional packages are its binary for each
# system, and what computes embeddings: half a gigabyte. The service needs just the binary for the system of the image.
RUN node --eval "$ONLY" @fastify/swagger @lancedb/lancedb "@lancedb/lancedb-linux-$(node --print process.arch)-gnu" \
  fastify workerpool && $INSTALL --omit=optional && rm -rf /tmp/npm

FROM install AS build
# What the command is bundled from, and what bundles it.
RUN node --eval "$ONLY" apache-arrow flatbuffers rolldown string-width undici yargs zod && $INSTALL && rm -rf /tmp/npm
COPY tsconfig.json rolldown.config.ts ./
COPY src src
RUN npx rolldown -c rolldown.config.ts && node src/main/arguments/write-help.ts && chmod 755 dist/bin.js

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
