import {
  EXTRACTOR_VERSION,
  SCANNER,
  SCANNER_VERSION,
} from '../../../packages/inspector/src/versions.ts'
import { addBrokenExamples } from '../../../packages/inspector/src/examples.ts'
import type { Inspection, NodesSection } from '../../../packages/inspector/src/inspection.ts'
import type { ChildUser } from '../../platform/adapters/child-user.ts'
import { startChild, type ChildLimits, type InspectorChild, type RunEnd } from './child-process.ts'
import type { Inspector, InspectRequest } from './inspector.ts'
import { SECTIONS, type SectionName } from '../../../packages/inspector/src/messages.ts'
import { makeSectionReader } from './section-schema.ts'
import { describeRejected } from '../../../packages/inspector/src/inspect.ts'

export interface LocalInspectorOptions {
  /** Folder that holds the archives to be read, and records of the processes. */
  dir: string
  limits?: Partial<ChildLimits>
  /** User that the processes run as; absent: this process's user. */
  user?: ChildUser | undefined
}

const LIMITS: ChildLimits = { rssBytes: 512 * 2 ** 20, runMs: 90_000, heapMegabytes: 384 }

/** Failures of a section, by what the archive does to its reader, that make the failure its result. */
const MAX_FAILURES = 2

/** Makes the inspector that reads each archive in a child process, one archive at a time in each. */
export const makeLocalInspector = ({ dir, limits, user }: LocalInspectorOptions): Inspector => {
  const idle: InspectorChild[] = []
  const all = new Set<InspectorChild>()
  const readSection = makeSectionReader()

  const take = async (): Promise<InspectorChild> => {
    for (let child = idle.pop(); child; child = idle.pop()) {
      if (await child.isFit()) return child
      await drop(child)
    }
    const child = await startChild(dir, { ...LIMITS, ...limits, user })
    all.add(child)
    return child
  }
  const drop = async (child: InspectorChild): Promise<void> => {
    all.delete(child)
    await child.kill()
  }

  /** Runs one child once. Returns the sections that it made, and the one at which it ended. */
  const runOnce = async (request: InspectRequest, found: Partial<Inspection>): Promise<Once> => {
    const child = await take()
    let at: SectionName | undefined
    let end: RunEnd | undefined
    try {
      const { signal, ...order } = request
      const skip = SECTIONS.filter((section) => found[section])
      end = await child.run(
        { ...order, skip },
        (message) => {
          if (message.kind === 'begin') at = message.section
          if (message.kind === 'section')
            Object.assign(found, readSection(message.section, message.json))
        },
        signal,
      )
    } finally {
      if (end?.end === 'done') idle.push(child)
      else await drop(child)
    }
    return { at, end }
  }

  return {
    extractorVersion: EXTRACTOR_VERSION,
    scanner: SCANNER,
    scannerVersion: SCANNER_VERSION,
    async inspect(request) {
      const found: Partial<Inspection> = {}
      const failures = new Map<SectionName, number>()
      while (!isComplete(found)) {
        const { at, end } = await runOnce(request, found)
        if (end.end === 'failed') throw end.error
        if (end.end === 'done' && isComplete(found)) break
        // It sent something that is no section, or ended in the middle of one.
        const section = at ?? 'archive'
        if (at === undefined && (failures.get(section) ?? 0) >= MAX_FAILURES)
          throw new Error(`the process that reads archives does not start: ${end.end}`)
        failures.set(section, (failures.get(section) ?? 0) + 1)
        const code = end.end === 'done' ? 'crashed' : end.end
        if (at && (failures.get(at) ?? 0) >= MAX_FAILURES)
          Object.assign(found, makeFailure(at, code))
      }
      return addBrokenExamples(found)
    },
    async close() {
      await Promise.all([...all].map(drop))
    },
  }
}

interface Once {
  /** The section that was begun last. */
  at: SectionName | undefined
  end: RunEnd
}

const isComplete = (found: Partial<Inspection>): found is Inspection =>
  SECTIONS.every((section) => found[section])

type FailureCode = 'budget_memory' | 'budget_time' | 'crashed'

const MESSAGES: Record<FailureCode, string> = {
  budget_memory: 'Reading the archive takes more memory than there is: make the pack smaller',
  budget_time: 'Reading the archive takes too long: make the pack smaller',
  crashed: 'Reading the archive ends its reader: zip the pack again',
}

/** The result of a section whose archive has ended its reader twice. */
const makeFailure = (section: SectionName, code: FailureCode): Partial<Inspection> => {
  if (section === 'archive')
    return describeRejected({ verdict: 'rejected', code, message: MESSAGES[code] })
  if (section === 'nodes') return { nodes: failedNodes(code) }
  return {
    findings: {
      scanner: SCANNER,
      scannerVersion: SCANNER_VERSION,
      complete: false,
      findings: [],
      counts: { high: 0, medium: 0, info: 0 },
      tags: [],
    },
  }
}

const failedNodes = (reason: string): NodesSection => ({
  extractorVersion: EXTRACTOR_VERSION,
  status: 'failed',
  reason,
  how: 'none',
  partial: true,
  reasons: [reason],
  dropped: 0,
  nodes: [],
  stats: {},
})
