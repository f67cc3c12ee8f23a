import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'

import sharp from 'sharp'

import type { Sql } from '../../../src/platform/db/client.ts'
import { ROOT } from '../../../src/local/root.ts'
import { examine } from '../../../src/operate/doctor.ts'
import { makeFleetChecks } from '../../../src/operate/fleet-checks.ts'
import { makeFleetCommands } from '../../../src/operate/fleet.ts'
import type { Config } from '../../../src/compose/settings/env.ts'
import { FILM, makePortrait, makeTemplateFolder } from '../../support/comfyui/custom.ts'
import { AUDIT } from '../../registry/db/registry-place.ts'
import { startFakeComfy } from '../../support/comfyui/fake.ts'
import type { FakeComfyOptions } from '../../support/comfyui/fake.ts'
import { PATIENCE_MS } from '../../support/patience.ts'

const TEMPLATES = join(ROOT, 'deploy/comfyui/templates')

const CONFIG = {
  COMFYUI_TEMPLATES: TEMPLATES,
  COMFYUI_URLS: [] as string[],
  COMFYUI_TOKEN: '',
  COMFYUI_STALL_SECONDS: 600,
  ENGINES_HTTP: [] as string[],
  ENGINES_HTTP_TOKENS: [] as string[],
  ENGINES: ['upscale:comfyui'],
  IMAGE_ENGINE: 'local',
  VIDEO_ENGINE: 'local',
  OUTBOUND_PORTS: [] as number[],
  OUTBOUND_DENY: [] as string[],
  OUTBOUND_PROXY: '',
} as Config

const makeDir = async (t: TestContext): Promise<string> => {
  const dir = await mkdtemp(join(tmpdir(), 'kiln-samples-'))
  t.after(() => rm(dir, { recursive: true }))
  return dir
}

/** Instances `gpu1`, `gpu2`, …, and settings that name them. */
const start = async (t: TestContext, ...given: FakeComfyOptions[]) => {
  const fakes = await Promise.all(given.map((options) => startFakeComfy(options)))
  t.after(() => Promise.all(fakes.map((fake) => fake.close())))
  const COMFYUI_URLS = fakes.map(({ url }, index) => `gpu${index + 1}=${url}`)
  return { fakes, config: { ...CONFIG, COMFYUI_URLS } }
}

/** Runs `kiln operate templates`: its lines, and the message with which it ends. */
const checkTemplates = async (config: Config, folder?: string) => {
  const lines: string[] = []
  const { templates } = makeFleetCommands({
    config,
    sql: {} as Sql,
    audit: AUDIT,
    searchPath: process.env['PATH'] ?? '',
    write: (line) => lines.push(line),
  })
  const end = await templates(folder).catch((error: Error) => error.message)
  return { lines: lines.join('\n'), end }
}

const NO_SQL = (): Sql => assert.fail('what waits is tested with a database')
const checksOf = (config: Config) =>
  makeFleetChecks({ config, sql: NO_SQL }).filter(([name]) => name !== 'waiting tasks')

const doctor = async (config: Config) => {
  const { lines, isWell } = await examine(checksOf(config), { issues: [], limitMs: PATIENCE_MS })
  return { isWell, lines: lines.slice(1).map((line) => line.replace(/ +/g, ' ')) }
}

