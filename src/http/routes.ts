import { makeApiKeyRoutes } from './routes/api-key.ts'
import { makeEventRoutes } from './routes/event.ts'
import { makeFileRoutes } from './routes/file.ts'
import { makeHealthRoutes } from './routes/health.ts'
import type { HealthDeps } from './routes/health.ts'
import { makeImageTaskRoutes } from './routes/image-task.ts'
import { withOpenApiRoute } from './routes/openapi.ts'
import { makeUploadRoutes } from './routes/upload.ts'
import type { UploadDeps } from './routes/upload.ts'
import { makeVideoTaskRoutes } from './routes/video-task.ts'
import type { CreationDeps } from './image-task/create.ts'
import { makeWebhookSecretRoutes } from './routes/webhook-secret.ts'
import type { WebhookSecretDeps } from './routes/webhook-secret.ts'
import type { Route } from './route.ts'
import type { VideoTaskDeps } from './video-task/deps.ts'

export type RouteDeps = CreationDeps & VideoTaskDeps & UploadDeps & HealthDeps & WebhookSecretDeps

/** Every route of the service; mounting, OpenAPI and the README's table read this list. */
export const makeRoutes = (deps: RouteDeps): Route[] =>
  withOpenApiRoute(
    [
      ...makeImageTaskRoutes(deps),
      ...makeVideoTaskRoutes(deps),
      ...makeEventRoutes(deps),
      ...makeWebhookSecretRoutes(deps),
      ...makeUploadRoutes(deps),
      ...makeFileRoutes(deps),
      ...makeApiKeyRoutes(deps),
      ...makeHealthRoutes(deps),
    ],
    deps.publicUrl,
  )
