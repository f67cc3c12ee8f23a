import assert from 'node:assert/strict'
import { test } from 'node:test'

import { listTemplates, sortInstances, type Instance } from '../src/operations/fleet-rows.ts'

test('instances that an operator mends come first, then by number', () => {
  const make = (name: string, state: Instance['state']) => ({ name, state }) as Instance
  const sorted = sortInstances([
    make('gpu10', 'ready'),
    make('gpu2', 'ready'),
    make('gpu3', 'busy'),
    make('gpu4', 'gone'),
    make('gpu5', 'quarantined'),
  ])
  assert.deepEqual(
    sorted.map(({ name }) => name),
    ['gpu5', 'gpu4', 'gpu3', 'gpu2', 'gpu10'],
  )
})

test('templates have their queues, also those of kinds that have none of their own name', () => {
  const template = (name: string) => ({
    name,
    warnings: [],
    models: [],
    model_files: [],
    able: 2,
    lacking: [],
  })
  const queue = (name: string, tasks: number) => ({
    template: name,
    tasks,
    oldest_seconds: 9,
    reasons: [{ reason: 'gpu1 is drained', tasks }],
  })
  const rows = listTemplates({
    instances: [],
    crashed: [],
    templates: [template('relight+light'), template('upscale')],
    waiting: [queue('skin_creative', 5), queue('relight', 3), queue('upscale', 1)],
  })
  assert.deepEqual(
    rows.map(({ name, tasks, able, reasons }) => [name, tasks, able, reasons.length]),
    [
      ['skin_creative', 5, 0, 1],
      ['relight', 3, undefined, 1],
      ['upscale', 1, 2, 1],
      ['relight+light', 0, 2, 0],
    ],
  )
})