describe('kiln operate templates', { concurrency: true }, () => {
  test('names what an instance lacks', async (t) => {
    const { config } = await start(t, { without: ['ImageSharpen'] })
    const { lines, end } = await checkTemplates(config)
    assert.match(lines, /gpu1 {2}relight\+light {2}can be run/)
    assert.match(lines, /gpu1 {2}upscale {2}node 4 "Sharpen": there is no class ImageSharpen$/m)
    assert.match(lines, /^result {2}upscale {2}node 9 "kiln:result" SaveImage$/m)
    assert.match(
      lines,
      /^needs {2}custom\/upscale-model {2}kiln-tiny-x2\.safetensors: put it into models\/upscale_models$/m,
    )
    assert.equal(end, 'no instance can run skin_flexible, upscale: the lines above say why')
  })

  test('renders a sample of each where it can be run, and leaves nothing there', async (t) => {
    const present = { version: '0.38.1' }
    const { config, fakes } = await start(t, { without: ['ImageSharpen', 'CreateVideo'] }, present)
    const dir = await makeDir(t)
    const { lines, end } = await checkTemplates(config, dir)
    assert.equal(end, '7 templates are valid')
    const files = ['custom/poster.png', 'custom/upscale-model.png', 'extend.mp4']
    files.push('relight+light.png', 'skin_flexible.png', 'text2video+start.mp4', 'upscale.png')
    for (const file of files) assert.ok(lines.includes(`rendered ${join(dir, file)}`), file)
    assert.match(lines, /^gpu2 {2}upscale {2}rendered /m)
    const found = await readdir(dir, { recursive: true })
    assert.deepEqual(found.filter((name) => name.includes('.')).toSorted(), files)
    const { width, height } = await sharp(join(dir, 'upscale.png')).metadata()
    assert.deepEqual([width, height], [512, 512])
    assert.equal((await readFile(join(dir, 'extend.mp4'))).toString('latin1', 4, 8), 'ftyp')
    for (const { folders } of fakes) {
      const left = await readdir(folders.root, { recursive: true, withFileTypes: true })
      for (const { name, parentPath } of left.filter((entry) => entry.isFile()))
        assert.equal((await readFile(join(parentPath, name))).length, 0, name)
    }
  })

  test('says by id and title which node a sample has failed at', async (t) => {
    const { config, fakes } = await start(t, {})
    const dir = await makeDir(t)
    const text = await readFile(join(TEMPLATES, 'upscale.json'), 'utf8')
    await writeFile(join(dir, 'upscale.json'), text)
    const invalid = text.replace('"alpha": 0.4', '"alpha": 40').replace('kiln:scale', 'Factor')
    await writeFile(join(dir, 'skin_flexible.json'), invalid)
    fakes[0]?.faults.push('raise')
    const { lines, end } = await checkTemplates({ ...config, COMFYUI_TEMPLATES: dir }, dir)
    assert.match(
      lines,
      /^gpu1 {2}upscale {2}failed: node 1 "kiln:image" LoadImage: ValueError: kiln test fault/m,
    )
    assert.match(
      lines,
      /^gpu1 {2}skin_flexible {2}failed: node 4 "Sharpen" ImageSharpen, alpha \(an integer\): value_bigger_than_max/m,
    )
    assert.equal(end, 'no sample of skin_flexible, upscale: the lines above say why')
  })

  test('says of a template in `custom` why it is no kind', async (t) => {
    const { config } = await start(t, {})
    const { folder, write, close } = await makeTemplateFolder()
    t.after(close)
    await write('film', FILM)
    const clash = ['PrimitiveInt', { value: 7 }, 'kiln:mode'] as const
    await write('portrait', makePortrait({ 5: clash }))
    const { lines, end } = await checkTemplates({ ...config, COMFYUI_TEMPLATES: folder })
    assert.match(lines, /^kind {2}custom\/film {2}POST \/templates\/film\/tasks$/m)
    assert.match(lines, /^kind {2}custom\/portrait {2}none: node 5 "kiln:mode": a field has one/m)
    assert.equal(end, 'custom/portrait can be no kind: the lines above say why')
  })

  test('names the members of each file, what may not be meant, and the nearest class', async (t) => {
    const { config, fakes } = await start(t, {})
    const { folder, write, close } = await makeTemplateFolder()
    t.after(close)
    await writeFile(join(fakes[0]?.folders.root ?? '', 'input', 'in.png'), '')
    const lost = ['LoadImage', { image: 'in.png' }, 'kiln image'] as const
    await write('portrait', makePortrait({ 1: lost }))
    const { lines, end } = await checkTemplates({ ...config, COMFYUI_TEMPLATES: folder })
    assert.match(
      lines,
      /^members {2}custom\/portrait {2}radius, softness, strength, mode, prompt, seed$/m,
    )
    assert.match(lines, /^warning {2}custom\/portrait {2}node 1 "kiln image": .*every task gets/m)
    assert.equal(end, '1 template is valid')
    const withKind = { ...config, COMFYUI_TEMPLATES: folder, ENGINES: [] }
    const [found = ''] = (await doctor(withKind)).lines
    assert.match(
      found,
      /^ok templates 1 is valid, .* each; custom\/portrait: node 1 "kiln image": /,
    )
    await write('portrait', makePortrait({ 2: ['ImageBlurr', { image: ['1', 0] }] }))
    const unknown = await checkTemplates({ ...config, COMFYUI_TEMPLATES: folder })
    assert.match(unknown.lines, /there is no class ImageBlurr; did you mean ImageBlur\?$/m)
  })

  test('names a template that has the name of an engine, as the start does', async (t) => {
    const { config } = await start(t, {})
    const engines = ['poster=http://127.0.0.1:9']
    const { lines, end } = await checkTemplates({ ...config, ENGINES_HTTP: engines })
    assert.match(
      lines,
      /^custom\/poster\.json: an engine of ENGINES_HTTP has this name: rename one$/m,
    )
    assert.equal(end, 'custom/poster.json cannot be used: the lines above say why')
    const [found = ''] = (await doctor({ ...config, ENGINES_HTTP: engines })).lines
    assert.match(found, /^WARN templates .*an engine of ENGINES_HTTP has this name/)
  })

  test('warns of kinds without a template, and of templates whose kinds go elsewhere', async (t) => {
    const { config } = await start(t, {})
    const check = async (more: object) => (await checkTemplates({ ...config, ...more })).lines
    const kinds = { ENGINES: ['upscale:comfyui', 'skin_creative:comfyui'], VIDEO_ENGINE: 'comfyui' }
    const lines = await check(kinds)
    assert.match(
      lines,
      /^warning {2}none for skin_creative: add or mend skin_creative\.json in COMFY/m,
    )
    assert.match(
      lines,
      /^warning {2}no tasks come to relight\.json, skin_flexible\.json unless .*: ENGINES=relight:comfyui,skin_flexible:comfyui sends/m,
    )
    const empty = { COMFYUI_TEMPLATES: await makeDir(t), ENGINES: [] }
    assert.match(
      await check(empty),
      /^warning {2}COMFYUI_TEMPLATES has no template, so .*COMFYUI_URLS/m,
    )
  })

  test('says which folder cannot be read', async () => {
    const { end } = await checkTemplates({ ...CONFIG, COMFYUI_TEMPLATES: '/nowhere' })
    assert.equal(end, 'COMFYUI_TEMPLATES must be a folder that can be read (ENOENT), got /nowhere')
  })

  test('checks the good files beside one that cannot be used', async (t) => {
    const { config } = await start(t, {})
    const { folder, write, close } = await makeTemplateFolder()
    t.after(close)
    await write('film', FILM)
    await write('half', '{"1"')
    const { lines, end } = await checkTemplates({ ...config, COMFYUI_TEMPLATES: folder })
    assert.match(lines, /^custom\/half\.json: .*JSON/m)
    assert.match(lines, /^kind {2}custom\/film {2}POST \/templates\/film\/tasks$/m)
    assert.equal(end, 'custom/half.json cannot be used: the lines above say why')
  })

  test('says of a template that it can be run nowhere', async (t) => {
    const { config, fakes } = await start(t, {})
    await fakes[0]?.kill()
    const { lines, end } = await checkTemplates(config, await makeDir(t))
    assert.match(lines, /^gpu1 {2}upscale {2}no connection could be made/m)
    assert.match(end, /^no sample of extend, .*, custom\/upscale-model: /)
  })
})

