import { parse } from 'smol-toml'

import type { Publication } from '../index.ts'

/** Publication as a pack's pyproject.toml describes it. */
export interface Project {
  nodeId: string
  publisherId: string | undefined
  node: NonNullable<Publication['node']>
  version: Publication['version']
  /** Paths that are published although git ignores them (`[tool.comfy] includes`), without slashes at their ends. */
  includes: string[]
}

/**
 * Reads `[project]` of the text of a pyproject.toml, and of `[tool.*]` the first table with a PublisherId. Throws an Error that
 * says what to write.
 */
export const parseProject = (text: string): Project => {
  const table = parse(text)
  const project = tableOf(table['project'])
  const nodeId = textOf(project['name'])
  const version = textOf(project['version'])
  if (nodeId === undefined) throw new Error('it has no [project] name = "…"')
  if (version === undefined) throw new Error('it has no [project] version = "1.0.0"')
  const tools = Object.values(tableOf(table['tool'])).map(tableOf)
  const tool =
    tools.find((one) => textOf(one['PublisherId']) !== undefined) ??
    tableOf(tableOf(table['tool'])['comfy'])
  const urls = tableOf(project['urls'])
  const license = textOf(project['license']) ?? JSON.stringify(project['license'])
  const supported = readClassifiers(project['classifiers'])
  return {
    nodeId,
    publisherId: textOf(tool['PublisherId']),
    node: {
      name: textOf(tool['DisplayName']),
      icon: textOf(tool['Icon']),
      banner_url: textOf(tool['Banner']),
      description: textOf(project['description']),
      repository: textOf(urls['Repository'] ?? urls['repository']),
      license: license,
      ...supported,
      // What is undefined is not sent.
    } as Project['node'],
    version: { version, dependencies: textsOf(project['dependencies']), ...supported },
    includes: textsOf(tool['includes']).map((path) => path.replaceAll(/^(\.?\/)+|\/+$/g, '')),
  }
}

const tableOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

/** `Operating System :: POSIX :: Linux` names a system, `Environment :: GPU :: NVIDIA CUDA` an accelerator. */
const readClassifiers = (value: unknown) => {
  const below = (root: string): string[] =>
    textsOf(value).flatMap((one) => (one.startsWith(root) ? one.slice(root.length) : []))
  return {
    supported_os: below('Operating System :: '),
    supported_accelerators: below('Environment :: ').filter((one) => one.startsWith('GPU ::')),
  }
}
