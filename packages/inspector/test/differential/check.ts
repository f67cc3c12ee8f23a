import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeInterpreter } from '../../src/interpret/interpreter.ts'
import { LIBRARY } from '../../src/interpret/library/library.ts'
import type { NativeCall } from '../../src/interpret/types.ts'
import { nativeFunction } from '../../src/interpret/values/native.ts'
import { makePythonParser } from '../../src/python/parse.ts'
import { decodeSource } from '../../src/python/source-text.ts'
import { agrees, isKnown, makeDump } from './compare.ts'
import type { Dump } from './compare.ts'
import { generateProgram } from './generate.ts'

const SCRIPT = fileURLToPath(new URL('run.py', import.meta.url))

/** Files beside `__init__.py`, by path. */
const TREE = JSON.parse(
  readFileSync(new URL('../interpret/library/pack.json', import.meta.url), 'utf8'),
) as Record<string, string>

/** Folder of the pack, as the interpreter has it. */
const HOST_FOLDER = 'host/custom_nodes/demopack'

/** Values that a program left in `R` in CPython, until the raise that ended it. */
interface Ran {
  values: Record<string, Dump>
  raised: string | null
}

/** Runs programs in CPython, beside the tree of files. */
export const runPython = (programs: string[]): Ran[] => {
  const around = realpathSync(mkdtempSync(join(tmpdir(), 'differential-')))
  const root = join(around, HOST_FOLDER)
  try {
    for (const [path, text] of Object.entries(TREE)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    const input = JSON.stringify({ programs, root, around })
    const { stdout, stderr, status } = spawnSync('python3', ['-I', SCRIPT], {
      input,
      encoding: 'utf8',
      maxBuffer: 1e9,
    })
    if (status !== 0) throw new Error(`run.py failed: ${stderr}`)
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Ran)
  } finally {
    rmSync(around, { recursive: true })
  }
}

export interface Result {
  values: number
  known: number
  /** A line for each value that differs. */
  differing: string[]
}

/** Compares what the interpreter gives with what CPython gave. What it gives after a guess counts as unknown. */
export const compare = (run: Run, program: string, expected: Ran): Result => {
  const found = run(program)
  const differing: string[] = []
  let known = 0
  for (const [name, value] of Object.entries(expected.values)) {
    const ours = found.get(name) ?? null
    if (isKnown(ours)) known += 1
    if (!agrees(ours, value))
      differing.push(`${name} is ${JSON.stringify(ours)}, in CPython ${JSON.stringify(value)}`)
  }
  return { values: Object.keys(expected.values).length, known, differing }
}

/** Runs a program in the interpreter, and gives what it gave to `keep`. */
export type Run = (program: string) => Map<string, Dump>

export const makeRun = async (): Promise<Run> => {
  const parser = await makePythonParser()
  const encoder = new TextEncoder()
  return (program) => {
    const texts = Object.entries({ ...TREE, '__init__.py': program })
    const files = new Map(texts.map(([path, text]) => [path, encoder.encode(text)]))
    const interpreter = makeInterpreter({
      pack: { files, paths: files.keys(), ownNames: ['demopack'] },
      parser,
      decodeSource,
      library: LIBRARY,
    })
    const dump = makeDump(interpreter)
    const kept = new Map<string, Dump>()
    const keep: NativeCall = (rt, [name, value = null]) => {
      if (typeof name === 'string' && rt.state.guesses === 0) kept.set(name, dump(value))
      return null
    }
    interpreter.runtime.builtins.set('keep', nativeFunction('keep', keep))
    interpreter.importEntry()
    return kept
  }
}

/** The numbers that the program of a seed is made of. */
export const listChoices = (seed: number): number[] => {
  const random = makeRandom(seed)
  const choices: number[] = []
  generateProgram((count) => {
    const choice = random()
    choices.push(choice)
    return choice % count
  })
  return choices
}

/** The program that is made of those numbers, and of zeros once they are used up. */
export const makeProgram = (choices: readonly number[]): string => {
  let at = 0
  return generateProgram((count) => {
    at += 1
    return (choices[at - 1] ?? 0) % count
  })
}

/** Mulberry32. */
const makeRandom = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return (mixed ^ (mixed >>> 14)) >>> 0
}

/** Candidates that run in one process of Python. */
const ROUND = 40

/** The smallest program found that still differs: numbers of its choices are left out, or put to zero. */
export const shrink = (run: Run, choices: number[]): string => {
  let best = choices
  const findDiffering = (candidates: number[][]): number[] | undefined => {
    const programs = candidates.map(makeProgram)
    const expected = runPython(programs)
    return candidates.find((_, at) => {
      const ran = expected[at]
      return ran && compare(run, programs[at] ?? '', ran).differing.length > 0
    })
  }
  for (const size of [64, 16, 4, 1]) {
    for (let from = 0; from < best.length;) {
      const candidates = Array.from({ length: ROUND }, (_, step) => from + step * size)
        .filter((start) => start < best.length)
        .flatMap((start) => {
          const [before, after] = [best.slice(0, start), best.slice(start + size)]
          return [
            [...before, ...after],
            [...before, ...best.slice(start, start + size).map(() => 0), ...after],
          ]
        })
        .filter((candidate) => candidate.join() !== best.join())
      const smaller = candidates.length > 0 ? findDiffering(candidates) : undefined
      if (smaller) best = smaller
      else from += ROUND * size
    }
  }
  return makeProgram(best)
}
