import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'

import { PYTHON_ENGINE, REQUIREMENTS } from '../../../tools/build-python.ts'
import { installPython, Skipped } from '../../../tools/python.ts'

/** Folder of the programs; where there is none, why. */
const installed = await installPython('python', REQUIREMENTS).catch((error: unknown) => {
  if (error instanceof Skipped) return error
  throw error
})
const skip = installed instanceof Skipped ? installed.message : false

const run = async (program: string, ...args: string[]) => {
  const ran = promisify(execFile)(join(String(installed), program), args, { cwd: PYTHON_ENGINE })
  await ran.catch((error: { stdout: string; stderr: string }) =>
    assert.fail(error.stdout + error.stderr),
  )
}

/** Lines that are not blank. */
const countLines = async (name: string): Promise<number> => {
  const text = await readFile(join(PYTHON_ENGINE, 'src/kiln_engine', name), 'utf8')
  return (text.match(/\S.*$/gm) ?? []).length
}

describe('kiln-engine', { skip }, () => {
  test('has types that a strict check takes', async () => {
    await run('mypy', '--cache-dir', join(String(installed), '../mypy-engine'))
  })

  test('is formatted', async () => {
    await run('ruff', 'format', '--check', '--no-cache', '.')
    await run('ruff', 'check', '--no-cache', '.')
  })

  test('is small', async () => {
    const names = await readdir(join(PYTHON_ENGINE, 'src/kiln_engine'))
    const sources = names.filter((name) => name.endsWith('.py') && name !== 'conform.py')
    const counts = await Promise.all(sources.map(countLines))
    const sum = counts.reduce((one, other) => one + other)
    assert.ok(sum <= 430, `${sum} lines`)
    assert.ok((await countLines('conform.py')) <= 168)
  })
})
