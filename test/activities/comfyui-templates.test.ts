import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'

import { makeKeepTemplates } from '../../activities/comfyui-templates.ts'
import { ROOT } from '../../src/local/root.ts'
import { listTemplates } from '../../src/db/task/template.ts'
import type { FakeComfyOptions } from '../support/comfyui/fake.ts'
import { FILM, makePortrait, makeTemplateFolder } from '../support/comfyui/custom.ts'
import { startFleet } from './comfyui-place.ts'
import { usePlace } from './place.ts'

const place = usePlace()
let fleets = 0

/** A fleet, and workers that each follow a folder of their own. */
const start = async (t: TestContext, given: readonly FakeComfyOptions[] = [{}]) => {
  await place.database.sql`delete from template`
  const fleet = await startFleet(place, `templates${(fleets += 1)}`, given)
  t.after(fleet.close)
  const logged: object[] = []
  const said: unknown[] = []
  const log = {
    ...place.deps.log,
    info: ({ template }: { template: string }, message: string) => said.push([template, message]),
    error: (facts: object) => logged.push(facts),
  }
  const makeWorker = async () => {
    const folder = await makeTemplateFolder()
    t.after(folder.close)
    const deps = { ...fleet.deps, log: log as unknown as typeof place.deps.log }
    const keep = makeKeepTemplates(deps, folder.folder)
    const pass = async (): Promise<void> => {
      for (const instance of fleet.deps.fleet.instances) await instance.probe(performance.now())
      await keep()
    }
    return { ...folder, pass }
  }
  return { ...fleet, logged, said, makeWorker }
}

const names = async (): Promise<string[]> =>
  (await listTemplates(place.database.sql)).map(({ name }) => name)

describe('a worker that follows its templates', () => {
  test('changes nothing while a file cannot be used, and says so once', async (t) => {
    const { makeWorker, logged } = await start(t)
    const { write, remove, pass } = await makeWorker()
    await write('portrait', makePortrait())
    await pass()
    await write('film', '{"1"')
    await remove('portrait')
    await pass()
    await pass()
    assert.deepEqual(await names(), ['portrait'])
    assert.equal(logged.length, 1)
    assert.match(JSON.stringify(logged), /custom\/film\.json/)
    await write('film', FILM)
    await pass()
    assert.deepEqual(await names(), ['film'])
  })

  test('logs which workflows have changed, and when apis have a kind', async (t) => {
    const { makeWorker, said } = await start(t)
    const { folder, write, pass } = await makeWorker()
    const own = join(folder, 'upscale.json')
    const text = await readFile(join(ROOT, 'deploy/comfyui/templates/upscale.json'), 'utf8')
    const logged = async (): Promise<unknown[]> => {
      await pass()
      return said.splice(0)
    }
    await writeFile(own, text)
    assert.ok((await logged()).length > 0, 'the others are gone')
    assert.deepEqual(await logged(), [])
    await writeFile(own, text.replace('0.4', '0.5'))
    assert.deepEqual(await logged(), [['upscale', 'a template was changed']])
    await write('film', FILM)
    const isKind = 'a template is a kind: apis have it within 10 seconds'
    assert.deepEqual(await logged(), [['custom/film', isKind]])
    await rm(own)
    assert.deepEqual(await logged(), [['upscale', 'a template is gone']])
  })

  test('makes no kind beyond fifty', async (t) => {
    const { makeWorker, logged } = await start(t)
    const { write, pass } = await makeWorker()
    for (let number = 1; number <= 51; number += 1) await write(`film-${number}`, FILM)
    await pass()
    assert.deepEqual(await names(), [])
    assert.match(JSON.stringify(logged), /custom\/: has 51 templates, and at most 50 can be kinds/)
  })

  test('makes a kind once an instance can describe it, and keeps it while none responds', async (t) => {
    const without = ['ImageBlur']
    const lacking = await start(t, [{ without }])
    const alone = await lacking.makeWorker()
    await alone.write('portrait', makePortrait())
    await alone.pass()
    assert.deepEqual(await names(), [])
    assert.match(JSON.stringify(lacking.logged), /there is no class ImageBlur/)

    const { makeWorker, fakes } = await start(t, [{ without }, {}])
    const { write, pass } = await makeWorker()
    await write('portrait', makePortrait())
    await pass()
    const [before] = await listTemplates(place.database.sql)
    for (const fake of fakes) await fake.kill()
    await write('portrait', makePortrait({ 5: ['PrimitiveInt', { value: 7 }, 'kiln:number'] }))
    await pass()
    assert.deepEqual([...(await listTemplates(place.database.sql))], [before])
    for (const fake of fakes) await fake.start()
    await pass()
    const [after] = await listTemplates(place.database.sql)
    assert.ok(after && 'number' in after.members)
  })

  test('does not undo what a worker has written whose folder is newer', async (t) => {
    const { makeWorker } = await start(t)
    const [old, renewed] = [await makeWorker(), await makeWorker()]
    for (const worker of [old, renewed]) {
      await worker.write('portrait', makePortrait())
      await worker.pass()
    }
    const [before] = await listTemplates(place.database.sql)
    await renewed.write(
      'portrait',
      makePortrait({ 5: ['PrimitiveInt', { value: 7 }, 'kiln:number'] }),
    )
    await renewed.write('film', FILM)
    await renewed.pass()
    await old.pass()
    const [film, portrait] = await listTemplates(place.database.sql)
    assert.equal(film?.name, 'film')
    assert.ok(portrait && before && portrait.id !== before.id)
    assert.ok('number' in portrait.members)
    // What it was before is the same row again: tasks made with it are with it still.
    await renewed.write('portrait', makePortrait())
    await renewed.pass()
    const [, again] = await listTemplates(place.database.sql)
    assert.equal(again?.id, before.id)
  })
})
