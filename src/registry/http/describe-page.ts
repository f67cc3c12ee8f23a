import { withinDeadline } from '../../platform/db/client.ts'
import { makeSemaphore } from '../../platform/domain/semaphore.ts'
import type { DescribePage, PageFacts } from '../../platform/http/console/page-facts.ts'
import type { RecordOptions } from '../db/node.ts'
import { getNode } from '../db/node.ts'
import { getPublisher } from '../db/publisher.ts'
import { getNodeAccess, getPublisherAccess } from './access.ts'
import type { ReaderDeps } from './readers.ts'

/** No quota counts these reads: the pages of packs and publishers are for everybody. */
const AT_ONCE = 2
const PATIENCE_MS = 200

type Deps = ReaderDeps & RecordOptions

/** Makes what describes the page of a pack or publisher, as whoever is not signed in may see it. */
export const makeDescribePage = (deps: Deps): DescribePage => {
  const semaphore = makeSemaphore(AT_ONCE)
  return async (path) => {
    const [, section, id] = /^\/(registry|publishers)\/([^/]+)/.exec(path) ?? []
    if (id === undefined || deps.registryReads !== 'public') return undefined
    const read = section === 'registry' ? describeNode : describePublisher
    return await semaphore.run(() => read(deps, decodeURIComponent(id)), PATIENCE_MS)
  }
}

const describeNode = async (deps: Deps, nodeId: string): Promise<PageFacts> => {
  const { id } = await getNodeAccess(deps, { nodeId, access: 'read', caller: undefined })
  const { name, description } = await withinDeadline(deps.sql, getNode(deps.sql, id, deps))
  return { title: name ?? id, description }
}

const describePublisher = async (deps: Deps, publisherId: string): Promise<PageFacts> => {
  const asked = { publisherId, access: 'read', caller: undefined } as const
  const { id } = await getPublisherAccess(deps, asked)
  const { name, description } = await withinDeadline(deps.sql, getPublisher(deps.sql, id, deps))
  return { title: name, description }
}
