import type { SchemaNames } from '../../platform/http/openapi/schemas.ts'
import * as audit from '../../platform/domain/audit-log.ts'
import { CheckedArchive } from '../domain/checked-archive.ts'
import * as finding from '../domain/finding.ts'
import * as hostNode from '../domain/host-node.ts'
import * as member from '../domain/member.ts'
import { NodeListPage, NodePage } from '../domain/node-query.ts'
import * as node from '../domain/node.ts'
import * as token from '../../identity/domain/personal-access-token.ts'
import * as publish from '../domain/publish.ts'
import * as publisher from '../domain/publisher.ts'
import * as rating from '../domain/rating.ts'
import * as review from '../domain/review.ts'
import * as trusted from '../domain/trusted-publisher.ts'
import * as versions from '../domain/version-query.ts'
import * as version from '../domain/version.ts'

export const REGISTRY_NAMES: SchemaNames = {
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
  CheckedArchive,
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
}
