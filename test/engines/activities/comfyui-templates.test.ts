import assert from 'node:assert/strict'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'

import { makeKeepTemplates } from '../../../activities/engines/comfyui-templates.ts'
import { ADMISSION } from '../../../src/platform/db/change-notification.ts'
import { ROOT } from '../../../src/local/root.ts'
import { listTemplates } from '../../../src/engines/db/template.ts'
import { makeMetrics } from '../../../src/platform/process/metrics.ts'
import type { FakeComfyOptions } from '../../support/comfyui/fake.ts'
import { CLIP, FILM, makePortrait, makeTemplateFolder } from '../../support/comfyui/custom.ts'
import { startFleet } from './comfyui-place.ts'
import { see, usePlace } from '../../tasks/activities/place.ts'

const place = usePlace()
let fleets = 0

/** A fleet, and workers that each follow a folder of their own. */
const start = async (t: TestContext, given: readonly FakeComfyOptions[] = [{}]) => {
  await place.database.sql`delete from template`
  const fleet = await startFleet(place, `templates${(fleets += 1)}`, given)
  t.after(fleet.close)
  const logged: object[] = []
  const messages: Record<string, string> = {}
  const warned: object[] = []
  const said: unknown[] = []
  const notified: string[] = []
  const log = {
    ...place.deps.log,
    info: ({ template }: { template: string }, message: string) => said.push([template, message]),
    error(facts: { file: string }, message: string) {
      logged.push(facts)
      messages[facts.file] = message
    },
    warn: (facts: object) => warned.push(facts),
  }
  const metrics = makeMetrics()
  const makeWorker = async () => {
    const folder = await makeTemplateFolder()
    t.after(folder.close)
    const deps = {
      ...fleet.deps,
      metrics,
      log: log as unknown as typeof place.deps.log,
      notifyChange: (id: string) => void notified.push(id),
    }
    let keep = makeKeepTemplates(deps, folder.folder)
    const pass = async (): Promise<void> => {
      for (const instance of fleet.deps.fleet.instances) await instance.probe(performance.now())
      await keep()
    }
    const restart = async (): Promise<void> => {
      const fresh = { ...fleet.deps.fleet, templates: [], custom: [], unusable: {} }
      keep = makeKeepTemplates({ ...deps, fleet: fresh }, folder.folder)
      await pass()
    }
    return { ...folder, pass, restart }
  }
  return { ...fleet, metrics, logged, messages, warned, said, notified, makeWorker }
}

const names = async (): Promise<string[]> =>
  (await listTemplates(place.database.sql)).map(({ name }) => name)

