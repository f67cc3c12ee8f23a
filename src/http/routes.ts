import { makeApiKeyRoutes } from './routes/api-key.ts'
import { makeArchiveRoutes } from './routes/archive.ts'
import { makeEventRoutes } from './routes/event.ts'
import { makeFileRoutes } from './routes/file.ts'
import { makeHealthRoutes } from './routes/health.ts'
import type { HealthDeps } from './routes/health.ts'
import { makeHostNodeRoutes } from './routes/host-node.ts'
import { makeImageTaskRoutes } from './routes/image-task.ts'
import { makeMemberRoutes } from './routes/member.ts'
import { makeNodeRoutes } from './routes/node.ts'
import { withOpenApiRoute } from './routes/openapi.ts'
import { makePersonalAccessTokenRoutes } from './routes/personal-access-token.ts'
import { makePublisherRoutes } from './routes/publisher.ts'
import { makeRegistryAdminRoutes } from './routes/registry-admin.ts'
import { makeReviewRoutes } from './routes/review.ts'
import { makeUploadRoutes } from './routes/upload.ts'
import type { UploadDeps } from './routes/upload.ts'
import { makeUserRoutes } from './routes/user.ts'
import { makeVersionRoutes } from './routes/version.ts'
import { makeVideoTaskRoutes } from './routes/video-task.ts'
import type { CreationDeps } from './image-task/create.ts'
import { makeWebhookSecretRoutes } from './routes/webhook-secret.ts'
import type { WebhookSecretDeps } from './routes/webhook-secret.ts'
import type { RegistryDeps } from './registry/deps.ts'
import type { Route } from './route.ts'
import type { VideoTaskDeps } from './video-task/deps.ts'

export type RouteDeps = CreationDeps &
  RegistryDeps &
  VideoTaskDeps &
  UploadDeps &
  HealthDeps &
  WebhookSecretDeps

/** Every route of the service; mounting, OpenAPI and the README's table read this list. */
export const makeRoutes = (deps: RouteDeps): Route[] =>
  withOpenApiRoute(
    [
      ...makeImageTaskRoutes(deps),
      ...makeVideoTaskRoutes(deps),
      ...makePublisherRoutes(deps),
      ...makeMemberRoutes(deps),
      ...makePersonalAccessTokenRoutes(deps),
      ...makeNodeRoutes(deps),
      ...makeVersionRoutes(deps),
      ...makeReviewRoutes(deps),
      ...makeHostNodeRoutes(deps),
      ...makeRegistryAdminRoutes(deps),
      ...makeEventRoutes(deps),
      ...makeWebhookSecretRoutes(deps),
      ...makeUploadRoutes(deps),
      ...makeFileRoutes(deps),
      ...makeArchiveRoutes(deps),
      ...makeUserRoutes(deps),
      ...makeApiKeyRoutes(deps),
      ...makeHealthRoutes(deps),
    ],
    deps.publicUrl,
  )
