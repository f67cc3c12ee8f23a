import assert from 'node:assert/strict'
import { test } from 'node:test'

import { listPromptWarnings } from '../../../src/tasks/domain/video/video-prompt.ts'

const WARNINGS: [body: Parameters<typeof listPromptWarnings>[0], count: number][] = [
  [{}, 1],
  [{ prompt: '' }, 1],
  [{ prompt: ' \n' }, 1],
  [{ images: [] }, 1],
  [{ prompt: 'a sea' }, 0],
  [{ images: ['https://example.com/a.png'] }, 0],
  [{ is_rec: true }, 0],
]
for (const [body, count] of WARNINGS)
  test(`a video of ${JSON.stringify(body)} has ${count} warnings of its prompt`, () => {
    const warnings = listPromptWarnings(body)
    assert.equal(warnings.length, count)
    for (const warning of warnings) assert.match(warning, /^no prompt: /)
  })
