import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import {
  abilityIssues,
  extraOf,
  fillTemplate,
  listAdvice,
} from '../../../src/engines/domain/template/fill.ts'
import { listModels } from '../../../src/engines/domain/template/models.ts'
import { readNodeClass, type NodeClasses } from '../../../src/engines/domain/template/node-class.ts'
import { listLeftFiles, readRunEnd } from '../../../src/engines/domain/template/run-end.ts'
import {
  chooseTemplate,
  findBroken,
  readTemplate,
  type Template,
} from '../../../src/engines/domain/template/template.ts'
import { ROOT } from '../../../src/local/root.ts'
import { readVersion } from '../../support/comfyui/object-info.ts'

const FOLDER = join(ROOT, 'deploy/comfyui/templates')

type Nodes = Record<
  string,
  { class_type: string; inputs: Record<string, unknown>; _meta?: { title: string } }
>

const load = (path: string): Nodes => JSON.parse(readFileSync(join(FOLDER, path), 'utf8')) as Nodes

const readFile = (path: string, text = JSON.stringify(load(path)), map?: string) =>
  readTemplate({ path, text, map })

const get = (path: string): Template => {
  const { template, issues } = readFile(path)
  assert.deepEqual(issues, [])
  assert.ok(template)
  return template
}

/** Reads a case with one node changed. */
const readWith = (path: string, change: (nodes: Nodes) => void, map?: string): string[] => {
  const nodes = load(path)
  change(nodes)
  return readFile(path, JSON.stringify(nodes), map).issues
}

const node = (nodes: Nodes, id: string) => {
  const found = nodes[id]
  assert.ok(found)
  return found
}
const title = (id: string, to: string) => (nodes: Nodes) => {
  node(nodes, id)['_meta'] = { title: to }
}
const input = (id: string, name: string, to: unknown) => (nodes: Nodes) => {
  node(nodes, id).inputs[name] = to
}

/** A graph of one class under titles. */
const graphOf = (class_type: string, ...titles: string[]): string =>
  JSON.stringify(
    Object.fromEntries(
      titles.map((title, index) => [
        index + 1,
        { class_type, inputs: { filename_prefix: 'a' }, _meta: { title } },
      ]),
    ),
  )

const INT = (min: number, max: number) => ['INT', { min, max }]
const INFO: Record<string, object> = {
  LoadImage: { image: [['in.png'], { image_upload: true }] },
  ImageScaleBy: {
    image: ['IMAGE'],
    upscale_method: [['lanczos']],
    scale_by: ['FLOAT', { min: 0.01, max: 8 }],
  },
  PrimitiveFloat: { value: ['FLOAT', { min: -100, max: 100 }] },
  ImageSharpen: { sharpen_radius: INT(1, 31), sigma: ['FLOAT', {}], alpha: ['FLOAT', {}] },
  SaveImage: { images: ['IMAGE'], filename_prefix: ['STRING', {}] },
  UpscaleModelLoader: { model_name: ['COMBO', { options: ['kiln-tiny-x2.safetensors'] }] },
  ImageUpscaleWithModel: {},
  PrimitiveStringMultiline: { value: ['STRING', { multiline: true }] },
  PrimitiveInt: { value: INT(-10, 96) },
  RepeatImageBatch: { amount: INT(1, 4096) },
  CreateVideo: { fps: ['FLOAT', { min: 1, max: 120 }] },
  SaveVideo: {
    filename_prefix: ['STRING', {}],
    format: ['COMBO', { options: ['auto', 'mp4'] }],
    codec: ['COMBO', { options: ['auto', 'h264'] }],
  },
  ImageBlend: {
    blend_factor: ['FLOAT', { min: 0, max: 1 }],
    blend_mode: [['normal', 'soft_light']],
  },
}
const CLASSES: NodeClasses = Object.fromEntries(
  Object.entries(INFO).map(([name, required]) => [
    name,
    readNodeClass({ [name]: { input: { required } } }, name),
  ]),
)

