import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

test('only labels.ts reads the column of labels, which holds the owner, too', async () => {
  const readers: string[] = []
  for (const folder of ['src', 'activities'])
    for (const name of await readdir(folder, { recursive: true }))
      if (name.endsWith('.ts') && /\bt\.labels\b/.test(await readFile(join(folder, name), 'utf8')))
        readers.push(join(folder, name))
  assert.deepEqual(readers, [join('src', 'tasks', 'db', 'labels.ts')])
})
