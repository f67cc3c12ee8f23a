import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

import { readUserName } from '../../src/operate/user-name.ts'

const ask = (option: string): string => execFileSync('id', [option], { encoding: 'utf8' }).trim()

test("is that of the system, whatever the environment says, and the user's number without one", () => {
  assert.equal(readUserName(), ask('-un'))
  const unknown = () => {
    throw new Error('ENOENT')
  }
  assert.equal(readUserName(unknown), ask('-u'))
})
