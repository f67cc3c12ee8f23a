import { createRequire } from 'node:module'

import { Language, Parser } from 'web-tree-sitter'

import { readArchive } from '../../src/extraction/archive/read-archive.ts'
import { inspect } from '../../src/extraction/inspect.ts'
import { extractNodes } from '../../src/extraction/nodes/extract-nodes.ts'
import { makePack } from '../../src/extraction/pack.ts'
import type { PythonParser } from '../../src/extraction/python/parse.ts'
import { scanPack } from '../../src/extraction/scan/scan-pack.ts'
import { makeBytesSource } from '../../test/extraction/archive/sources.ts'
import type { GeneratedPack } from './generate-pack.ts'

/**
 * Milliseconds of one pack. `bare` is parsing by tree-sitter alone; `read` is parsing and converting of one's own. All
 * are time of a processor, which is what one core needs whatever else the machine does, but `wall`: the whole by the clock.
 */
export interface StageTimes {
  bare: number
  unzip: number
  read: number
  interpret: number
  scan: number
  whole: number
  wall: number
}

export interface Stages {
  measure(pack: GeneratedPack): Promise<StageTimes>
}

/** Of all threads: collecting garbage and compiling count, though they run beside the rest on a quiet machine. */
const now = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Runs the stages of a reading one after another, and then the whole of it as the service does. */
export const makeStages = async (parser: PythonParser): Promise<Stages> => {
  const bareParse = await makeBareParse()
  return {
    async measure(pack) {
      const bare = timeOf(() => pack.sources.forEach(bareParse))
      const parts = await measureParts(pack, parser)
      const [start, wallStart] = [now(), performance.now()]
      await readWhole(pack, parser)
      return { bare, ...parts, whole: now() - start, wall: performance.now() - wallStart }
    },
  }
}

/** What the service gives the reading: its limits of time are by the clock. */
const clock = (): number => performance.now()

const timeOf = (run: () => void): number => {
  const start = now()
  run()
  return now() - start
}

/** The same grammar with nothing around it: each tree is made and freed. */
const makeBareParse = async (): Promise<(text: string) => void> => {
  const file = createRequire(import.meta.url).resolve('tree-sitter-python/tree-sitter-python.wasm')
  const parser = new Parser().setLanguage(await Language.load(file))
  return (text) => parser.parse(text)?.delete()
}

const measureParts = async (
  { zip, nodes }: GeneratedPack,
  parser: PythonParser,
): Promise<Omit<StageTimes, 'bare' | 'whole' | 'wall'>> => {
  const timed = timeParser(parser)
  const start = now()
  const archive = await readArchive(makeBytesSource(zip))
  if (archive.verdict === 'rejected') throw new Error(archive.message)
  const pack = makePack(archive.entries)
  const unzipped = now()
  const { section, parseFile, reached } = extractNodes({ pack, parser: timed.parser, now: clock })
  const extracted = now()
  const { read } = timed
  const found = scanPack({
    pack,
    archiveFacts: archive.facts,
    modules: parseFile,
    reached,
    now: clock,
  })
  const end = now()
  // Figures of a reading that went wrong would mean nothing.
  if (section?.nodes.length !== nodes || !found.complete)
    throw new Error(`${section?.nodes.length} of ${nodes} nodes were found`)
  return {
    unzip: unzipped - start,
    read: timed.read,
    interpret: extracted - unzipped - read,
    scan: end - extracted - (timed.read - read),
  }
}

const timeParser = (parser: PythonParser): { parser: PythonParser; read: number } => {
  const timed = {
    read: 0,
    parser: {
      ...parser,
      parse: (...given: Parameters<PythonParser['parse']>) => {
        const start = now()
        const module = parser.parse(...given)
        timed.read += now() - start
        return module
      },
    },
  }
  return timed
}

const readWhole = async ({ zip }: GeneratedPack, parser: PythonParser): Promise<void> =>
  await inspect({
    source: makeBytesSource(zip),
    parser,
    now: clock,
    onBegin: () => true,
    onSection: () => {},
  })
