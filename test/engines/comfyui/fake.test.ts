/**
 * The sentences about ComfyUI that an engine is built on, asserted of the fake that all other tests use and, where
 * COMFYUI_URL names one, of a real one: what is true of both keeps the fake honest. The last fault of a real one with the
 * class KilnFault ends its worker, so it has to be started again.
 */
import { describe, test } from 'node:test'

import { startFakeComfy } from '../../support/comfyui/fake.ts'
import { use } from '../../support/use.ts'
import { ABILITY_CHECKS } from './ability-checks.ts'
import { CANCEL_CHECKS } from './cancel-checks.ts'
import { FAULT_CHECKS } from './fault-checks.ts'
import { PROGRESS_CHECKS } from './progress-checks.ts'
import { PROMPT_CHECKS } from './prompt-checks.ts'
import { RESULT_CHECKS } from './result-checks.ts'
import { makeSubject } from './subject.ts'
import type { Check, Subject } from './subject.ts'
import { UPLOAD_CHECKS } from './upload-checks.ts'

const CHECKS: readonly Check[] = [
  ...ABILITY_CHECKS,
  ...PROMPT_CHECKS,
  ...UPLOAD_CHECKS,
  ...PROGRESS_CHECKS,
  ...RESULT_CHECKS,
  ...CANCEL_CHECKS,
  ...FAULT_CHECKS,
]

const assertAll = (name: string, start: () => Promise<Started>): void => {
  describe(name, () => {
    const started = use(start, ({ close }) => close())
    for (const { title, versions, needs, run } of CHECKS)
      test(title, async (context) => {
        const { subject } = started
        const found = subject.version.startsWith('0.3.') ? 'without jobs' : 'with jobs'
        if (versions !== undefined && versions !== found) return context.skip(`${versions} only`)
        if (needs?.(subject) === false) return context.skip('it lacks what this needs')
        try {
          await run(subject)
        } catch (error) {
          // What it has left running must not hold up the others.
          await subject.post('/queue', { clear: true })
          await subject.post('/interrupt', {})
          throw error
        }
      })
  })
}

interface Started {
  subject: Subject
  close: () => unknown
}

const startFake = async (options: Parameters<typeof startFakeComfy>[0]): Promise<Started> => {
  const fake = await startFakeComfy({ maxUploadBytes: 2_000_000, ...options })
  return { subject: await makeSubject(fake.url), close: fake.close }
}

assertAll('the fake of ComfyUI 0.3.64', async () => await startFake({}))
assertAll(
  'the fake of a ComfyUI with jobs',
  async () => await startFake({ version: '0.38.0', argv: ['--disable-metadata'] }),
)

const url = process.env['COMFYUI_URL']
if (url !== undefined)
  assertAll('a real ComfyUI', async () => ({
    subject: await makeSubject(url.replace(/\/$/, '')),
    close: () => {},
  }))
