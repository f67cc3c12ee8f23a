import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { readArchive } from '../packages/inspector/src/archive/read-archive.ts'
import { openFileSource } from '../packages/inspector/src/archive/source.ts'
import { readPack } from '../packages/inspector/src/index.ts'
import type { Inspection } from '../packages/inspector/src/inspection.ts'
import type { WorkflowResolution } from '../src/registry/domain/graph/resolve.ts'
import type { Owned } from '../test/registry/http/registry-support.ts'
import { expectStatus } from '../test/support/client.ts'
import { startApi, withRegistry } from './support/registry.ts'
import { at, say, showResult } from './support/results.ts'

const FOUND = { unit: 'share', atLeast: 0.95 }
const RESOLVED = { unit: 'ms', atMost: 100 }
const SHOWN = Number(process.env['SHOWN'] ?? 40)

/**
 * Publishes the packs in a folder (PACKS, one zip each) with the host nodes that the inspector finds, and resolves every example
 * workflow in them. Says how many classes are found again, why others are not, and what a request costs.
 */
export const run = async (): Promise<void> => {
  const folder = process.env['PACKS']
  if (folder === undefined) return say('PACKS must name a folder with a zip of each pack')
  await withRegistry(100, async (keep, place) => {
    const service = keep(await startApi(place))
    // It plans a database of its own when it is loaded, and makes none.
    process.env['TEST_DATABASE_URL'] ??= place.url
    const { makeRegistry } = await import('../test/registry/http/registry-support.ts')
    const registry = makeRegistry(service, place)
    const owned = await registry.addPublisher()
    const examples: Example[] = []
    for (const file of (await readdir(folder)).filter((name) => name.endsWith('.zip')).toSorted())
      examples.push(...(await publish(owned, join(folder, file))))
    say(`${new Set(examples.map(({ pack }) => pack)).size} packs with examples`)
    const tally: Tally = { classes: 0, found: 0, misses: new Map() }
    const costs: Record<string, number[]> = {}
    for (const { workflow } of examples)
      for (const verb of ['resolve', 'check']) {
        const start = performance.now()
        const asked = registry.anonymous.post(`/workflows/${verb}`, { workflow })
        const { body } = expectStatus(await asked, 200)
        ;(costs[`${verb} ms`] ??= []).push(performance.now() - start)
        ;(costs[`${verb} bytes`] ??= []).push(JSON.stringify(body).length)
        if (verb === 'resolve') add(tally, body as unknown as WorkflowResolution)
      }
    show(tally, costs)
  })
}

interface Example {
  pack: string
  workflow: unknown
}

/** Publishes one pack, and reads its examples. */
const publish = async (owned: Owned, path: string): Promise<Example[]> => {
  const { nodes: section, findings }: Inspection = await readPack(path)
  const text = await makeReader(path)
  const project = text('pyproject.toml')
  const id = /^name\s*=\s*"([^"]+)"/m.exec(project)?.[1] ?? path.replace(/^.*\/|\.zip$/g, '')
  const repository = /^Repository\s*=\s*"([^"]+)"/im.exec(project)?.[1] ?? ''
  const added = await owned.addActive({ nodeId: id, node: { repository } })
  const { examples = [] } = section
  const broken = findings.findings.filter(({ issue_type: rule }) => rule === 'broken-example')
  say(
    `${id}: ${section.nodes.length} host nodes${section.partial ? ' (partial)' : ''}, ${examples.length} examples`,
  )
  for (const { file_path: file, message } of broken) say(`  ${file}: ${message}`)
  const nodes = Object.fromEntries(
    section.nodes.map((node) => {
      const { name, dynamic: _, ...fields } = node
      return [name, fields]
    }),
  )
  expectStatus(await owned.owner.post(`${added.version}/host-nodes`, { nodes }), 204)
  return examples
    .filter(({ form }) => form !== 'none')
    .map((one) => ({ pack: id, workflow: JSON.parse(text(one.path)) as unknown }))
}

const makeReader = async (path: string): Promise<(name: string) => string> => {
  const source = await openFileSource(path)
  const read = await readArchive(source)
  await source.close()
  const entries = read.verdict === 'sound' ? read.entries : []
  const files = new Map(entries.map(({ path: name, text }) => [name, text]))
  return (name) => new TextDecoder().decode(files.get(name))
}

interface Tally {
  /** Different classes in each workflow. */
  classes: number
  found: number
  misses: Map<string, number>
}

const add = (tally: Tally, { host_nodes }: WorkflowResolution): void => {
  for (const { host_node: name, origin, reason, message, node_id } of host_nodes) {
    tally.classes += 1
    if (origin !== 'unknown') tally.found += 1
    if (origin !== 'unknown' && reason !== 'recorded') continue
    const cause = reason === 'recorded' ? `recorded ${node_id}` : causeOf(message)
    const key = `${cause}: ${name}`
    tally.misses.set(key, (tally.misses.get(key) ?? 0) + 1)
  }
}

const causeOf = (message: string): string =>
  /saved with ("[^"]*")/.exec(message)?.[1] ?? 'no pack recorded'

const show = (tally: Tally, costs: Readonly<Record<string, number[]>>): void => {
  const misses = [...tally.misses].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN)
  for (const [name, count] of misses) say(`${String(count).padStart(5)}  ${name}`)
  say(`${tally.classes} classes in all workflows`)
  showResult('workflows.classes_found', tally.found / tally.classes, FOUND)
  for (const [name, values] of Object.entries(costs)) {
    const sorted = values.toSorted((a, b) => a - b)
    say(`${name}: p50 ${at(sorted, 0.5).toFixed(1)}, p95 ${at(sorted, 0.95).toFixed(1)}`)
    if (name === 'resolve ms') showResult('workflows.resolve_p95', at(sorted, 0.95), RESOLVED)
  }
}
