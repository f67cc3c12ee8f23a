import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { COMMANDS } from '../../packages/client/src/cli/commands.ts'
import { TOOLS } from '../../packages/client/src/cli/mcp.ts'
import { makeKiln } from '../../packages/client/src/index.ts'
import { listClientRows, namesOf } from '../../tools/docs/clients.ts'
import type { ClientRow } from '../../tools/docs/clients.ts'

const kiln: unknown = makeKiln({ baseUrl: 'http://kiln.test' })

const isMethod = (name: string): boolean =>
  typeof name.split('.').reduce((at, part) => (at as never)?.[part], kiln) === 'function'

/** True for a command, and for a part of it that its usage names. */
const isCommand = (name: string): boolean => {
  const [command = '', part] = name.split(' ')
  const { usage } = COMMANDS[command] ?? {}
  return usage !== undefined && (part === undefined || usage.split(/[\s|[\]]/).includes(part))
}

/** Names of methods, commands or tools in a column. */
const namesIn = (column: keyof ClientRow): string[] => [
  ...new Set(listClientRows().flatMap((row) => namesOf(row[column]))),
]

// The test of the Python client checks the names in Python.
describe('the table of the clients', () => {
  test('names methods of the TypeScript client', () => {
    for (const name of namesIn('typescript')) assert.ok(isMethod(name), name)
    assert.ok(!isMethod('tasks.none'))
  })

  test('names commands of the command line', () => {
    for (const name of namesIn('command')) assert.ok(isCommand(name), name)
    assert.ok(!isCommand('tasks none'))
  })

  test('names tools of a model, and leaves out none', () => {
    assert.deepEqual(namesIn('tool').toSorted(), Object.keys(TOOLS).toSorted())
  })

  test('has every method of TypeScript that sends a request', () => {
    const listed = new Set(namesIn('typescript'))
    const methods = Object.entries(kiln as object).flatMap(([name, value]) =>
      typeof value === 'function'
        ? [name]
        : Object.keys(value as object).map((method) => `${name}.${method}`),
    )
    const left = methods.filter((name) => !listed.has(name) && !name.startsWith('routes.'))
    assert.deepEqual(left, [])
  })
})