/** A model as the editor's form names it, with an address that somebody has copied. */
const TINY = {
  name: 'kiln-tiny-x2.safetensors',
  url: 'https://me:secret@models.example/tiny.safetensors?download=true&token=secret',
  hash: '0aF3',
  hash_type: 'SHA256',
  directory: 'upscale_models',
}

describe('a template', () => {
  test('is read from each of the workflows of the cases', () => {
    const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    const templates = files.filter((path) => path.endsWith('.json')).map(get)
    assert.deepEqual(
      Object.fromEntries(
        templates.map(({ name, kind, marks, results }) => [
          name,
          [
            kind,
            results.map(({ node }) => node).join(),
            ...marks.map(
              ({ name, node, input, divisor }) => `${name}: ${node}.${input} /${divisor}`,
            ),
          ],
        ]),
      ),
      {
        'relight+light': [
          'relight',
          '9',
          'image: 1.image /1',
          'transfer_light_from_reference_image: 2.image /1',
          'light_transfer_strength: 3.blend_factor /100',
        ],
        extend: ['extend', '9', 'video: 1.file /1', 'frames: 4.value /1'],
        skin_flexible: ['skin_flexible', '9', 'image: 1.image /1', 'sharpen: 3.blend_factor /100'],
        'text2video+start': [
          'text2video',
          '9',
          'start: 1.image /1',
          'prompt: 2.value /1',
          'frames: 3.value /1',
          'fps: 5.fps /1',
        ],
        upscale: ['upscale', '9', 'image: 1.image /1', 'scale: 2.value /1'],
        'custom/poster': [
          undefined,
          '9',
          'image: 1.image /1',
          'softness: 2.sigma /1',
          'strength: 3.blend_factor /100',
          'mode: 3.blend_mode /1',
          'factor: 4.scale_by /1',
        ],
        'custom/upscale-model': [undefined, '9', 'image: 1.image /1'],
      },
    )
  })

  const REJECTED: [name: string, issues: string[], wanted: RegExp][] = [
    ['no JSON', readFile('upscale.json', '{').issues, /^upscale\.json: .*JSON/],
    [
      'the editor’s format',
      readFile('upscale.json', '{"nodes":[]}').issues,
      /saved for the editor: export it once more/,
    ],
    ['an empty graph', readFile('upscale.json', '{}').issues, /no nodes/],
    [
      'a node without class_type',
      readFile('upscale.json', '{"3":{"inputs":{}}}').issues,
      /node 3 has no class_type/,
    ],
    [
      'a file of no kind',
      readFile('upscal.json', '{}').issues,
      /no kind is called upscal; did you mean upscale\?; others belong in custom\//,
    ],
    [
      'a word of no input',
      readFile('relight+lite.json', JSON.stringify(load('relight+light.json'))).issues,
      /relight has no input lite; did you mean light\?/,
    ],
    [
      'an unknown field',
      readWith('upscale.json', title('2', 'kiln:scal')),
      /node 2 "kiln:scal": no field is called scal; did you mean scale\?/,
    ],
    ...['klin', 'Kilm', 'kil', 'kiiln'].map((prefix): [string, string[], RegExp] => [
      `the prefix ${prefix}`,
      readWith('upscale.json', title('4', `${prefix}:hdr=sigma`)),
      new RegExp(`"${prefix}:hdr=sigma": ${prefix} marks nothing; did you mean kiln:hdr=sigma\\?`),
    ]),
    ...[' kiln : image', 'kiln：image', 'Kiln:image', 'kiln;image'].map(
      (title_): [string, string[], RegExp] => [
        `the title ${title_}`,
        readWith('upscale.json', title('1', title_)),
        /: node 1 ".+": "[kK]iln ?[:：;]" marks nothing; did you mean kiln:image\?/,
      ],
    ),
    ...[
      ['// made on Monday', 2],
      ['/* of "2" */', 3],
      ['# a note', 4],
    ].map(([comment, line]): [string, string[], RegExp] => [
      `the comment ${comment}`,
      readFile('upscale.json', `{${'\n'.repeat(Number(line) - 1)}${comment}\n "1": {"a": "#//"}}`)
        .issues,
      new RegExp(`^upscale\\.json: line ${line} has a comment, which JSON has not: take it out$`),
    ]),
    [
      'a comment in its map',
      readFile('upscale.json', undefined, '{\n"values": {} // none\n}').issues,
      /^upscale\.map\.json: line 2 has a comment/,
    ],
    [
      'a comment in place of a node',
      readFile('upscale.json', '{"//": "made on Monday"}').issues,
      /"\/\/" is no node: take it out/,
    ],
    [
      'another file in place of the editor’s form',
      readTemplate({
        path: 'upscale.json',
        text: JSON.stringify(load('upscale.json')),
        workflow: '{}',
      }).issues,
      /^upscale\.workflow\.json: has no list of nodes: save it by Workflow > Export/,
    ],
    [
      'a divisor of 0',
      readWith('upscale.json', title('2', 'kiln:scale/0')),
      /behind \/ must be a number/,
    ],
    [
      'a divisor that is no number',
      readWith('upscale.json', title('2', 'kiln:scale/x')),
      /behind \/ must be a number/,
    ],
    [
      'a mark that may mean several inputs',
      readWith('upscale.json', title('4', 'kiln:scale')),
      /node 4 "kiln:scale": several inputs could be meant: add =<input>, one of sharpen_radius, sigma, alpha/,
    ],
    [
      'an input that is not there',
      readWith('upscale.json', title('4', 'kiln:hdr=sigm')),
      /has no input sigm; did you mean sigma\?/,
    ],
    [
      'an input that is linked',
      readWith('upscale.json', title('3', 'kiln:scale=scale_by')),
      /scale_by is linked to another node/,
    ],
    [
      'a text in place of a file',
      readWith('upscale.json', title('1', 'kiln:prompt')),
      /image names a file, and prompt is none/,
    ],
    [
      'a text in a prefix',
      readWith('upscale.json', title('9', 'kiln:prompt=filename_prefix')),
      /filename_prefix names a file/,
    ],
    [
      'a kind’s own file that nothing takes',
      readWith('upscale.json', title('1', 'Load')),
      /no node is titled kiln:image/,
    ],
    [
      'a word’s file that nothing takes',
      readWith('relight+light.json', title('2', 'Load')),
      /no node is titled kiln:light or kiln:transfer/,
    ],
    [
      'a file that not every task has',
      readFile('text2video.json', JSON.stringify(load('text2video+start.json'))).issues,
      /not every task has start: call the file …\+start\.json/,
    ],
    [
      'nothing that saves',
      readWith('upscale.json', (nodes) => delete nodes['9']),
      /no node saves anything/,
    ],
    [
      'two nodes that save',
      readWith('upscale.json', (nodes) => {
        title('9', 'Save')(nodes)
        nodes['10'] = { class_type: 'PreviewImage', inputs: {} }
      }),
      /nodes 9 \(SaveImage\), 10 \(PreviewImage\) save something: title one of them kiln:result/,
    ],
    [
      'a result that its kind cannot have',
      readWith('upscale.json', (nodes) => {
        nodes['9'] = { class_type: 'SaveVideo', inputs: { filename_prefix: 'a' } }
      }),
      /node 9 "SaveVideo": SaveVideo makes a video; a result here is a picture or an animation/,
    ],
    [
      'a result that nobody can be given',
      readFile('custom/latent.json', graphOf('SaveLatent', 'kiln:result')).issues,
      /SaveLatent makes nothing that can be a result; a result here is a picture or an/,
    ],
    [
      'a picture in place of a video',
      readWith('text2video+start.json', (nodes) => {
        nodes['9'] = { class_type: 'SaveImage', inputs: { filename_prefix: 'a' } }
      }),
      /SaveImage makes a picture; a result here is a video or an animation/,
    ],
    [
      'a name of a result that has a blank',
      readFile('custom/a.json', graphOf('SaveImage', 'kiln:result=The Front')).issues,
      /a result is called by small letters, digits and _, and not result, got The Front/,
    ],
    [
      'one name of two results',
      readFile('custom/a.json', graphOf('SaveImage', 'kiln:result=a', 'kiln:result=a')).issues,
      /node 2 "kiln:result=a": another result is called a/,
    ],
    [
      'a limit of another name',
      readFile('upscale.json', undefined, '{"limits":{"atonce":1}}').issues,
      /the map has \/limits\/atonce; what it may have is deadline_seconds, at_once, owners/,
    ],
    [
      'a limit of another type',
      readFile('upscale.json', undefined, '{"limits":{"at_once":0}}').issues,
      /the map's \/limits\/at_once must be a whole number from 1 to 10000, got 0/,
    ],
    [
      'fields of one of the service’s own kinds',
      readFile('upscale.json', undefined, '{"fields":{"scale":{"maximum":2}}}').issues,
      /\/fields, which only a template in custom\/ may have/,
    ],
    [
      'owners of one of the service’s own kinds',
      readFile('upscale.json', undefined, '{"limits":{"owners":["alice"]}}').issues,
      /\/limits\/owners, which only a template in custom\/ may have/,
    ],
    [
      'a linked prefix',
      readWith('upscale.json', input('9', 'filename_prefix', ['2', 0])),
      /filename_prefix is linked/,
    ],
    [
      'a seed that JavaScript rounds',
      readFile(
        'upscale.json',
        JSON.stringify(load('upscale.json')).replace('"sigma":1', '"sigma":18446744073709551615'),
      ).issues,
      /node 4 "Sharpen": sigma is 18446744073709551615, above 2\^53/,
    ],
    [
      'a map of an unknown choice',
      readWith(
        'upscale.json',
        title('4', 'kiln:engine=sigma'),
        '{"values":{"engine":{"automatik":1}}}',
      ),
      /the map of engine has automatik, which is no choice; did you mean automatic\?/,
    ],
    [
      'a map of no choices',
      readFile('upscale.json', undefined, '{"values":{"scale":{"2":1}}}').issues,
      /the map has scale, which is no field with choices/,
    ],
  ]
  for (const [name, issues, wanted] of REJECTED)
    test(`is rejected with ${name}`, () => assert.match(issues.join('\n'), wanted))

  test('takes the words before a colon of any other title as they are', () => {
    for (const name of ['Film: 35 mm', 'Fill: sky', 'Kind: a', 'Load:image'])
      assert.deepEqual(readWith('upscale.json', title('4', name)), [])
  })

  test('has the limits of its map', () => {
    const map = '{"limits":{"at_once":2}}'
    const { template } = readFile('custom/a.json', graphOf('SaveImage', 'kiln:result'), map)
    assert.deepEqual(template?.limits, { at_once: 2 })
    assert.deepEqual(get('upscale.json').limits, {})
  })

  test('keeps a marked seed of 64 bits, and numbers in texts', () => {
    const nodes = load('upscale.json')
    nodes['5'] = { class_type: 'KSampler', inputs: { seed: 'SEED' }, _meta: { title: 'kiln:seed' } }
    nodes['6'] = { class_type: 'Note', inputs: { text: 'as 18446744073709551615 "says"' } }
    const { template, issues } = readFile(
      'upscale.json',
      JSON.stringify(nodes).replace('"SEED"', '18446744073709551615'),
    )
    assert.deepEqual(issues, [])
    assert.equal(template?.graph['5']?.inputs['seed'], 0)
    assert.equal(template.graph['6']?.inputs['text'], 'as 18446744073709551615 "says"')
  })

  test('takes several marks in a title, and one name on several nodes', () => {
    const nodes = load('upscale.json')
    title('4', 'kiln: hdr/10=sigma, scale=alpha')(nodes)
    const { template } = readFile('upscale.json', JSON.stringify(nodes))
    const found = template?.marks.map(({ name, node, input }) => `${name} ${node}.${input}`)
    assert.deepEqual(found, ['image 1.image', 'scale 2.value', 'hdr 4.sigma', 'scale 4.alpha'])
  })

  test('is chosen by the files that a task has', () => {
    const light = get('relight+light.json')
    const plain = { ...light, name: 'relight', words: [], marks: light.marks.slice(0, 1) }
    const choose = (...files: string[]) => chooseTemplate([plain, light], 'relight', files)?.name
    assert.equal(choose('image'), 'relight')
    assert.equal(choose('image', 'transfer_light_from_reference_image'), 'relight+light')
    assert.equal(choose(), undefined)
    assert.equal(chooseTemplate([light], 'upscale', ['image']), undefined)
  })

  test('is missed where its file cannot be used and no better one can', () => {
    const light = get('relight+light.json')
    const find = (files: string[], chosen?: Template) =>
      findBroken(['custom/relight.json', 'relight.json', 'relight+light.json'], {
        kind: 'relight',
        files,
        chosen,
      })
    assert.equal(find(['image']), 'relight.json')
    assert.equal(find(['image', 'light'], light), undefined)
    const plain = { ...light, words: [] }
    assert.equal(find(['image', 'light'], plain), 'relight+light.json')
    assert.equal(find(['image'], plain), undefined)
  })
})

