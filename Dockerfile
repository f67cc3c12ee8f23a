# One image for every process of ours; docker-compose.yml says which one a container runs.

FROM node:24-bookworm-slim AS base
WORKDIR /app

# Compiles with the development packages, which stay behind.
FROM base AS build
COPY package.json package-lock.json .npmrc ./
COPY packages/client/package.json packages/client/
COPY packages/console/package.json packages/console/
COPY packages/engines/package.json packages/engines/
COPY packages/inspector/package.json packages/inspector/
COPY patches patches
RUN npm ci --ignore-scripts && npx patch-package --error-on-fail
COPY tsconfig.json tsconfig.build.json ./
COPY tools tools
COPY activities activities
COPY workflows workflows
COPY src src
# The console speaks through the client.
COPY packages packages
# The pages at /docs.
COPY docs docs
COPY samples/thumbnail.jpg samples/
COPY samples/ci samples/ci
COPY deploy/comfyui/templates/custom deploy/comfyui/templates/custom
# Of the package of the client.
COPY LICENSE ./
# By its path, because the packages are there already, and their install scripts have not run.
# The builder does not see git: what is no release has its commit from here.
ARG KILN_COMMIT=
RUN node tools/run.mjs tools/build.ts --no-packages

# What runs; a stage of its own, so that a change of the code alone does not install again. Of the packages in the
# repository the service needs the inspector and the engines.
FROM base AS packages
COPY package.json package-lock.json .npmrc ./
COPY packages/client/package.json packages/client/
COPY packages/console/package.json packages/console/
COPY packages/engines/package.json packages/engines/
COPY packages/inspector/package.json packages/inspector/
# The native part of Temporal's SDK comes for five platforms.
RUN npm ci --omit=dev --ignore-scripts --workspace=kiln-inspector --workspace=kiln-engines --include-workspace-root \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} +
# What patches packages is a development package.
COPY --from=build /app/node_modules/postgres node_modules/postgres

FROM base AS production
# Renders videos; fontconfig finds the font that ships with the project. The programs of the distribution get its
# security updates with the base image, which the packaged ones of development do not.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ffmpeg fontconfig \
  && rm -rf /var/lib/apt/lists/*
# The folder of the local store belongs to the user, and a volume mounted there begins as a copy of it.
RUN install --directory --owner=node --group=node /var/lib/kiln
ENV NODE_ENV=production \
    NODE_OPTIONS=--enable-source-maps \
    HOST=0.0.0.0 \
    METRICS_PORT=9464 \
    XDG_CACHE_HOME=/tmp \
    STORAGE_PATH=/var/lib/kiln/storage
COPY package.json LICENSE ./
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
# Tables for WIRE_ALIASES.
COPY deploy/aliases deploy/aliases
# `docker compose exec api kiln operate stuck`
RUN printf '#!/bin/sh\nexec node /app/dist/kiln.mjs "$@"\n' > /usr/local/bin/kiln && chmod 755 /usr/local/bin/kiln
USER node
EXPOSE 8080
STOPSIGNAL SIGTERM
# Every process of ours: the port for metrics answers when all connections of an api are taken, too.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --start-interval=1s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/src/api.js"]
