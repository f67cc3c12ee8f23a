import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { TASK_ERRORS, TaskError } from '../../../src/tasks/domain/task-error.ts'
import type { TaskErrorCode } from '../../../src/tasks/domain/task-error.ts'
import {
  VIDEO_ERRORS,
  isVideoErrorCode,
  toVideoError,
} from '../../../src/tasks/domain/video/video-error.ts'
import {
  VIDEO_CANCELLABLE_STATES,
  VIDEO_DELIVERED_STATES,
  VIDEO_TASK_TRANSITIONS,
  VIDEO_TERMINAL_STATES,
  VideoTaskState,
} from '../../../src/tasks/domain/video/video-task.ts'

describe('the states of a video task', () => {
  test('are reached by the documented moves alone', () => {
    const transitions = Object.entries(VIDEO_TASK_TRANSITIONS).flatMap(([to, from]) =>
      from.map((state) => `${state} → ${to}`),
    )
    assert.deepEqual(transitions, [
      'created → queueing',
      'queueing → processing',
      'processing → success',
      'created → failed',
      'queueing → failed',
      'processing → failed',
    ])
  })

  test('are left unless they are terminal', () => {
    const left = new Set<string>(Object.values(VIDEO_TASK_TRANSITIONS).flat())
    for (const state of VideoTaskState.enum)
      assert.equal(left.has(state), !VIDEO_TERMINAL_STATES.includes(state), state)
  })

  test('all states but the first are sent to a callback', () => {
    assert.deepEqual(
      VideoTaskState.enum.filter((state) => !VIDEO_DELIVERED_STATES.includes(state)),
      ['created'],
    )
  })

  test('allow a cancellation until a worker has the task', () => {
    assert.deepEqual(VIDEO_CANCELLABLE_STATES, ['created', 'queueing'])
  })
})

describe('the error of a video task', () => {
  const NAMED: readonly string[] = ['engine_crashed', 'start_timeout', 'deadline_exceeded']

  test('has the code of its cause and medium', () => {
    const codes: Partial<Record<TaskErrorCode, [image: string, video: string]>> = {
      cancelled: ['UserCancelled', 'UserCancelled'],
      download_failed: ['ImageDownloadFailure', 'VideoDownloadFailure'],
      address_refused: ['ImageDownloadFailure', 'VideoDownloadFailure'],
      file_too_large: ['PageSizeOutOfRange', 'VideoFormatInvalid'],
      image_invalid: ['ImageFormatInvalid', 'VideoFormatInvalid'],
      pixel_limit: ['ImageSizeInvalid', 'VideoFormatInvalid'],
      video_invalid: ['VideoFormatInvalid', 'VideoFormatInvalid'],
    }
    const OTHERS = ['InternalServiceFailure', 'InternalServiceFailure']
    for (const code of Object.keys(TASK_ERRORS) as TaskErrorCode[]) {
      const issue = new TaskError(code, 'It names field and limit.')
      const image = toVideoError(issue, 'image')
      assert.deepEqual([image.code, toVideoError(issue, 'video').code], codes[code] ?? OTHERS)
      assert.equal(image.cause, issue)
      const isNamed = NAMED.includes(code)
      const said = `${isNamed ? `${code}: ` : ''}It names field and limit.`
      assert.equal(image.message, code === 'address_refused' ? 'address not allowed' : said)
    }
  })

  test('an error of an image task does not repeat its code', () => {
    for (const [code, message] of Object.entries(TASK_ERRORS))
      assert.ok(!message.startsWith(`${code}:`), message)
  })

  test('an error of a video task is recognized by its code, which no other word is', () => {
    for (const code of Object.keys(VIDEO_ERRORS)) assert.ok(isVideoErrorCode(code))
    for (const word of ['', 'toString', 'usercancelled', 5, undefined])
      assert.equal(isVideoErrorCode(word), false)
  })
})