describe('the graph of a placement', () => {
  const fill = (path: string, values: object, files: Record<string, string>) =>
    fillTemplate(get(path), { values: { ...values }, files, prefix: 'kiln/p' }, CLASSES)

  test('has the values, files and prefix of its placement, and no title', () => {
    const graph = fill('upscale.json', { scale: 4 }, { image: 'kiln/p/image.png' })
    assert.equal(graph['1']?.inputs['image'], 'kiln/p/image.png')
    assert.equal(graph['2']?.inputs['value'], 4)
    assert.deepEqual(graph['3']?.inputs['scale_by'], ['2', 0], 'a link stays')
    assert.equal(graph['9']?.inputs['filename_prefix'], 'kiln/p/r')
    assert.ok(!JSON.stringify(graph).includes('kiln:'))
  })

  test('is another for each placement at a result that has no prefix', () => {
    const text = JSON.stringify({ 9: { class_type: 'PreviewImage', inputs: { images: ['1', 0] } } })
    const { template = assert.fail() } = readFile('custom/a.json', text)
    const fillAs = (prefix: string) =>
      fillTemplate(template, { values: {}, files: {}, prefix }, CLASSES)['9']?.inputs
    assert.notDeepEqual(fillAs('kiln/a'), fillAs('kiln/b'))
    assert.ok(!('kiln_placement' in (fill('upscale.json', {}, {})['9']?.inputs ?? {})))
  })

  test('divides, clamps and rounds numbers', () => {
    const files = { image: 'a', transfer_light_from_reference_image: 'b', start: 'a' }
    const factor = (strength: number) =>
      fill('relight+light.json', { light_transfer_strength: strength }, files)['3']?.inputs[
        'blend_factor'
      ]
    assert.equal(factor(35), 0.35)
    assert.equal(factor(900), 1)
    const frames = (frames: number) =>
      fill('text2video+start.json', { frames }, files)['3']?.inputs['value']
    assert.equal(frames(23.6), 24)
    assert.equal(frames(500), 96)
  })

  test('keeps the value of the graph where the task has none', () => {
    const graph = fill('text2video+start.json', { prompt: undefined }, { start: 'a' })
    assert.equal(graph['2']?.inputs['value'], 'a quiet sea')
  })

  test('has the values of a map for choices', () => {
    const nodes = load('upscale.json')
    title('4', 'kiln:engine=sigma')(nodes)
    const names = ['automatic', 'vendor_illusio', 'vendor_sharpy', 'vendor_sparkle']
    const engine = Object.fromEntries(names.map((name, index) => [name, index]))
    const { template } = readFile(
      'upscale.json',
      JSON.stringify(nodes),
      JSON.stringify({ values: { engine } }),
    )
    assert.ok(template)
    const values = { engine: 'vendor_sharpy' }
    const graph = fillTemplate(template, { values, files: {}, prefix: 'p' }, CLASSES)
    assert.equal(graph['4']?.inputs['sigma'], 2)
    assert.equal(
      fillTemplate(template, { values: { engine: 'x' }, files: {}, prefix: 'p' }, CLASSES)['4']
        ?.inputs['sigma'],
      1,
      'a choice that is not named',
    )
  })
})

