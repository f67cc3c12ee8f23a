import { readArchive } from './archive/read-archive.ts'
import type { ArchiveFact } from './archive/result.ts'
import type { RandomAccess } from './archive/source.ts'
import { listExamples } from './examples.ts'
import type { ArchiveSection, Inspection } from './inspection.ts'
import { extractNodes } from './nodes/extract-nodes.ts'
import { makePack, type Pack } from './pack.ts'
import type { PythonParser } from './python/parse.ts'
import { scanPack } from './scan/scan-pack.ts'
import { EXTRACTOR_VERSION, SCANNER, SCANNER_VERSION } from './versions.ts'

interface InspectOptions {
  /** The archive. */
  source: RandomAccess
  nodeId?: string | undefined
  /** Requirements of the version, besides those in the archive. */
  dependencies?: readonly string[]
  parser: PythonParser
  /** Milliseconds that only grow. */
  now(): number
  /** Called before a section is made; false leaves it out. */
  onBegin(section: keyof Inspection): boolean
  /** Gets each section once it is made; the next one waits until it has been taken. */
  onSection(part: Partial<Inspection>): void | Promise<void>
  signal?: AbortSignal
}

/**
 * Reads an archive once for everything: is it sound, which host nodes does it provide, what is dangerous in it. Throws only
 * what the source's reads or the signal threw.
 */
export const inspect = async (options: InspectOptions): Promise<void> => {
  const { source, nodeId, onBegin, onSection, signal } = options
  onBegin('archive')
  const read = await readArchive(source, undefined, signal)
  if (read.verdict === 'rejected') return await onSection(describeRejected(read))
  const { entries, facts, unpackedBytes } = read
  const files = entries.flatMap(({ path, bytes, sha256, place }) =>
    place ? [{ path, bytes, sha256, ...place }] : [],
  )
  await onSection({ archive: { verdict: 'sound', entries: entries.length, unpackedBytes, files } })
  await inspectPack(makePack(entries, { nodeId }), facts, options)
}

type InspectPackOptions = Omit<InspectOptions, 'source' | 'nodeId' | 'signal'>

/** The two sections that are made of a pack's files. */
export const inspectPack = async (
  pack: Pack,
  archiveFacts: readonly ArchiveFact[],
  { dependencies = [], parser, now, onBegin, onSection }: InspectPackOptions,
): Promise<void> => {
  const makesNodes = onBegin('nodes')
  const { section, parseFile, reached } = extractNodes({ pack, parser, now, skip: !makesNodes })
  const examples = section ? listExamples(pack) : []
  if (section) await onSection({ nodes: { ...section, ...(examples.length > 0 && { examples }) } })
  if (!onBegin('findings')) return
  const findings = scanPack({
    pack,
    archiveFacts,
    modules: parseFile,
    reached,
    dependencies: [...dependencies],
    now,
  })
  await onSection({ findings })
}

/** All three sections of an archive that is rejected: nothing in it is looked at. */
export const describeRejected = (
  archive: Extract<ArchiveSection, { verdict: 'rejected' }>,
): Inspection => {
  const { code, message, entry } = archive
  const reason = `archive_${code}`
  return {
    archive: { verdict: 'rejected', code, message, ...(entry !== undefined && { entry }) },
    nodes: {
      extractorVersion: EXTRACTOR_VERSION,
      status: 'failed',
      reason,
      how: 'none',
      partial: false,
      reasons: [reason],
      dropped: 0,
      nodes: [],
      stats: {},
    },
    findings: {
      scanner: SCANNER,
      scannerVersion: SCANNER_VERSION,
      complete: true,
      findings: [
        {
          issue_type: reason,
          severity: 'high',
          ...(entry !== undefined && { file_path: entry }),
          message,
        },
      ],
      counts: { high: 1, medium: 0, info: 0 },
      tags: [],
    },
  }
}
