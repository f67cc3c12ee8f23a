import { createHash } from 'node:crypto'

import { SNIPPETS } from './interpret/snippets.ts'
import { extract } from './nodes/extract-pack.ts'
import { CASES } from './scan/code-cases.ts'
import { EVASIONS, HARMLESS } from './scan/pack-cases.ts'
import { scanFiles } from './scan/support.ts'

/** Reads every synthetic pack and case with extractor and scanner: a digest each, without measurements of the run. */
export const readAllResults = (): {
  nodes: Record<string, string>
  findings: Record<string, string>
} => {
  const nodes = SNIPPETS.map(({ id, files }): [string, string] => {
    const { stats: _, ...section } = extract(files)
    return [id, digestOf(section)]
  })
  const findings = CASES.map(({ rule, hits, passes }): [string, string] => [
    rule,
    digestOf([...hits, ...passes].map((source) => scanFiles({ '__init__.py': source }))),
  ])
  const packs = digestOf([...EVASIONS, ...HARMLESS].map(({ files }) => scanFiles(files)))
  return {
    nodes: Object.fromEntries(nodes),
    findings: { ...Object.fromEntries(findings), packs },
  }
}

/** The version of whoever made it is no part of a result. */
const digestOf = (value: unknown): string =>
  createHash('sha256')
    .update(
      JSON.stringify(value, (key, member: unknown) =>
        key === 'extractorVersion' || key === 'scannerVersion' ? undefined : member,
      ),
    )
    .digest('hex')
    .slice(0, 16)

/** `node tools/run.mjs packages/inspector/test/results.ts` prints them, for results.json and for a run in another place. */
if (process.argv[1] === import.meta.filename)
  process.stdout.write(`${JSON.stringify(readAllResults())}\n`)
