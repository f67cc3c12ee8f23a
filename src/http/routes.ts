import type { AliasTable } from '../alias/table.ts'
import { makeAnyTaskRoutes } from './any-task/routes.ts'
import { makeTaskStreamRoute } from './any-task/stream-route.ts'
import { makeUsageRoutes } from './usage/routes.ts'
import type { AnyTaskDeps } from './any-task/detail.ts'
import type { DeletionDeps } from '../tasks/delete.ts'
import { makeApiKeyRoutes } from './platform/api-key-routes.ts'
import { makeBatchRoutes } from './bulk/batch-routes.ts'
import type { BulkDeps } from './bulk/bulk.ts'
import { makeOperationRoutes } from './bulk/operation-routes.ts'
import { uploadArchive } from './registry/archive.ts'
import { makeArchiveDownloadRoute } from './registry/archive-download-route.ts'
import { makeDevelopmentRoutes, type DevelopmentDeps } from './platform/development-routes.ts'
import { makePublisherScope } from './registry/endpoint-scope.ts'
import { makeEndpointRoutes } from './event/endpoint-routes.ts'
import type { EndpointDeps } from './event/endpoint.ts'
import { makeDocsRoutes, type DocsDeps } from './docs/routes.ts'
import { makeEventRoutes } from './event/routes.ts'
import { makeFileRoutes, type FileRouteDeps } from './platform/file-routes.ts'
import { makeExampleWorkflowRoute } from './registry/example-workflow-route.ts'
import { makeGraphRoutes } from './registry/graph-routes.ts'
import { makeHealthRoutes, type HealthDeps } from './platform/health-routes.ts'
import { makeHostNodeRoutes } from './registry/host-node-routes.ts'
import { makeImageTaskRoutes } from './image-task/routes.ts'
import { makeInvitationRoutes, type InvitationDeps } from './platform/invitation-routes.ts'
import { makeMemberRoutes } from './registry/member-routes.ts'
import { makeNodeRoutes } from './registry/node-routes.ts'
import { withOpenApiRoutes } from './openapi/routes.ts'
import { makeOperationsRoutes } from './platform/operations-routes.ts'
import type { OperationsDeps } from './platform/operations.ts'
import { makeOwnerLimitRoutes } from './platform/owner-limit-routes.ts'
import { makePauseRoutes } from './platform/pause-routes.ts'
import { makePermissionRoutes } from './registry/permission-routes.ts'
import { makePictureRoutes } from './registry/picture-routes.ts'
import type { PictureDeps } from './registry/picture-routes.ts'
import { makePersonalAccessTokenRoutes } from './registry/personal-access-token-routes.ts'
import { makePublisherRoutes } from './registry/publisher-routes.ts'
import { makeRatingRoutes } from './registry/rating-routes.ts'
import { makeRegistryAdminRoutes } from './registry/admin-routes.ts'
import { makeReportRoutes } from './registry/report-routes.ts'
import { makeTransferRoutes } from './registry/transfer-routes.ts'
import { makeReviewRoutes } from './registry/review-routes.ts'
import { makeServiceRoutes, type ServiceDeps } from './platform/service-routes.ts'
import { makeTemplateRoutes, type TemplateDeps } from './template/routes.ts'
import { makeTrustedPublisherRoutes } from './registry/trusted-publisher-routes.ts'
import { makeUploadRoutes, type UploadDeps } from './platform/upload-routes.ts'
import { makeUserRoutes } from './registry/user-routes.ts'
import { makePublishRoute } from './registry/publish-route.ts'
import { makeVersionFileRoutes, type VersionFileDeps } from './registry/version-file-routes.ts'
import { makeVersionRoutes } from './registry/version-routes.ts'
import { makeVersionStreamRoute } from './registry/version-stream-route.ts'
import { VIDEO_ERRORS } from './video-task/error-form.ts'
import { makeVideoTaskRoutes } from './video-task/routes.ts'
import type { AdmissionRules } from '../db/task/admission.ts'
import type { TaskDeps } from '../tasks/deps.ts'
import { makeWebhookSecretRoutes } from './event/webhook-secret-routes.ts'
import type {
  CheckDeps,
  HostNodeDeps,
  PublishDeps,
  PublisherDeps,
  RatingDeps,
  TokenDeps,
  TrustDeps,
  VersionDeps,
} from './registry/deps.ts'
import type { LiveDeps } from './live/prefer.ts'
import type { Route } from './route.ts'
import { EVENT_NAMES } from './event/schema-names.ts'
import { REGISTRY_NAMES } from './registry/schema-names.ts'
import { TASK_NAMES } from './task/schema-names.ts'
import type { VideoTaskDeps } from '../tasks/create-video.ts'

