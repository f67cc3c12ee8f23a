import type { AliasTable } from '../platform/alias/table.ts'
import { makeAnyTaskRoutes } from '../tasks/http/any/routes.ts'
import { makeTaskStreamRoute } from '../tasks/http/any/stream-route.ts'
import { makeUsageRoutes } from '../tasks/http/usage/routes.ts'
import type { AnyTaskDeps } from '../tasks/http/any/detail.ts'
import type { DeletionDeps } from '../tasks/delete.ts'
import { makeApiKeyRoutes } from '../identity/http/api-key-routes.ts'
import { makeBatchRoutes } from '../tasks/http/bulk/batch-routes.ts'
import type { BulkDeps } from '../tasks/http/bulk/bulk.ts'
import { makeOperationRoutes } from '../tasks/http/bulk/operation-routes.ts'
import { uploadArchive } from '../registry/http/archive.ts'
import { makeCheckRoute, type CheckArchiveDeps } from '../registry/http/check-route.ts'
import { makeArchiveDownloadRoute } from '../registry/http/archive-download-route.ts'
import { makeDevelopmentRoutes, type DevelopmentDeps } from '../identity/http/development-routes.ts'
import { makePublisherScope } from '../registry/http/endpoint-scope.ts'
import { makeEndpointRoutes } from '../events/http/endpoint-routes.ts'
import type { EndpointDeps } from '../events/http/endpoint.ts'
import { makeDocsRoutes, type DocsDeps } from '../platform/http/docs/routes.ts'
import { makeEventRoutes } from '../events/http/routes.ts'
import { makeFileRoutes, type FileRouteDeps } from '../tasks/http/file-routes.ts'
import { makeExampleWorkflowRoute } from '../registry/http/example-workflow-route.ts'
import { makeGraphRoutes } from '../registry/http/graph-routes.ts'
import { makeHealthRoutes, type HealthDeps } from '../platform/http/health-routes.ts'
import { makeHostNodeRoutes } from '../registry/http/host-node-routes.ts'
import { makeImageTaskRoutes } from '../tasks/http/image/routes.ts'
import { makeInvitationRoutes, type InvitationDeps } from '../identity/http/invitation-routes.ts'
import { makeMemberRoutes } from '../registry/http/member-routes.ts'
import { makeNodeRoutes } from '../registry/http/node-routes.ts'
import { withOpenApiRoutes } from '../platform/http/openapi/routes.ts'
import { makeOperationsRoutes } from './operations-routes.ts'
import type { OperationsDeps } from './operations.ts'
import { makeOwnerLimitRoutes } from '../tasks/http/owner-limit-routes.ts'
import { makePauseRoutes } from '../tasks/http/pause-routes.ts'
import { makePermissionRoutes } from '../registry/http/permission-routes.ts'
import { makePictureRoutes } from '../registry/http/picture-routes.ts'
import type { PictureDeps } from '../registry/http/picture-routes.ts'
import { makePersonalAccessTokenRoutes } from '../registry/http/personal-access-token-routes.ts'
import { makePublisherRoutes } from '../registry/http/publisher-routes.ts'
import { limitReaders } from '../registry/http/readers.ts'
import { makeRatingRoutes } from '../registry/http/rating-routes.ts'
import { makeRegistryAdminRoutes } from '../registry/http/admin-routes.ts'
import { makeReportRoutes } from '../registry/http/report-routes.ts'
import { makeTransferRoutes } from '../registry/http/transfer-routes.ts'
import { makeReviewRoutes } from '../registry/http/review-routes.ts'
import { makeServiceRoutes, type ServiceDeps } from '../tasks/http/service-routes.ts'
import { findModelInstances } from '../engines/db/fleet.ts'
import { makePredictionRoute } from '../engines/http/prediction-route.ts'
import { makeTemplateRoutes, type TemplateDeps } from '../engines/http/template/routes.ts'
import { makeTrustedPublisherRoutes } from '../registry/http/trusted-publisher-routes.ts'
import { makeUploadRoutes, type UploadDeps } from '../tasks/http/upload-routes.ts'
import { makeUserRoutes } from '../registry/http/user-routes.ts'
import { makePublishRoute } from '../registry/http/publish-route.ts'
import {
  makeVersionFileRoutes,
  type VersionFileDeps,
} from '../registry/http/version-file-routes.ts'
import { makeVersionRoutes } from '../registry/http/version-routes.ts'
import { makeVersionStreamRoute } from '../registry/http/version-stream-route.ts'
import { VIDEO_ERRORS } from '../tasks/http/video/error-form.ts'
import { makeVideoTaskRoutes } from '../tasks/http/video/routes.ts'
import type { AdmissionRules } from '../tasks/db/admission.ts'
import type { TaskDeps } from '../tasks/deps.ts'
import { makeWebhookSecretRoutes } from '../events/http/webhook-secret-routes.ts'
import type {
  CheckDeps,
  HostNodeDeps,
  PublishDeps,
  PublisherDeps,
  RatingDeps,
  TokenDeps,
  TrustDeps,
  VersionDeps,
} from '../registry/http/deps.ts'
import type { LiveDeps } from '../platform/http/live/prefer.ts'
import type { Route } from '../platform/http/route.ts'
import { EVENT_NAMES } from '../events/http/schema-names.ts'
import { REGISTRY_NAMES } from '../registry/http/schema-names.ts'
import { TASK_NAMES } from '../tasks/http/task/schema-names.ts'
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
  check: CheckArchiveDeps
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
    limitReaders(deps.registry, [
      ...makeImageTaskRoutes(deps.imageTask),
      ...makeTemplateRoutes(deps.template),
      makePredictionRoute(deps.upload),
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
      makeCheckRoute(deps.check),
      ...makeVersionRoutes(deps.registry),
      ...makeReviewRoutes(deps.registry),
      ...makeReportRoutes(deps.registry),
      ...makeTransferRoutes(deps.registry),
      ...makeRatingRoutes(deps.registry),
      ...makeHostNodeRoutes(deps.registry),
      ...makeGraphRoutes({
        ...deps.registry,
        findModelInstances: (models) => findModelInstances(deps.registry.sql, models),
      }),
      makeExampleWorkflowRoute(deps.registry),
      ...makeRegistryAdminRoutes(deps.registry),
      ...makeEventRoutes(deps.event),
      makeTaskStreamRoute(deps.anyTask),
      makeVersionStreamRoute(deps.registry),
      ...makeWebhookSecretRoutes(deps.event),
      ...makeEndpointRoutes(deps.event, makePublisherScope(deps.event)),
      ...makeUploadRoutes(deps.upload, uploadArchive),
      ...makeFileRoutes(deps.file),
      makeArchiveDownloadRoute({ ...deps.registry, ...deps.file }),
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
    ]),
    {
      publicUrl: deps.publicUrl,
      aliases: deps.aliases,
      errorForm: VIDEO_ERRORS,
      names: { ...TASK_NAMES, ...EVENT_NAMES, ...REGISTRY_NAMES },
    },
  )