describe('an instance', () => {
  test('is able to run a template whose classes, choices and types it has', () => {
    for (const path of [
      'upscale.json',
      'relight+light.json',
      'text2video+start.json',
      'custom/upscale-model.json',
    ])
      assert.deepEqual(abilityIssues(get(path), CLASSES), [])
  })

  for (const version of ['0.3.64', '0.38.1'])
    test(`of ${version} is able to run each workflow of the repository`, async () => {
      const classes = await readVersion(version)
      const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
      for (const path of files.filter((path) => path.endsWith('.json'))) {
        assert.deepEqual(abilityIssues(get(path), classes), [], path)
        assert.deepEqual(listAdvice(get(path), classes), [], path)
      }
    })

  test('names a choice that its node does not have, also below another one', async () => {
    const classes = await readVersion('0.38.1')
    const issues = (inputs: object): string[] => {
      const nodes = load('text2video+start.json')
      Object.assign(node(nodes, '9').inputs, inputs)
      const { template } = readFile('text2video+start.json', JSON.stringify(nodes))
      return abilityIssues(template ?? assert.fail(), classes)
    }
    const place = 'node 9 "kiln:result"'
    assert.deepEqual(issues({ format: 'avi' }), [`${place}: format has no choice avi`])
    const webm = { format: 'webm', 'format.codec': 'av1' }
    assert.deepEqual(issues({ ...webm, 'format.codec.encoding': 'auto' }), [])
    assert.deepEqual(issues({ ...webm, 'format.codec': 'h264' }), [
      `${place}: format.codec has no choice h264`,
    ])
    assert.deepEqual(issues({ ...webm, 'format.codec.encoding': 'fast' }), [
      `${place}: format.codec.encoding has no choice fast`,
    ])
  })

  test('says which file a mark cannot be, and by which node it is loaded', () => {
    const issues = (type: string, inputs: object, info: object, mark: string): string => {
      const nodes = load('upscale.json')
      nodes['1'] = { class_type: type, inputs: { ...inputs }, _meta: { title: mark } }
      const { template, issues } = readFile('upscale.json', JSON.stringify(nodes))
      const known = readNodeClass({ [type]: { input: { required: info } } }, type)
      return [
        ...issues,
        ...(template ? abilityIssues(template, { ...CLASSES, [type]: known }) : []),
      ].join()
    }
    const output = { image: ['COMBO', { image_upload: true, remote: { route: '/x' } }] }
    assert.equal(issues('LoadImageOutput', { image: 'a.png' }, output, 'kiln:image'), '')
    const listed = { picture: [['a.png']] }
    assert.equal(issues('PickImage', { picture: 'a.png' }, listed, 'kiln:image'), '')
    assert.match(
      issues('LoadImagePath', { path: '/a.png' }, { path: ['STRING', {}] }, 'kiln:image'),
      /path is no file \(STRING\), as image is: use Load Image/,
    )
    assert.match(
      issues('Mode', { mode: 'fast' }, { mode: [['fast']] }, 'kiln:image'),
      /mode is no file \(COMBO\), as image is: use Load Image/,
    )
  })

  test('says where a model belongs and comes from that it does not have', () => {
    const workflow = {
      nodes: [],
      definitions: {
        subgraphs: [{ nodes: [{ properties: { models: [TINY, { name: 'other.pth' }, 7] } }] }],
      },
    }
    const { template, issues } = readTemplate({
      path: 'custom/upscale-model.json',
      text: JSON.stringify(load('custom/upscale-model.json')),
      workflow: JSON.stringify(workflow),
    })
    assert.deepEqual(issues, [])
    const url = 'https://models.example/tiny.safetensors?download=true'
    assert.ok(template)
    assert.deepEqual(listModels(template), [
      { file: 'kiln-tiny-x2.safetensors', folder: 'upscale_models', url, digest: 'sha256:0aF3' },
    ])
    const none = { UpscaleModelLoader: { model_name: { type: 'COMBO', choices: ['b'] } } }
    assert.deepEqual(abilityIssues(template, { ...CLASSES, ...none }), [
      `node 2 "Load Upscale Model": model_name has no choice kiln-tiny-x2.safetensors: put it into models/upscale_models, from ${url}, sha256:0aF3`,
    ])
  })

  test('does not have a model that a map alone names', () => {
    const nodes = load('custom/upscale-model.json')
    title('2', 'kiln:quality=model_name')(nodes)
    const map = '{"values":{"quality":{"fast":"kiln-tiny-x2.safetensors","best":"x\\\\4x.pth"}}}'
    const { template } = readFile('custom/upscale-model.json', JSON.stringify(nodes), map)
    assert.ok(template)
    assert.deepEqual(
      listModels(template).map(({ file, folder }) => [file, folder]),
      [
        ['kiln-tiny-x2.safetensors', 'upscale_models'],
        ['x\\4x.pth', 'upscale_models'],
      ],
    )
    assert.match(
      abilityIssues(template, CLASSES).join(),
      /model_name has no choice x\\4x\.pth for quality: put it into models\/upscale_models/,
    )
  })

  test('names nodes that read the editor’s form where that is not beside the file', () => {
    const known = (more: object) => {
      const hidden = { extra_pnginfo: 'EXTRA_PNGINFO', pnginfo: ['EXTRA_PNGINFO'] }
      const info = { input: { required: {}, hidden }, ...more }
      return { ...CLASSES, ImageSharpen: readNodeClass({ ImageSharpen: info }, 'ImageSharpen') }
    }
    const template = get('upscale.json')
    assert.deepEqual(listAdvice(template, known({ output_node: false })), [
      'node 4 "Sharpen": ImageSharpen reads the workflow as the editor saves it: put that into upscale.workflow.json',
    ])
    assert.deepEqual(listAdvice(template, known({ output_node: true })), [])
    const whole = { ...template, workflow: { nodes: [] } }
    assert.deepEqual(listAdvice(whole, known({})), [])
    assert.deepEqual(extraOf(whole), { extra_data: { extra_pnginfo: { workflow: { nodes: [] } } } })
  })

  test('says which class, choice or type it does not have', () => {
    const issues = (path: string, classes: object) =>
      abilityIssues(get(path), { ...CLASSES, ...classes }).join()
    assert.match(
      issues('upscale.json', { ImageSharpen: undefined }),
      /node 4 "Sharpen": there is no class ImageSharpen/,
    )
    assert.match(
      issues('custom/upscale-model.json', {
        UpscaleModelLoader: { model_name: { type: 'COMBO', choices: ['b'] } },
      }),
      /node 2 "Load Upscale Model": model_name has no choice kiln-tiny-x2\.safetensors: put it into models\/upscale_models$/,
    )
    const combo = { value: { type: 'COMBO', choices: ['a'] } }
    assert.match(
      issues('text2video+start.json', { PrimitiveStringMultiline: combo }),
      /value is no text \(COMBO\), as prompt is/,
    )
    const path = { image: { type: 'STRING' } }
    assert.match(
      issues('upscale.json', { LoadImage: path }),
      /image is no file \(STRING\), as image is/,
    )
    assert.equal(readNodeClass({}, 'NoSuch'), undefined)
  })
})