/** One bag for each area. `src/api.ts` fills them; a signature in the area names the part that it needs. */
export interface RouteDeps {
  publicUrl: string
  /** Other names, which the description shows, too. */
  aliases: AliasTable | undefined
  imageTask: TaskDeps & LiveDeps & AdmissionRules
  template: TemplateDeps & LiveDeps & AdmissionRules
  videoTask: VideoTaskDeps & LiveDeps
  anyTask: AnyTaskDeps & DeletionDeps
  bulk: BulkDeps
  registry: VersionDeps & PublisherDeps & HostNodeDeps & CheckDeps & TokenDeps & RatingDeps
  publish: PublishDeps
  trust: TrustDeps
  picture: PictureDeps
  event: EndpointDeps
  upload: UploadDeps
  file: FileRouteDeps & VersionFileDeps
  platform: OperationsDeps & HealthDeps & ServiceDeps & DevelopmentDeps & InvitationDeps
  docs: DocsDeps
}

/** Every route of the service; mounting, OpenAPI and the page of endpoints read this list. */
export const makeRoutes = (deps: RouteDeps): Route[] =>
  withOpenApiRoutes(
    [
      ...makeImageTaskRoutes(deps.imageTask),
      ...makeTemplateRoutes(deps.template),
      ...makeVideoTaskRoutes(deps.videoTask),
      ...makeUsageRoutes(deps.anyTask),
      ...makeAnyTaskRoutes(deps.anyTask),
      ...makeBatchRoutes(deps.bulk),
      ...makeOperationRoutes(deps.bulk),
      ...makePublisherRoutes(deps.registry),
      ...makeMemberRoutes(deps.registry),
      ...makePersonalAccessTokenRoutes(deps.registry),
      ...makeTrustedPublisherRoutes(deps.trust),
      ...makeNodeRoutes(deps.registry),
      ...makePictureRoutes(deps.picture),
      ...makePermissionRoutes(deps.registry),
      makePublishRoute(deps.publish),
      ...makeVersionRoutes(deps.registry),
      ...makeReviewRoutes(deps.registry),
      ...makeReportRoutes(deps.registry),
      ...makeTransferRoutes(deps.registry),
      ...makeRatingRoutes(deps.registry),
      ...makeHostNodeRoutes(deps.registry),
      ...makeGraphRoutes(deps.registry),
      makeExampleWorkflowRoute(deps.registry),
      ...makeRegistryAdminRoutes(deps.registry),
      ...makeEventRoutes(deps.event),
      makeTaskStreamRoute(deps.anyTask),
      makeVersionStreamRoute(deps.registry),
      ...makeWebhookSecretRoutes(deps.event),
      ...makeEndpointRoutes(deps.event, makePublisherScope(deps.event)),
      ...makeUploadRoutes(deps.upload, uploadArchive),
      ...makeFileRoutes(deps.file),
      makeArchiveDownloadRoute(deps.file),
      ...makeVersionFileRoutes(deps.file),
      ...makeUserRoutes(deps.registry),
      ...makeApiKeyRoutes(deps.registry),
      ...makeInvitationRoutes(deps.platform),
      ...makeOperationsRoutes(deps.platform),
      ...makePauseRoutes(deps.platform),
      ...makeOwnerLimitRoutes(deps.platform),
      ...makeHealthRoutes(deps.platform),
      ...makeServiceRoutes(deps.platform),
      ...makeDevelopmentRoutes(deps.platform),
      ...makeDocsRoutes(deps.docs),
    ],
    {
      publicUrl: deps.publicUrl,
      aliases: deps.aliases,
      errorForm: VIDEO_ERRORS,
      names: { ...TASK_NAMES, ...EVENT_NAMES, ...REGISTRY_NAMES },
    },
  )
