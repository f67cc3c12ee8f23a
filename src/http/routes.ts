import { makeAnyTaskRoutes } from './any-task/routes.ts'
import type { DetailDeps } from './any-task/detail.ts'
import { makeApiKeyRoutes } from './platform/api-key-routes.ts'
import { makeArchiveDownloadRoute } from './registry/archive-download-route.ts'
import type { RedeliveryDeps } from './event/redeliver.ts'
import { makeDevelopmentRoutes } from './platform/development-routes.ts'
import type { DevelopmentDeps } from './platform/development-routes.ts'
import { makeEndpointRoutes } from './event/endpoint-routes.ts'
import type { EndpointDeps } from './event/endpoint.ts'
import { makeDocsRoutes } from './docs/routes.ts'
import type { DocsDeps } from './docs/routes.ts'
import { makeEventRoutes } from './event/routes.ts'
import { makeFileRoutes } from './platform/file-routes.ts'
import { makeHealthRoutes } from './platform/health-routes.ts'
import type { HealthDeps } from './platform/health-routes.ts'
import { makeHostNodeRoutes } from './registry/host-node-routes.ts'
import { makeImageTaskRoutes } from './image-task/routes.ts'
import { makeMemberRoutes } from './registry/member-routes.ts'
import { makeNodeRoutes } from './registry/node-routes.ts'
import { withOpenApiRoutes } from './openapi/routes.ts'
import { makeOperationsRoutes } from './platform/operations-routes.ts'
import type { OperationsDeps } from './platform/operations.ts'
import { makePermissionRoutes } from './registry/permission-routes.ts'
import { makePictureRoutes } from './registry/picture-routes.ts'
import type { PictureDeps } from './registry/picture.ts'
import { makePersonalAccessTokenRoutes } from './registry/personal-access-token-routes.ts'
import { makePublisherRoutes } from './registry/publisher-routes.ts'
import { makeRegistryAdminRoutes } from './registry/admin-routes.ts'
import { makeReviewRoutes } from './registry/review-routes.ts'
import { makeServiceRoutes } from './platform/service-routes.ts'
import type { ServiceDeps } from './platform/service-routes.ts'
import { makeStreamRoutes } from './live/routes.ts'
import { makeTrustedPublisherRoutes } from './registry/trusted-publisher-routes.ts'
import { makeUploadRoutes } from './platform/upload-routes.ts'
import type { UploadDeps } from './platform/upload-routes.ts'
import { makeUserRoutes } from './registry/user-routes.ts'
import { makeVersionFileRoutes } from './registry/version-file-routes.ts'
import { makeVersionRoutes } from './registry/version-routes.ts'
import { makeVideoTaskRoutes } from './video-task/routes.ts'
import type { CreationDeps } from './image-task/create.ts'
import { makeWebhookSecretRoutes } from './event/webhook-secret-routes.ts'
import type { WebhookSecretDeps } from './event/webhook-secret-routes.ts'
import type { RegistryDeps } from './registry/deps.ts'
import type { Route } from './route.ts'
import type { VideoTaskDeps } from './video-task/deps.ts'

export type RouteDeps = CreationDeps &
  DetailDeps &
  RegistryDeps &
  VideoTaskDeps &
  UploadDeps &
  HealthDeps &
  ServiceDeps &
  OperationsDeps &
  PictureDeps &
  DevelopmentDeps &
  DocsDeps &
  WebhookSecretDeps &
  EndpointDeps &
  RedeliveryDeps

/** Every route of the service; mounting, OpenAPI and the page of endpoints read this list. */
export const makeRoutes = (deps: RouteDeps): Route[] =>
  withOpenApiRoutes(
    [
      ...makeImageTaskRoutes(deps),
      ...makeVideoTaskRoutes(deps),
      ...makeAnyTaskRoutes(deps),
      ...makePublisherRoutes(deps),
      ...makeMemberRoutes(deps),
      ...makePersonalAccessTokenRoutes(deps),
      ...makeTrustedPublisherRoutes(deps),
      ...makeNodeRoutes(deps),
      ...makePictureRoutes(deps),
      ...makePermissionRoutes(deps),
      ...makeVersionRoutes(deps),
      ...makeReviewRoutes(deps),
      ...makeHostNodeRoutes(deps),
      ...makeRegistryAdminRoutes(deps),
      ...makeEventRoutes(deps),
      ...makeStreamRoutes(deps),
      ...makeWebhookSecretRoutes(deps),
      ...makeEndpointRoutes(deps),
      ...makeUploadRoutes(deps),
      ...makeFileRoutes(deps),
      makeArchiveDownloadRoute(deps),
      ...makeVersionFileRoutes(deps),
      ...makeUserRoutes(deps),
      ...makeApiKeyRoutes(deps),
      ...makeOperationsRoutes(deps),
      ...makeHealthRoutes(deps),
      ...makeServiceRoutes(deps),
      ...makeDevelopmentRoutes(deps),
      ...makeDocsRoutes(deps),
    ],
    deps.publicUrl,
  )
