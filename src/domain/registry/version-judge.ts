import { shown } from '../shared/errors.ts'
import { judgePublishedNode } from './node-judge.ts'
import { registryFault } from './registry-fault.ts'
import type { Fault } from '../shared/validate.ts'
import { VERSION_EXPECTATION, parseVersionNumber } from './version-number.ts'

type Body = Readonly<Record<string, unknown>>

/** The rules of a publish body that its schema cannot say. `nodeId` is the path's. */
export const judgePublish = (body: Body, { nodeId }: { nodeId: string }): Fault[] => [
  ...judgePublishedNode(asObject(body['node']), { nodeId }),
  ...judgeVersionText(asObject(body['node_version'])['version'], '/node_version/version'),
]

/** The rules of the query of GET /nodes/{n}/install that its schema cannot say. */
export const judgeInstallQuery = (query: Body): Fault[] =>
  judgeVersionText(query['version'], '?version')

/** The same of GET /nodes/{n}/compare. */
export const judgeCompareQuery = ({ from, to }: Body): Fault[] => [
  ...judgeVersionText(from, '?from'),
  ...judgeVersionText(to, '?to'),
]

/** The same of GET /versions, for platform admins. */
export const judgeReviewSort = ({ sort, review_requested: wanted }: Body): Fault[] =>
  sort === 'review' && wanted === false
    ? [registryFault('?sort', 'must not be "review" where `review_requested` is false')]
    : []

const judgeVersionText = (value: unknown, field: string): Fault[] =>
  typeof value !== 'string' || parseVersionNumber(value)
    ? []
    : [
        registryFault(
          field,
          `must be ${VERSION_EXPECTATION}, got ${shown(value)}`,
          'version_invalid',
        ),
      ]

/** The schema reports what is no object. */
const asObject = (value: unknown): Body =>
  typeof value === 'object' && value !== null ? (value as Body) : {}
