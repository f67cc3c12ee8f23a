import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { ROOT } from '../../../src/local/root.ts'
import { SCHEMA, readSchema } from '../../../tools/docs/schema.ts'
import { useDatabase } from '../../support/stack.ts'

const database = useDatabase()

test('the page of the schema is what the migrations make (npm run docs)', async () => {
  assert.equal(await readSchema(database.sql), await readFile(join(ROOT, SCHEMA), 'utf8'))
})
