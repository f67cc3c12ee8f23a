import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'

import { parse } from 'yaml'

import { ROOT } from '../../src/local/root.ts'
import { WITHOUT_PROMETHEUS } from '../support/prometheus.ts'
import { findProgram } from '../support/run-program.ts'

const FOLDER = join(ROOT, 'deploy/prometheus')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const run = promisify(execFile)
const promtool = findProgram('promtool')
const skip = promtool === undefined && WITHOUT_PROMETHEUS

interface Rules {
  groups: { rules: { alert: string; annotations: { runbook_url: string } }[] }[]
}

const { rules = [] } = (parse(read('deploy/prometheus/alerts.yml')) as Rules).groups[0] ?? {}
const operations = read('docs/operations.md')

describe('the alerts', () => {
  for (const [what, ...args] of [
    ['are rules that Prometheus takes', 'check', 'rules', 'alerts.yml'],
    ['are found by a configuration that Prometheus takes', 'check', 'config', 'prometheus.yml'],
    ['fire at metrics of a broken service and no others', 'test', 'rules', 'alerts.test.yml'],
  ] as const)
    test(what, { skip }, async () => {
      await run(promtool ?? '', args, { cwd: FOLDER })
    })

  test('have a section each that says what to do', () => {
    const sections = [...operations.matchAll(/^### (Kiln\w+)$/gm)].map(([, name]) => name)
    const names = rules.map(({ alert }) => alert)
    assert.deepEqual(names, sections)
    for (const { alert, annotations } of rules)
      assert.equal(annotations.runbook_url, `docs/operations.md#${alert.toLowerCase()}`)
  })

  test('alerts and the dashboard ask for metrics that exist', () => {
    const asked = read('deploy/prometheus/alerts.yml') + read('deploy/grafana/kiln.json')
    const names = asked.match(/\bkiln_[a-z_]+/g) ?? []
    for (const name of new Set(names.map((name) => name.replace(/_(bucket|count|sum)$/, ''))))
      assert.ok(operations.includes(`\`${name}\``), name)
  })
})