describe('the doctor', { concurrency: true }, () => {
  test('has nothing to say where nothing uses ComfyUI', () => {
    assert.deepEqual(makeFleetChecks({ config: { ...CONFIG, ENGINES: [] }, sql: NO_SQL }), [])
  })

  test('says where its instances are known', async () => {
    const { lines, isWell } = await doctor(CONFIG)
    assert.match(lines.join(), /^ok comfyui renders upscale; with COMFYUI_URLS, as core workers/)
    assert.ok(isWell)
  })

  test('has a line for the templates, and one for each instance', async (t) => {
    const argv = ['--disable-metadata']
    const { config } = await start(t, { argv }, { without: ['ImageSharpen'] })
    assert.deepEqual(await doctor(config), {
      isWell: true,
      lines: [
        'ok templates 7 are valid, and an instance can run each',
        'ok gpu1 ComfyUI 0.3.64 runs 7 of 7 templates',
        'ok gpu2 ComfyUI 0.3.64 runs 5 of 7 templates; start it with --disable-metadata, or its files keep texts of callers; for skin_flexible install there: node 4 "Sharpen": there is no class ImageSharpen; for upscale install there: node 4 "Sharpen": there is no class ImageSharpen',
      ],
    })
  })

  test('has a line for each source, with the instances that it names now', async (t) => {
    const { fakes } = await start(t, { argv: ['--disable-metadata'] }, {})
    await fakes[1]?.kill()
    const dir = await makeDir(t)
    const [list, none] = [join(dir, 'list'), join(dir, 'none')]
    await writeFile(list, fakes.map(({ url }, index) => `gpu${index + 1}=${url}`).join('\n'))
    await writeFile(none, '# scaled to none')
    const sources = [list, none, join(dir, 'absent')].map((path) => `file:${path}`)
    const config = { ...CONFIG, COMFYUI_URLS: sources }
    const { lines, isWell } = await doctor(config)
    const [templates, ...others] = lines
    assert.equal(templates, 'ok templates 7 are valid, and an instance can run each')
    const [found = '', empty, absent = ''] = others.map((line) => line.replaceAll(`${dir}/`, ''))
    assert.match(found, /^ok file:list gpu1 ComfyUI 0\.3\.64 runs 7 of 7 templates; gpu2 no conn/)
    assert.equal(empty, 'WARN file:none names no instance now')
    assert.match(absent, /^ERROR file:absent ENOENT.*: start it, or correct its address in COMFY/)
    assert.ok(!isWell)
    const checked = await checkTemplates(config)
    assert.match(checked.lines, /^file:.*absent {2}ENOENT[^]*\ngpu1 {2}/)
    assert.match(checked.lines, /^gpu2 {2}upscale {2}no connection could be made/m)
  })

  test('warns of files that cannot be used, and looks at the others', async (t) => {
    const { config } = await start(t, {})
    const { folder, write, close } = await makeTemplateFolder()
    t.after(close)
    await cp(join(TEMPLATES, 'upscale.json'), join(folder, 'upscale.json'))
    await write('half', '{"1"')
    const { lines, isWell } = await doctor({ ...config, COMFYUI_TEMPLATES: folder })
    const found =
      /^WARN templates 1 is valid, and an instance can run each; custom\/half\.json: .*JSON/
    assert.match(lines[0] ?? '', found)
    assert.ok(isWell)
    await write('portrait', makePortrait({ 5: ['PrimitiveInt', { value: 7 }, 'kiln:mode'] }))
    const clash = await doctor({ ...config, COMFYUI_TEMPLATES: folder })
    assert.match(
      clash.lines[0] ?? '',
      /^ERROR templates no instance can run custom\/portrait: .*half/,
    )
    assert.match(clash.lines[1] ?? '', /runs 1 of 2 .*custom\/portrait is no kind: node 5/)
    await rm(join(folder, 'upscale.json'))
    const without = await doctor({ ...config, COMFYUI_TEMPLATES: folder })
    assert.match(without.lines[0] ?? '', /^ERROR templates none for upscale: .*; custom\/half/)
  })

  test('says what to do about an instance that is away, another server, or a proxy', async (t) => {
    const { config, fakes } = await start(t, {}, {}, {})
    await fakes[0]?.kill()
    const only = (fake: (typeof fakes)[number] | undefined, status: number): void => {
      if (fake) fake.intercept = () => ({ status, body: '{}' })
    }
    only(fakes[1], 200)
    only(fakes[2], 401)
    const { lines, isWell } = await doctor(config)
    const [templates = '', away = '', ...others] = lines
    assert.ok(!isWell)
    assert.match(
      templates,
      /^ERROR templates no instance can run extend, .*: the lines of the instances say why$/,
    )
    assert.match(away, /^ERROR gpu1 .*: start it, or correct its address in COMFYUI_URLS$/)
    assert.deepEqual(others, [
      'ERROR gpu2 is no ComfyUI: correct its address in COMFYUI_URLS',
      'ERROR gpu3 responded with status 401: correct COMFYUI_TOKEN',
    ])
  })

  test('says which kinds have no template', async (t) => {
    const { config } = await start(t, {})
    const { lines } = await doctor({ ...config, ENGINES: ['skin_creative:comfyui'] })
    assert.match(
      lines[0] ?? '',
      /^ERROR templates none for skin_creative: add or mend skin_creative\.json/,
    )
    const { lines: absent } = await doctor({ ...config, COMFYUI_TEMPLATES: '/nowhere' })
    assert.match(absent[0] ?? '', /^ERROR templates ENOENT.*: correct COMFYUI_TEMPLATES$/)
    assert.match(absent[1] ?? '', /^ok gpu1 ComfyUI 0\.3\.64 runs 0 of 0 templates/)
  })
})
