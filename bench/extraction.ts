import { loadavg } from 'node:os'

import { makePythonParser } from '../packages/inspector/src/python/parse.ts'
import { measureChildMemory } from './extraction/child-memory.ts'
import { generatePack } from './extraction/generate-pack.ts'
import type { GeneratedPack } from './extraction/generate-pack.ts'
import { makeStages } from './extraction/stages.ts'
import type { StageTimes } from './extraction/stages.ts'
import { median, say, showResult, showSpread } from './support/results.ts'

/** By name. Half of the packs drawn at random reach 17 KB or less, half of the popular ones 119 KB; the largest 2.9 MB. */
const SIZES = { '10kb': 10_000, '17kb': 17_000, '119kb': 119_000, '3mb': 3_000_000 }
const MAX_MS = 40
const LARGEST_MS = 3000
const MEMORY_MB = 512
const READ_MB_S = 5

const SEED = 7
const WARM_ROUNDS = 3
/** The first of the packs that warm up. */
const WARM_FROM = 2
const ROUNDS = Number(process.env['ROUNDS'] ?? 9)
const MEMORY_ROUNDS = 3

/**
 * Measures the cost of reading a pack, stage by stage, in one warm process over generated packs: unzip, parse and convert,
 * interpret, scan, and the whole of it; beside parsing of the same files by tree-sitter alone. Times are of a processor. Then
 * the memory of the process that reads them in the service, here with the loader of the sources in it, which takes some 40 MB.
 */
export const run = async (): Promise<void> => {
  const loads = loadavg().map((load) => load.toFixed(1))
  say(`load ${loads.join(' ')}`)
  const parser = await makePythonParser()
  const measure = await makeStages(parser)
  const packs = Object.entries(SIZES).map(([name, bytes]) =>
    generatePack(name, { bytes, seed: SEED }),
  )
  // With the larger packs: ten rounds of a small one do not get the code compiled as in a process that has run for a while.
  for (const pack of packs.slice(WARM_FROM))
    for (let round = 0; round < WARM_ROUNDS; round++) await measure(pack)
  for (const pack of packs) {
    const rounds: StageTimes[] = []
    for (let round = 0; round < ROUNDS; round++) rounds.push(await measure(pack))
    showPack(pack, rounds)
  }
  const peak = await measureChildMemory(packs, MEMORY_ROUNDS)
  showResult('extraction.child_memory', peak / 2 ** 20, { unit: 'MB', atMost: MEMORY_MB })
  parser.close()
}

const showPack = ({ name, bytes, sources, nodes }: GeneratedPack, rounds: StageTimes[]): void => {
  say(`\n${name}: ${bytes} bytes of Python in ${sources.length} files, ${nodes} nodes`)
  const timesOf = (stage: keyof StageTimes): number[] => rounds.map((times) => times[stage])
  const rateOf = (stage: keyof StageTimes): number => bytes / 1000 / median(timesOf(stage))
  for (const stage of Object.keys(rounds[0] ?? {}) as (keyof StageTimes)[]) {
    const rate = rateOf(stage)
    showSpread(`${stage} (${rate.toFixed(rate < 10 ? 2 : 0)} MB/s)`, timesOf(stage), 'ms')
  }
  const share = median(rounds.map((times) => times['parse and convert'] / times.whole))
  const over = median(rounds.map((times) => times.whole / times['tree-sitter alone']))
  say(
    `parsing is ${Math.round(share * 100)} % of the whole, which takes ${over.toFixed(2)} times tree-sitter alone`,
  )
  const whole = median(timesOf('whole'))
  const atMost = name === '3mb' ? LARGEST_MS : MAX_MS
  showResult(`extraction.${name}`, whole, { unit: 'ms', atMost })
  const rate = rateOf('parse and convert')
  if (name === '3mb')
    showResult('extraction.parse_and_convert', rate, { unit: 'MB/s', atLeast: READ_MB_S })
}
