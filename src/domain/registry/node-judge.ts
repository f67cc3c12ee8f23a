import { shown } from '../shared/errors.ts'
import { NODE_ID_EXPECTATION, NODE_ID_MAX, NODE_ID_PATTERN, NODE_URLS } from './node.ts'
import { idKey } from './publisher-judge.ts'
import { LONG_TEXT_MAX } from './registry-fields.ts'
import { registryFault } from './registry-fault.ts'
import { judgeRegistryUrls } from './registry-url.ts'
import { isLonger } from '../shared/text-length.ts'
import type { Fault } from '../shared/validate.ts'

type Body = Readonly<Record<string, unknown>>

/** The rules of POST /publishers/{p}/nodes that its schema cannot say. */
export const judgeNewNode = (body: Body): Fault[] => judgeFields(body, '')

/** The rules of PUT /publishers/{p}/nodes/{n} that its schema cannot say. */
export const judgeNodeUpdate = (body: Body, { nodeId }: { nodeId: string }): Fault[] => [
  ...judgeSameId(body['id'], '/id', nodeId),
  ...judgeFields(body, ''),
]

/** The rules of `node` in a publish body. The id in the path is judged too, because publishing may create the node. */
export const judgePublishedNode = (node: Body, { nodeId }: { nodeId: string }): Fault[] => [
  ...(isNodeId(nodeId)
    ? []
    : [
        registryFault(
          '',
          `the node id in the path must be ${NODE_ID_EXPECTATION}, got ${shown(nodeId)}`,
        ),
      ]),
  ...judgeSameId(node['id'], '/node/id', nodeId),
  ...judgeFields(node, '/node'),
]

/** Whether a text may be the id of a node. */
const isNodeId = (text: string): boolean => text.length <= NODE_ID_MAX && FORM.test(text)

const FORM = new RegExp(NODE_ID_PATTERN)

const judgeFields = (body: Body, at: string): Fault[] => [
  ...judgeRegistryUrls(body, NODE_URLS, at),
  ...judgeTranslations(body['translations'], `${at}/translations`),
]

/** An empty id says nothing. */
const judgeSameId = (id: unknown, field: string, nodeId: string): Fault[] =>
  typeof id !== 'string' || id === '' || idKey(id) === idKey(nodeId)
    ? []
    : [
        registryFault(
          field,
          `must be the id in the path, ${shown(nodeId)}, got ${shown(id)}`,
          'id_mismatch',
        ),
      ]

const judgeTranslations = (translations: unknown, field: string): Fault[] =>
  typeof translations === 'object' && isLonger(JSON.stringify(translations), LONG_TEXT_MAX)
    ? [registryFault(field, `must be at most ${LONG_TEXT_MAX} characters of JSON, got more`)]
    : []
