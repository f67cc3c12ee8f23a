import { openFileSource } from '../../extraction/archive/source.ts'
import { inspect } from '../../extraction/inspect.ts'
import type { Inspection } from '../../extraction/inspection.ts'
import { makePythonParser } from '../../extraction/python/parse.ts'
import type { PythonParser } from '../../extraction/python/parse.ts'
import { SECTIONS } from './messages.ts'
import type { ChildNews, ChildOrder } from './messages.ts'

/** The process that reads archives: it is told of one after another, and leaves when its parent has gone. */
const serve = async (): Promise<void> => {
  const parser = await makePythonParser()
  process.on('disconnect', () => process.exit())
  process.on('message', (order) => {
    void work(order as ChildOrder, parser).then(tell, (error: unknown) => tell(toFault(error)))
  })
}

const work = async (order: ChildOrder, parser: PythonParser): Promise<ChildNews> => {
  const source = await openFileSource(order.path)
  try {
    await inspect({
      source,
      nodeId: order.nodeId,
      dependencies: order.dependencies,
      parser,
      now: () => performance.now(),
      onBegin: (section) => {
        const isWanted = !order.skip.includes(section)
        if (isWanted) tell({ kind: 'begin', section })
        return isWanted
      },
      onSection: (part) => tellSections(part, order),
    })
  } finally {
    await source.close()
  }
  return { kind: 'done' }
}

const tellSections = (part: Partial<Inspection>, { skip }: ChildOrder): void => {
  for (const section of SECTIONS)
    if (part[section] && !skip.includes(section))
      tell({ kind: 'section', section, json: JSON.stringify(part[section]) })
}

const tell = (news: ChildNews): void => {
  process.send?.(news)
}

/** Faults of this machine only: the reading itself throws none. */
const toFault = (error: unknown): ChildNews => ({
  kind: 'fault',
  message: error instanceof Error ? error.message : String(error),
  code: error instanceof Error && 'code' in error ? String(error.code) : undefined,
})

await serve()
