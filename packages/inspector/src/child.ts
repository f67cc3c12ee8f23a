import { openFileSource } from './archive/source.ts'
import { inspect } from './inspect.ts'
import type { Inspection } from './inspection.ts'
import { makePythonParser, type PythonParser } from './python/parse.ts'
import { cpuMilliseconds } from './cpu-clock.ts'
import { SECTIONS, type ChildMessage, type ChildOrder } from './messages.ts'

/** The process that reads archives, one after another. It ends when its parent has gone. */
const serve = async (): Promise<void> => {
  const parser = await makePythonParser()
  process.on('disconnect', () => process.exit())
  process.on('message', (order) => {
    const message = work(order as ChildOrder, parser).catch(toError)
    void message.then(send)
  })
}

const work = async (order: ChildOrder, parser: PythonParser): Promise<ChildMessage> => {
  const source = await openFileSource(order.path)
  try {
    await inspect({
      source,
      nodeId: order.nodeId,
      dependencies: order.dependencies,
      parser,
      now: cpuMilliseconds,
      onBegin: (section) => {
        const isWanted = !order.skip.includes(section)
        if (isWanted) void send({ kind: 'begin', section })
        return isWanted
      },
      onSection: (part) => sendSections(part, order),
    })
  } finally {
    await source.close()
  }
  return { kind: 'done' }
}

const sendSections = async (part: Partial<Inspection>, { skip }: ChildOrder): Promise<void> => {
  for (const section of SECTIONS)
    if (part[section] && !skip.includes(section))
      await send({ kind: 'section', section, json: JSON.stringify(part[section]) })
}

/**
 * Resolves once a section is written. A long one goes in pieces, which would otherwise wait until the next section is
 * made, and be lost with it.
 */
const send = (message: ChildMessage): Promise<void> =>
  new Promise((resolve) => {
    process.send?.(message, () => resolve())
  })

/** Only errors of this machine get here: the reading itself throws nothing. */
const toError = (error: unknown): ChildMessage => ({
  kind: 'error',
  message: error instanceof Error ? error.message : String(error),
  code: error instanceof Error && 'code' in error ? String(error.code) : undefined,
})

await serve()
