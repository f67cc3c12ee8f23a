import { createRequire } from 'node:module'

import { Language, Parser } from 'web-tree-sitter'

import { readArchive } from '../../packages/inspector/src/archive/read-archive.ts'
import { inspect } from '../../packages/inspector/src/inspect.ts'
import { extractNodes } from '../../packages/inspector/src/nodes/extract-nodes.ts'
import { makePack } from '../../packages/inspector/src/pack.ts'
import type { PythonParser } from '../../packages/inspector/src/python/parse.ts'
import { scanPack } from '../../packages/inspector/src/scan/scan-pack.ts'
import { makeBytesSource } from '../../packages/inspector/test/archive/sources.ts'
import type { GeneratedPack } from './generate-pack.ts'

/**
 * Milliseconds of one pack, by what is measured. All are time of a processor, which is what one core needs whatever else
 * the machine does, but the last.
 */
export type StageTimes = Awaited<ReturnType<Awaited<ReturnType<typeof makeStages>>>>

/**
 * Milliseconds of processor of all threads: collecting garbage and compiling count, though they run beside the rest on a
 * quiet machine.
 */
const now = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Runs the stages of a reading one after another, and then the whole of it as the service does. */
export const makeStages = async (parser: PythonParser) => {
  const bareParse = await makeBareParse()
  return async (pack: GeneratedPack) => {
    const start = now()
    pack.sources.forEach(bareParse)
    const bare = now() - start
    const { read, unzip, interpret, scan } = await measureParts(pack, parser)
    const [wholeStart, clockStart] = [now(), clock()]
    await readWhole(pack, parser)
    return {
      'tree-sitter alone': bare,
      unzip,
      'parse and convert': read,
      // Both of the same round, so that what else the machine does weighs on both.
      convert: Math.max(0, read - bare),
      interpret,
      scan,
      whole: now() - wholeStart,
      'whole, by the clock': clock() - clockStart,
    }
  }
}

/** Clock that the service gives the reading, for its limits of time. */
const clock = (): number => performance.now()

/** The same grammar with nothing around it: each tree is made and freed. */
const makeBareParse = async (): Promise<(text: string) => void> => {
  const file = createRequire(import.meta.url).resolve('tree-sitter-python/tree-sitter-python.wasm')
  const parser = new Parser().setLanguage(await Language.load(file))
  return (text) => parser.parse(text)?.delete()
}

const measureParts = async ({ zip, nodes }: GeneratedPack, parser: PythonParser) => {
  let read = 0
  const timed: PythonParser = {
    ...parser,
    parse: (...given) => {
      const start = now()
      const module = parser.parse(...given)
      read += now() - start
      return module
    },
  }
  const start = now()
  const archive = await readArchive(makeBytesSource(zip))
  if (archive.verdict === 'rejected') throw new Error(archive.message)
  const pack = makePack(archive.entries)
  const unzipped = now()
  const { section, parseFile, reached } = extractNodes({ pack, parser: timed, now: clock })
  const [extracted, readByThen] = [now(), read]
  const { facts: archiveFacts } = archive
  const found = scanPack({ pack, archiveFacts, modules: parseFile, reached, now: clock })
  const end = now()
  // Times of a reading that went wrong would mean nothing.
  if (section?.nodes.length !== nodes || !found.complete)
    throw new Error(`${section?.nodes.length} of ${nodes} nodes were found`)
  return {
    read,
    unzip: unzipped - start,
    interpret: extracted - unzipped - readByThen,
    scan: end - extracted - (read - readByThen),
  }
}

const readWhole = async ({ zip }: GeneratedPack, parser: PythonParser): Promise<void> =>
  await inspect({
    source: makeBytesSource(zip),
    parser,
    now: clock,
    onBegin: () => true,
    onSection: () => {},
  })
