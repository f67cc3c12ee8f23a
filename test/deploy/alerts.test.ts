import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'

import { parse } from 'yaml'

import { makeFleetReader } from '../../src/engines/temporal/fleet-metrics.ts'
import { makeStoreReader } from '../../src/platform/temporal/store-size.ts'
import { ROOT } from '../../src/local/root.ts'
import {
  makeMetrics,
  showClock,
  showPool,
  timeStorage,
} from '../../src/platform/process/metrics.ts'
import { makeMetricsReader } from '../../src/platform/temporal/metrics-reader.ts'
import { InstanceState } from '../../src/tasks/domain/fleet.ts'
import { makePauseReader } from '../../src/tasks/temporal/pause-metrics.ts'
import { WITHOUT_PROMETHEUS } from '../support/prometheus.ts'
import { findProgram } from '../support/run-program.ts'

const FOLDER = join(ROOT, 'deploy/prometheus')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const run = promisify(execFile)
const promtool = findProgram('promtool')
const skip = promtool === undefined && WITHOUT_PROMETHEUS

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: { runbook_url: string } }[] }[]
}

const { rules = [] } = (parse(read('deploy/prometheus/alerts.yml')) as Rules).groups[0] ?? {}
const runbook = read('docs/operations/troubleshoot.md')
const guide = read('docs/operations/run.md')

/** Metrics for whoever looks closer. */
const UNASKED = [
  'kiln_comfyui_model_switches_total',
  'kiln_comfyui_placement_duration_seconds',
  'kiln_comfyui_wait_seconds',
  'kiln_engine_failures_total',
  'kiln_tasks_oldest_seconds',
  'kiln_upstream_resubmissions_total',
]

interface Dashboard {
  panels: { title: string; targets: { expr: string; legendFormat: string }[] }[]
}

/** A name of a metric in PromQL with its matchers. */
const SELECTOR = /\b((?:kiln|nodejs|process)_[a-z0-9_]+)(?:\{([^}]*)\})?/g
const MATCHER = /(\w+)(=~|!=|!~|=)"([^"]*)"/g

/** Labels that Prometheus adds to what it reads. */
const ADDED = ['job', 'instance']

/** Values of labels that are a list in the code. */
const VALUES: Record<string, readonly string[]> = {
  'kiln_comfyui_instances state': InstanceState.enum,
}

/** All metrics of all processes with their labels, as the code registers them. */
const listMetrics = () => {
  const metrics = makeMetrics()
  const none = {} as never
  showPool(metrics, 1)
  showClock(metrics, () => Promise.resolve(0))
  timeStorage(metrics, none, '/')
  makePauseReader({ sql: none, metrics })
  makeFleetReader({ sql: none, metrics })
  makeStoreReader({ url: 'postgres://127.0.0.1:1/none', metrics })
  makeMetricsReader({
    sql: none,
    jobs: none,
    taskQueue: '',
    metrics,
    readQueueFacts: none,
    dependencies: none,
    measureBacklog: none,
    isKind: () => true,
    reads: [],
  })
  const registered = metrics.registry.getMetricsAsArray() as unknown as Registered[]
  return new Map(
    registered.map(({ name, type, labelNames = [] }) => {
      const le = type === 'histogram' ? ['le'] : []
      return [name, { labels: new Set([...labelNames, ...le, ...ADDED]) }]
    }),
  )
}

interface Registered {
  name: string
  type?: string
  labelNames?: string[]
}

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
    const sections = [...runbook.matchAll(/^### (Kiln\w+)$/gm)].map(([, name]) => name)
    const names = rules.map(({ alert }) => alert)
    assert.deepEqual(names, sections)
    for (const { alert, annotations } of rules)
      assert.equal(
        annotations.runbook_url,
        `docs/operations/troubleshoot.md#${alert.toLowerCase()}`,
      )
  })

  const metrics = listMetrics()
  const panels = (JSON.parse(read('deploy/grafana/kiln.json')) as Dashboard).panels
  const asked = [
    ...rules.map(({ alert, expr }) => ({ of: `alert ${alert}`, expr, legend: '' })),
    ...panels.flatMap(({ title, targets }) =>
      targets.map(({ expr, legendFormat: legend }) => ({ of: `panel ${title}`, expr, legend })),
    ),
  ]

  for (const { of, expr, legend } of asked)
    test(`asks for metrics and labels that the code has: ${of}: ${expr}`, () => {
      const found = [...expr.matchAll(SELECTOR)].map(([, name = '', matchers = '']) => {
        const metric = metrics.get(name) ?? metrics.get(name.replace(/_(bucket|count|sum)$/, ''))
        assert.ok(metric, `${name} is no metric of the code`)
        for (const [, label = '', , values = ''] of matchers.matchAll(MATCHER)) {
          assert.ok(metric.labels.has(label), `${name} has no label ${label}`)
          const known = VALUES[`${name} ${label}`]
          for (const value of known ? values.split('|') : [])
            assert.ok(known?.includes(value), `${name} is never ${value}`)
        }
        return metric
      })
      const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
        list.split(', '),
      )
      const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
      for (const label of [...grouped, ...shown])
        assert.ok(found.some(({ labels }) => labels.has(label)) || found.length === 0, label)
    })

  test('the guide names every metric, and dashboard or alerts show most of them', () => {
    const own = [...metrics.keys()].filter((name) => name.startsWith('kiln_'))
    for (const name of own) assert.ok(guide.includes(`\`${name}\``), name)
    const text = asked.map(({ expr }) => expr).join()
    const unasked = own.filter((name) => !text.includes(name)).toSorted()
    assert.deepEqual(unasked, UNASKED)
  })
})