describe('the end of a run', () => {
  const FILE = { filename: 'r_00001_.png', subfolder: 'kiln/p', type: 'output' }
  const entry = (last: string, facts: object, more: object = {}) => ({
    outputs: { '9': { images: [FILE], animated: [true] }, '8': { gifs: [{ filename: 'b' }] } },
    status: {
      status_str: 'success',
      completed: true,
      messages: [
        ['execution_start', {}],
        [last, facts],
      ],
    },
    ...more,
  })
  const end = (given: object, ...results: Template['results']) =>
    readRunEnd({ ...given }, { results: results.length > 0 ? results : [{ node: '9' }], id: 'p1' })
  const failed = (type: string, message: string) =>
    end(
      entry('execution_error', {
        node_id: '4',
        node_type: 'X',
        exception_type: type,
        exception_message: message,
        current_inputs: { text: ['secret'] },
        traceback: ['secret'],
      }),
    )

  test('is a success with completed, execution_success and a file of the result alone', () => {
    assert.deepEqual(end(entry('execution_success', {})), { outputs: [FILE] })
    assert.deepEqual(listLeftFiles(entry('', {})), [
      { filename: 'b', subfolder: '', type: 'output' },
      FILE,
    ])
    assert.equal(end(entry('execution_success', {}, { outputs: {} })).failure, 'failed')
    assert.equal(end(entry('execution_cached', {})).failure, 'failed')
    assert.equal(
      end(
        entry(
          'execution_success',
          {},
          { status: { completed: false, messages: [['execution_success', {}]] } },
        ),
      ).failure,
      'failed',
    )
    assert.equal(end({}).failure, 'failed')
  })

  test('has the files and texts of all results, in their order and by their names', () => {
    const outputs = {
      '7': { text: ['a sea', 'and a sky'] },
      '8': { audio: [{ filename: 'b.flac', subfolder: '', type: 'output' }] },
      '9': { images: [FILE, FILE], animated: [true] },
    }
    const ended = entry('execution_success', {}, { outputs })
    const found = end(ended, { node: '9', name: 'front' }, { node: '7' }, { node: '8', name: 'b' })
    assert.deepEqual(found, {
      outputs: [
        { ...FILE, name: 'front' },
        { ...FILE, name: 'front-2' },
        { text: 'a sea' },
        { text: 'and a sky' },
        { filename: 'b.flac', subfolder: '', type: 'output', name: 'b' },
      ],
    })
    const lacking = end(ended, { node: '9' }, { node: '6' })
    assert.deepEqual(lacking, { failure: 'failed', detail: 'a success without a file of node 6' })
  })

  for (const [type, message, wanted] of [
    ['torch.OutOfMemoryError', 'CUDA out of memory. Tried to allocate 20.00 GiB', 'out_of_memory'],
    ['RuntimeError', "DefaultCPUAllocator: can't allocate memory", 'out_of_memory'],
    ['numpy._core._exceptions._ArrayMemoryError', 'Unable to allocate 3.00 GiB', 'out_of_memory'],
    ['RuntimeError', 'CUDA error: an illegal memory access was encountered', 'broken'],
    ['RuntimeError', 'cuDNN error: CUDNN_STATUS_INTERNAL_ERROR', 'broken'],
    ['PIL.UnidentifiedImageError', 'cannot identify image file', 'input_missing'],
    ['FileNotFoundError', 'No such file: models/x.safetensors', 'unable'],
    ['FileNotFoundError', 'No such file: input/kiln/p1/image.png', 'input_missing'],
    ['ValueError', 'kiln test error', 'failed'],
  ] as const)
    test(`of ${type}, ${message}, is ${wanted}`, () => {
      const found = failed(type, message)
      assert.equal(found.failure, wanted)
      assert.ok(!JSON.stringify(found).includes('secret'))
    })

  test('is interrupted where somebody has interrupted it', () =>
    assert.equal(end(entry('execution_interrupted', { node_id: '4' })).failure, 'interrupted'))
})
