import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'

import { insertTasks } from '../../../test/support/task-rows.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { assertSound, skip, useConsole } from './harness.ts'

const ISSUE = 'node 4 "Sharpen": there is no class ImageSharpen'
const ABILITIES = {
  'relight+light': { models: [], issues: [] },
  text2video: {
    models: ['wan2.2_t2v_14B.safetensors'],
    model_files: [
      {
        file: 'wan2.2_t2v_14B.safetensors',
        folder: 'diffusion_models',
        url: 'https://models.example/wan.safetensors',
        digest: 'sha256:0af3',
      },
    ],
    issues: [],
  },
  upscale: {
    models: ['4x-general.safetensors'],
    version: '0af3c71b22d94e01' + '0'.repeat(48),
    warnings: ['node 2: LoadImage has no mark, so every task gets "in.png"'],
    issues: [],
  },
  'custom/film.json': { models: [], issues: ['custom/film.json: holds no nodes'] },
}
const LACKING = { ...ABILITIES, upscale: { ...ABILITIES.upscale, issues: [ISSUE] } }

describe('operations of a fleet', { skip }, () => {
  const console = useConsole({ alone: true })

  before(async () => {
    const { sql } = console.service.database
    const rows = [
      ['gpu1', 'up', ABILITIES],
      ['gpu2', 'up', ABILITIES],
      ['gpu3', 'up', LACKING],
      ['gpu4', 'stalled', ABILITIES],
      ['gpu5', 'down', ABILITIES],
      ['gpu10', 'up', ABILITIES],
    ] as const
    for (const [name, state, abilities] of rows)
      await sql`
        insert into instance (name, state, abilities, version, template, seen_at)
        values (${name}, ${state}, ${sql.json(abilities)}, '0.3.64', 'upscale', now() + interval '1 hour')
      `
    await sql`
      update instance set quarantined_at = now(), reason = 'node 3 KSampler: CUDA error: an illegal memory access'
      where name = 'gpu10'
    `
    const ids = await insertTasks(sql, { engine: 'comfyui', state: 'running', count: 3 })
    const place = (task: string, instance: string, state: string, detail: string | null) => sql`
      insert into placement (id, task_id, instance, template, inputs, state, detail)
      values (${randomUUID()}, ${task}, ${instance}, 'upscale', '{}', ${state}, ${detail})
    `
    for (let done = 0; done < 12; done += 1) await place(ids[0] ?? '', 'gpu1', 'done', null)
    await place(
      ids[0] ?? '',
      'gpu1',
      'out_of_memory',
      'node 5 KSampler: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB',
    )
    await place(ids[0] ?? '', 'gpu5', 'broken', 'node 3 KSampler: CUDA error')
    await place(ids[0] ?? '', 'gpu10', 'crashed', 'node 3 KSampler: device-side assert')
    await sql`update task set waits_for = ${['gpu3 cannot run upscale: no', 'gpu4 is drained']} where id = ${ids[2] ?? ''}`
    await place(ids[0] ?? '', 'gpu1', 'open', null)
    await place(ids[1] ?? '', 'gpu1', 'open', null)
  })

  test('shows each instance, what mends it, and what templates lack', async () => {
    const page = await console.open('/operations', { as: 'operator' })
    const table = page.getByRole('table', { name: 'Engine instances' })
    await table.waitFor()
    const names = await table.locator('tr:has(strong) td:first-child strong').allTextContents()
    assert.deepEqual(names, ['gpu10', 'gpu5', 'gpu4', 'gpu1', 'gpu2', 'gpu3'])
    const first = table.getByRole('row', { name: /gpu1 0\.3\.64/ })
    await first.getByText('busy').waitFor()
    await first.getByText('12 done, 1 out of memory').waitFor()
    await first.getByText('4x-general.safetensors').waitFor()
    assert.equal(await first.getByRole('link', { name: 'upscale' }).count(), 2)
    await table.getByText('Restart it, so that it gets tasks.').waitFor()
    await table.getByText('node 5 KSampler: torch.OutOfMemoryError').waitFor()
    const broken = page.getByRole('table', { name: 'Tasks that crash instances' })
    await broken.getByText('gpu5, gpu10').waitFor()
    await broken.getByText('node 3 KSampler: device-side assert').waitFor()
    const templates = page.getByRole('table', { name: 'Engine templates' })
    await templates
      .getByRole('row', { name: /^upscale 0af3c71b22d9 .* 1 task, oldest .* 4 instances$/ })
      .waitFor()
    await templates.getByText('LoadImage has no mark, so every task gets "in.png"').waitFor()
    await templates.getByText('gpu4 is drained: 1 task waiting').waitFor()
    await templates.getByText('diffusion_models/wan2.2_t2v_14B.safetensors').waitFor()
    const link = templates.getByRole('link', { name: 'from (models.example)' })
    assert.equal(await link.getAttribute('href'), 'https://models.example/wan.safetensors')
    await templates.getByText('1 instance cannot run it').click()
    await templates.getByText(ISSUE).waitFor()
    const unusable = templates.getByRole('row', { name: /^custom\/film\.json – no instance$/ })
    await unusable.waitFor()
    await templates.getByText('custom/film.json: holds no nodes').first().waitFor()
    await assertSound(page)
  })

  test('drains an instance and resumes it', async () => {
    const { sql } = console.service.database
    const page = await console.open('/operations', { as: 'operator' })
    const row = page.getByRole('row', { name: /gpu2 0\.3\.64/ })
    await row.getByRole('button', { name: 'Drain' }).click()
    // Enter sends nothing that nobody has entered anything for.
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Enter')
    await page.getByLabel('Reason').fill('its driver is renewed')
    await page.getByRole('button', { name: 'Drain instance' }).click()
    await row.getByText('draining').waitFor()
    await row.getByRole('button', { name: 'Resume' }).click()
    await row.getByRole('button', { name: 'Drain' }).waitFor()
    const log = await waitFor('both entries', async () => {
      const rows = await sql`select action, actor, reason from audit_log order by at`
      return rows.length === 2 && rows
    })
    assert.deepEqual(
      log.map(({ action, reason }) => [action, reason]),
      [
        ['instance.drain', 'its driver is renewed'],
        ['instance.resume', null],
      ],
    )
  })
})