describe('a worker that follows its templates', () => {
  test('shows metrics of the templates that there are, however many come and go', async (t) => {
    const { makeWorker, metrics } = await start(t)
    const { write, remove, pass } = await makeWorker()
    const run = (template: string): void => {
      metrics.fleetWaits.observe({ template }, 1)
      metrics.fleetRuns.observe({ template }, 1)
    }
    const shown = async () =>
      [...(await metrics.registry.metrics()).matchAll(/seconds_count\{template="(.*?)"/g)].map(
        ([, template]) => template,
      )
    await write('portrait', makePortrait())
    for (const name of ['film-1', 'film-2', 'film-3']) {
      await write(name, FILM)
      await pass()
      for (const template of [`custom/${name}`, 'custom/portrait']) run(template)
      await remove(name)
      assert.equal((await shown()).length, 4)
      await pass()
      assert.deepEqual(await shown(), ['custom/portrait', 'custom/portrait'])
    }
    // One of its tasks went on.
    run('custom/film-3')
    await pass()
    assert.deepEqual(await shown(), ['custom/portrait', 'custom/portrait'])
  })

  test('takes good files beside those that cannot be used, each of which it logs once', async (t) => {
    const { makeWorker, logged, deps } = await start(t)
    const { folder, write, remove, pass } = await makeWorker()
    const files = (): string[] =>
      (logged as { file: string }[]).map(({ file }) => file.replace('custom/', '')).toSorted()
    await write('portrait', makePortrait())
    await pass()
    assert.deepEqual(files(), [])
    // A copy that has begun, a map without its template or of half its size, a folder, and a mark that two nodes share.
    await write('portrait', makePortrait().slice(0, 40))
    await write('half', '{"1"')
    await write('gone.map', '{}')
    await write('clip', CLIP)
    await write('clip.map', '{"values"')
    await write('gone.workflow', '{"nodes":[]}')
    await mkdir(join(folder, 'custom/dir.json'))
    await write('clash', makePortrait({ 5: ['PrimitiveInt', { value: 7 }, 'kiln:mode'] }))
    await writeFile(join(folder, 'notes.json'), '{}')
    await write('film', FILM)
    await write('film.workflow', '{"nodes":[]}')
    await pass()
    await pass()
    const film = deps.fleet.custom.find(({ name }) => name === 'custom/film')
    assert.deepEqual(film?.workflow, { nodes: [] })
    assert.deepEqual(await names(), ['film', 'portrait'])
    const unusable = [
      'clash',
      'clip',
      'dir',
      'gone.map',
      'gone.workflow',
      'half',
      'notes',
      'portrait',
    ]
    assert.deepEqual(
      files(),
      unusable.map((name) => `${name}.json`),
    )
    assert.match(
      JSON.stringify(logged),
      /"custom\/clip\.map\.json: is not JSON: line 1, column 10 ends too early"/,
    )
    assert.match(
      JSON.stringify(logged),
      /custom\/gone\.workflow\.json: no template is called custom\/gone"/,
    )
    assert.ok(
      deps.fleet.custom.some(({ name }) => name === 'custom/portrait'),
      'as it was',
    )

    await write('half', FILM)
    await remove('portrait')
    await pass()
    assert.deepEqual(await names(), ['film', 'half'])
    assert.equal(logged.length, unusable.length)
    await write('half', '{"1"')
    await pass()
    assert.deepEqual(files().filter((name) => name === 'half.json').length, 2, 'it was mended')
  })

  test('leaves kinds as they are whose files cannot be used at its start', async (t) => {
    const { makeWorker, messages } = await start(t)
    const { write, pass, restart } = await makeWorker()
    await write('portrait', makePortrait())
    await pass()
    await write('portrait', '{"1"')
    await write('film', FILM)
    await write('half', '{"1"')
    await restart()
    assert.deepEqual(await names(), ['film', 'portrait'])
    assert.deepEqual(messages, {
      'custom/half.json': 'a template cannot be used',
      'custom/portrait.json': 'a template cannot be used: what was read of it before stays',
    })
  })

  test('warns once of what a template may not mean, and again when that changes', async (t) => {
    const { makeWorker, warned } = await start(t)
    const { write, pass } = await makeWorker()
    const portraitOf = (title: string) =>
      makePortrait({ 1: ['LoadImage', { image: 'in.png' }, title] })
    for (const title of ['kiln:imgae', 'kiln:imgae', 'kiln:image', 'kiln:imgae']) {
      await write('portrait', portraitOf(title))
      await pass()
    }
    const meant = 'node 1 "kiln:imgae": imgae is a member of its own; did you mean image?'
    const line = { template: 'custom/portrait', issues: [meant] }
    assert.deepEqual(warned, [line, line])
  })

  test('names the nearest class for one that no instance has', async (t) => {
    const { makeWorker, logged } = await start(t)
    const { write, pass } = await makeWorker()
    await write('portrait', makePortrait({ 3: ['ImageBlendd', { image1: ['1', 0] }] }))
    await pass()
    const issue = 'node 3 "ImageBlendd": there is no class ImageBlendd; did you mean ImageBlend?'
    assert.deepEqual(logged, [{ file: 'custom/portrait.json', issues: [issue] }])
  })

  test('lets tasks go on that wait for a file once it can be used', async (t) => {
    const { makeWorker, insert, notified } = await start(t)
    const { write, pass } = await makeWorker()
    const [portrait, film] = [await insert(), await insert()]
    for (const [id, name] of [
      [portrait, 'portrait'],
      [film, 'film'],
    ] as const) {
      await write(name, '{"1"')
      const waitsOn = `template:custom/${name}.json`
      await place.database
        .sql`update task set engine = 'comfyui', waits_on = ${waitsOn} where id = ${id}`
    }
    const waits = async () =>
      await Promise.all(
        [portrait, film].map(async (id) => (await see(place.database, id)).waits_on),
      )
    await pass()
    assert.deepEqual(await waits(), ['template:custom/portrait.json', 'template:custom/film.json'])
    await write('portrait', makePortrait())
    assert.ok(!notified.includes(ADMISSION))
    await pass()
    assert.deepEqual(await waits(), ['turn', 'template:custom/film.json'])
    assert.ok(notified.includes(ADMISSION))
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
    assert.deepEqual(await logged(), [['upscale', 'a template is new, or was changed']])
    await write('film', FILM)
    const isKind = 'a template is a kind: apis have it within 10 seconds'
    assert.deepEqual(await logged(), [['custom/film', isKind]])
    await rm(own)
    assert.deepEqual(await logged(), [['upscale', 'a template is gone']])
  })

  test('makes no kind beyond fifty, and leaves those that there are', async (t) => {
    const { makeWorker, logged } = await start(t)
    const { write, pass, restart } = await makeWorker()
    const fifty = Array.from({ length: 50 }, (_, number) => `film-${number}`)
    for (const name of fifty) await write(name, FILM)
    await pass()
    // It comes before the others in the order of names.
    await write('a-film', FILM)
    for (const again of [pass, restart]) {
      await again()
      assert.deepEqual(await names(), fifty.toSorted())
    }
    const reason = 'custom/a-film.json: at most 50 templates can be kinds'
    const line = { file: 'custom/a-film.json', issues: [reason] }
    assert.deepEqual(logged, [line, line], 'once in each life of the worker')
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
