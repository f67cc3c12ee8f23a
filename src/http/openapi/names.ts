import type { TSchema } from 'typebox'

import * as batch from '../../domain/bulk/batch.ts'
import * as operation from '../../domain/bulk/operation.ts'
import * as endpoint from '../../domain/event/endpoint.ts'
import * as event from '../../domain/event/event.ts'
import { IMAGE_KINDS } from '../../domain/image-task/image-kind.ts'
import * as image from '../../domain/image-task/image-task.ts'
import * as audit from '../../domain/shared/audit-log.ts'
import * as finding from '../../domain/registry/finding.ts'
import * as hostNode from '../../domain/registry/host-node.ts'
import * as member from '../../domain/registry/member.ts'
import { NodeListPage, NodePage } from '../../domain/registry/node-query.ts'
import * as node from '../../domain/registry/node.ts'
import * as token from '../../domain/shared/personal-access-token.ts'
import * as publish from '../../domain/registry/publish.ts'
import * as publisher from '../../domain/registry/publisher.ts'
import * as rating from '../../domain/registry/rating.ts'
import * as review from '../../domain/registry/review.ts'
import * as trusted from '../../domain/registry/trusted-publisher.ts'
import * as versions from '../../domain/registry/version-query.ts'
import * as version from '../../domain/registry/version.ts'
import * as apiKey from '../../domain/shared/api-key.ts'
import * as upload from '../../domain/shared/upload.ts'
import { TaskEvent } from '../../domain/task/task-event.ts'
import * as task from '../../domain/task/task-item.ts'
import { Usage } from '../../domain/task/usage.ts'
import * as video from '../../domain/video-task/video-task.ts'

/** Names of the domain's schemas for clients: each is one component of the document, wherever it stands. */
const NAMES: Record<string, TSchema> = {
  ImageTask: image.ImageTaskRecord,
  ImageTaskStatus: image.ImageTaskStatus,
  RelightBody: IMAGE_KINDS.relight.body,
  UpscaleBody: IMAGE_KINDS.upscale.body,
  UpscalePrecisionBody: IMAGE_KINDS.upscale_precision.body,
  SkinFlexibleBody: IMAGE_KINDS.skin_flexible.body,
  SkinCreativeBody: IMAGE_KINDS.skin_creative.body,
  SkinFaithfulBody: IMAGE_KINDS.skin_faithful.body,
  VideoTask: video.VideoCreations,
  VideoTaskState: video.VideoTaskState,
  VideoCreation: video.VideoCreation,
  TextToVideoTask: video.TextToVideoRecord,
  ExtendTask: video.ExtendRecord,
  VideoTaskPage: video.VideoTaskList,
  VideoCredits: video.VideoCredits,
  Task: task.TaskItem,
  TaskKind: task.TaskKind,
  TaskState: task.TaskState,
  TaskPage: task.TaskPage,
  TaskDetail: task.TaskDetail,
  TaskSummary: task.TaskSummary,
  Batch: batch.Batch,
  BatchLine: batch.BatchLine,
  Operation: operation.Operation,
  OperationFilter: operation.NewOperation.properties.filter,
  OperationLine: operation.OperationLine,
  Usage,
  OwnerEventPage: task.OwnerEvents,
  DryRun: task.DryRun,
  TaskEvent,
  DeliveryAttempt: event.Attempt,
  EndpointEvent: endpoint.EndpointEvent,
  EndpointSecret: endpoint.EndpointSecret,
  EndpointStatus: endpoint.EndpointStatus,
  EndpointDisabledReason: endpoint.DisabledReason,
  DeliveryState: TaskEvent.properties.state,
  WebhookSecrets: event.WebhookSecrets,
  Publisher: publisher.Publisher,
  PublisherStatus: publisher.PublisherStatus,
  NewPublisher: publisher.NewPublisher,
  PublisherUpdate: publisher.PublisherUpdate,
  PublisherMember: member.PublisherMember,
  MemberRole: member.MemberRole,
  PersonalAccessToken: token.PersonalAccessToken,
  NewPersonalAccessToken: token.NewPersonalAccessToken,
  CreatedPersonalAccessToken: token.CreatedPersonalAccessToken,
  TokenScope: token.TokenScope,
  TrustedPublisher: trusted.TrustedPublisher,
  NewTrustedPublisher: trusted.NewTrustedPublisher,
  TrustProvider: trusted.TrustProvider,
  TokenExchange: trusted.TokenExchange,
  ExchangedToken: trusted.ExchangedToken,
  User: member.User,
  Node: node.Node,
  NodeStatus: node.NodeStatus,
  NodePage,
  NodeListPage,
  RemovedNode: node.RemovedNode,
  NewNode: node.NewNode,
  NodeUpdate: node.NodeUpdate,
  NodeAdminUpdate: node.NodeAdminUpdate,
  NodeVersion: version.Version,
  Provenance: trusted.Provenance,
  NodeVersionStatus: version.VersionStatus,
  NodeVersionPage: versions.VersionPage,
  NodeVersionIdentifier: versions.VersionIdentifier,
  NewNodeVersion: version.NewVersion,
  NodeVersionUpdate: version.VersionUpdate,
  NodeVersionAdminUpdate: version.VersionAdminUpdate,
  PublishBody: publish.PublishBody,
  PublishedNodeVersion: publish.Published,
  VersionFindings: finding.VersionFindings,
  Finding: finding.Finding,
  Review: review.Review,
  NodeReview: rating.Rating,
  NodeReviewUpdate: rating.RatingUpdate,
  NodeReviewPage: rating.RatingPage,
  HostNode: hostNode.HostNode,
  HostNodePolicy: hostNode.HostNodePolicy,
  HostNodePage: hostNode.HostNodePage,
  HostNodeRegistration: hostNode.HostNodeRegistration,
  RegisteredHostNode: hostNode.RegisteredHostNode,
  AuditLogPage: audit.AuditLogPage,
  AuditLogEntry: audit.AuditLogEntry,
  AuditAction: audit.AuditAction,
  NewUpload: upload.NewUpload,
  UploadLinks: upload.UploadLinks,
  NewApiKey: apiKey.NewApiKey,
  CreatedApiKey: apiKey.CreatedApiKey,
  ApiKey: apiKey.ListedApiKey,
}

/** Members are copies of their schemas (`Type.Optional` makes one), so schemas are known by what they say. */
const BY_TEXT = new Map(
  Object.entries(NAMES).map(([name, schema]) => [JSON.stringify(schema), name]),
)

/** The name of a schema's component; undefined for one that stands in its place. A schema that is made has a title. */
export const nameOf = (schema: object): string | undefined =>
  (schema as { title?: string }).title ?? BY_TEXT.get(JSON.stringify(schema))
