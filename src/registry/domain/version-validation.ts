import { shown } from '../../platform/domain/errors.ts'
import { validatePublishedNode } from './node-validation.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'
import { VERSION_EXPECTATION, nearestVersion, parseVersionNumber } from './version-number.ts'

type Body = Readonly<Record<string, unknown>>

/** The rules of a publish body that its schema cannot say. `nodeId` is the path's. */
export const validatePublish = (body: Body, { nodeId }: { nodeId: string }): Issue[] => [
  ...validatePublishedNode(asObject(body['node']), { nodeId }),
  ...validateVersionText(asObject(body['node_version'])['version'], '/node_version/version'),
]

/** The rules of the query of GET /nodes/{n}/install that its schema cannot say. */
export const validateInstallQuery = ({ version, channel }: Body): Issue[] => [
  ...validateVersionText(version, '?version'),
  ...(version !== undefined && channel !== undefined
    ? [makeIssue('?channel', 'must be absent where `version` names one')]
    : []),
]

/** The same of GET /nodes/{n}/compare. */
export const validateCompareQuery = ({ from, to }: Body): Issue[] => [
  ...validateVersionText(from, '?from'),
  ...validateVersionText(to, '?to'),
]

/** The same of GET /versions, for platform admins. */
export const validateReviewSort = ({ sort, review_requested: wanted }: Body): Issue[] =>
  sort === 'review' && wanted === false
    ? [makeIssue('?sort', 'must not be "review" where `review_requested` is false')]
    : []

const validateVersionText = (value: unknown, field: string): Issue[] => {
  if (typeof value !== 'string' || parseVersionNumber(value)) return []
  const near = nearestVersion(value)
  const hint = near === undefined ? '' : `; the nearest is ${near}`
  const sentence = `must be ${VERSION_EXPECTATION}, got ${shown(value)}${hint}`
  return [makeIssue(field, sentence, 'version_invalid')]
}

/** The schema reports what is no object. */
const asObject = (value: unknown): Body =>
  typeof value === 'object' && value !== null ? (value as Body) : {}
