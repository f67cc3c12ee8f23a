import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'

// That the links of the tour lead somewhere is among the tests of all documents.

test('each journey of the tour has at most 25 lines, and its steps are links to files', async () => {
  const [, ...journeys] = (await readFile(join(ROOT, 'docs/tour.md'), 'utf8')).split(/^## /m)
  assert.equal(journeys.length, 6)
  for (const journey of journeys) {
    const [title, ...lines] = journey.trim().split('\n')
    assert.ok(lines.filter((line) => line !== '').length <= 25, title)
    const steps = lines.join('\n').split(/^(?=\d+\. )/m)
    for (const step of steps.filter((text) => /^\d/.test(text)))
      assert.match(step, /\]\(\.\.\/\w/, `${title}: ${step}`)
  }
})

test('each trigger is named where a statement fires it, and each signal where it is sent', async () => {
  const sql = await readFile(join(ROOT, 'docs/reference/schema.sql'), 'utf8')
  const sources = await readFiles('src', '.ts')
  const made = [...sql.matchAll(/^create (?:constraint )?trigger (\w+)/gim)]
  const triggers = made.map(([, name]) => name)
  assert.ok(triggers.length > 10)
  for (const name of triggers)
    assert.ok(sources.includes(`\`${name}\``), `${name} is not named in src`)
  const workflows = await readFiles('workflows', '.ts')
  const senders = sources + sql
  for (const [, name] of workflows.matchAll(/defineSignal(?:<[^(]*>)?\('(\w+)'\)/g))
    assert.match(senders, new RegExp(`'${name}'`), `nobody sends ${name}`)
})

const readFiles = async (folder: string, ending: string): Promise<string> => {
  const all = await readdir(join(ROOT, folder), { recursive: true })
  const names = all.filter((name) => name.endsWith(ending))
  const texts = names.map((name) => readFile(join(ROOT, folder, name), 'utf8'))
  return (await Promise.all(texts)).join('\n')
}
