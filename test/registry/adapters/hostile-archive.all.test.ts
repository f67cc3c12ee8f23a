import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Inspector } from '../../../src/registry/inspector/inspector.ts'
import { makeLocalInspector } from '../../../src/registry/inspector/local.ts'
import { ARCHIVE_CODES, type ArchiveCode } from '../../../packages/inspector/src/archive/reject.ts'
import type { Inspection } from '../../../packages/inspector/src/inspection.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { waitFor } from '../../support/wait.ts'
import { writeZip } from '../../support/zip-writer.ts'
import { contentCases } from '../../../packages/inspector/test/archive/cases/contents.ts'
import { nameCases } from '../../../packages/inspector/test/archive/cases/names.ts'
import { recordCases } from '../../../packages/inspector/test/archive/cases/records.ts'
import { HOSTILE_PACKS } from '../../../packages/inspector/test/hostile-packs.ts'

const CASES = [...nameCases, ...contentCases, ...recordCases].filter(({ limits }) => !limits)

/** The archive that a code was made for, from the cases of its own tests. */
const archiveOf = (code: ArchiveCode): Buffer => {
  const found = CASES.find((one) => one.code === code)
  if (!found) throw new Error(`no case of ${code}`)
  return found.zip()
}

const GOOD = { name: '__init__.py', data: 'NODE_CLASS_MAPPINGS = {}\n' }
const inner = writeZip([{ name: 'a.txt', data: 'x' }])

const CODES =
  `path_traversal path_absolute path_backslash path_control duplicate_name name_collision
  file_is_folder symlink special_file size_mismatch bad_crc header_mismatch overlap encrypted
  prepended_data trailing_data entry_too_big too_many_entries`.split(/\s+/) as ArchiveCode[]

/** The rows of the design's table of archives, in their order, with what the verdict or the scan has to say. */
const ARCHIVES: [row: string, zip: () => Buffer, code: ArchiveCode | 'nested_archive'][] = [
  ...CODES.map((code): (typeof ARCHIVES)[number] => [code, () => archiveOf(code), code]),
  ['an inner archive', () => writeZip([GOOD, { name: 'data.zip', data: inner }]), 'nested_archive'],
  ['path_too_long', () => archiveOf('path_too_long'), 'path_too_long'],
]

const PACKS = HOSTILE_PACKS.map(({ files, ...pack }) => ({
  ...pack,
  zip: writeZip(Object.entries(files).map(([name, data]) => ({ name, data, method: 8 }))),
}))
const IN_A_ROW = 50
/** A read or a close of a file that is under way. */
const PASSING = new Set(['FSReqPromise', 'CloseReq'])
/** Memory that a process takes and gives back as it likes, several times what one archive could hold on to. */
const RSS_SLACK = 96 * 2 ** 20

describe('a hostile archive in a process of its own', () => {
  let dir: string
  let inspector: Inspector
  let atStart: Awaited<ReturnType<typeof countHeld>>
  let count = 0

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'kiln-hostile-'))
    inspector = makeLocalInspector({ dir, limits: { runMs: 2 * PATIENCE_MS } })
    await inspect(writeZip([GOOD]))
    // A file that closes only now would be one fewer at the end.
    const isPassing = (name: string) => PASSING.has(name)
    const isAtRest = async () => !process.getActiveResourcesInfo().some(isPassing)
    await waitFor('the files of the first are closed', isAtRest)
    atStart = await countHeld()
  })
  after(async () => {
    await inspector.close()
    assert.deepEqual(await readdir(dir), [], 'neither archives nor records of processes are left')
    await rm(dir, { recursive: true })
  })

  const inspect = async (zip: Buffer): Promise<Inspection> => {
    count += 1
    const path = join(dir, `${count}.zip`)
    await writeFile(path, zip)
    try {
      return await inspector.inspect({ path, nodeId: 'demo', dependencies: [] })
    } finally {
      await rm(path)
    }
  }
  /** Counts what this process holds: open files, what keeps it going, children. Linux lists the files. */
  const countHeld = async () => ({
    files: (await readdir('/proc/self/fd').catch(() => [])).length,
    resources: process
      .getActiveResourcesInfo()
      .filter((name) => !PASSING.has(name))
      .toSorted(),
    children: (await readdir(dir)).filter((name) => name.endsWith('.child.json')).length,
    rss: process.memoryUsage.rss(),
  })

  for (const [title, zip, code] of ARCHIVES)
    test(`reports the one issue of an archive with ${title}`, async () => {
      const { archive, nodes, findings } = await inspect(zip())
      assert.equal(findings.complete, true)
      if (code === 'nested_archive') {
        assert.equal(archive.verdict, 'sound')
        assert.deepEqual(findings.counts, { high: 0, medium: 0, info: 1 })
        return
      }
      assert.equal(archive.verdict, 'rejected')
      assert.equal(archive.code, code)
      assert.ok(archive.message.startsWith(ARCHIVE_CODES[code]), archive.message)
      assert.deepEqual([nodes.status, nodes.reason], ['failed', `archive_${code}`])
      const found = findings.findings.map(({ severity, issue_type: rule }) => [severity, rule])
      assert.deepEqual(found, [['high', `archive_${code}`]])
    })

  for (const { title, zip, isCut, reason } of PACKS)
    test(`keeps what is known of its host nodes: ${title}`, async () => {
      const { archive, nodes, findings } = await inspect(zip)
      assert.equal(archive.verdict, 'sound')
      // Neither memory nor time of the process was spent: the interpreter's own budgets hold.
      assert.deepEqual([nodes.status, nodes.reason], [reason ? 'failed' : 'success', reason])
      assert.equal(nodes.nodes.map(({ name }) => name).join(), reason ? '' : 'Kiln Cup')
      assert.equal(nodes.partial, isCut || reason !== undefined, nodes.reasons.join(', '))
      if (isCut) assert.match(nodes.reasons.join(' '), /^(budget_\w+ ?)+(mapping_rest)?$/)
      assert.deepEqual([findings.complete, findings.counts.high], [true, 0])
    })

  test(`and ${IN_A_ROW} in a row leave nothing behind`, async () => {
    for (let n = count; n < IN_A_ROW; n += 1)
      await inspect(ARCHIVES[n % ARCHIVES.length]?.[1]() ?? GOOD_ZIP)
    const { rss: rssAtStart, ...heldAtStart } = atStart
    const seen = async () => {
      const { rss: _rss, ...held } = await countHeld()
      return held
    }
    // A process that has ended is forgotten, and its pipe closed, soon after.
    const isSame = async () => isDeepStrictEqual(await seen(), heldAtStart)
    await waitFor('all is given back', isSame).catch(async () =>
      assert.deepEqual(await seen(), heldAtStart),
    )
    const { rss } = await countHeld()
    assert.ok(rss - rssAtStart < RSS_SLACK, `${(rss - rssAtStart) >> 20} MiB more`)
  })
})

const GOOD_ZIP = writeZip([GOOD])
