import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker'

import { workflowBundle } from '../support/stack.ts'
import { ROOT } from '../../src/local/root.ts'

/** Our own files in a bundle outside the folder of the workflows, from its source map. */
const listStrangers = (code: string, folder: string): string[] => {
  const map = /sourceMappingURL=data:[^,]*,([A-Za-z0-9+/=]+)/.exec(code)?.[1] ?? ''
  const { sources } = JSON.parse(Buffer.from(map, 'base64').toString()) as { sources: string[] }
  assert.ok(sources.some((path) => path.startsWith(join(ROOT, folder))))
  return sources
    .filter((path) => path.startsWith(ROOT) && !path.includes('node_modules'))
    .map((path) => path.slice(ROOT.length + 1))
    .filter((path) => !path.startsWith(folder))
}

describe('the workflow bundle', () => {
  test('stays below 2 MB', async () => {
    const { length } = await readFile(workflowBundle())
    assert.ok(length < 2_000_000, `${length} bytes`)
  })

  test('holds no code of ours but the workflows', async () => {
    assert.deepEqual(listStrangers(await readFile(workflowBundle(), 'utf8'), 'workflows/'), [])
  })

  test('would show a value that a workflow imports from elsewhere', async () => {
    const { code } = await bundleWorkflowCode({
      workflowsPath: join(ROOT, 'test/workflows/value-import.ts'),
      logger: new DefaultLogger('WARN'),
    })
    assert.deepEqual(listStrangers(code, 'test/workflows/'), ['src/tasks/domain/task-error.ts'])
  })
})
