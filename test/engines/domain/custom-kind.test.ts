import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeValidator } from '../../../src/platform/domain/validate.ts'
import { makeSchemas } from '../../../src/platform/http/openapi/schemas.ts'
import {
  describeMembers,
  makeCustomKind,
  withFields,
} from '../../../src/engines/domain/template/custom-kind.ts'
import { abilityIssues, fillTemplate } from '../../../src/engines/domain/template/fill.ts'
import { readNodeClass, type NodeClasses } from '../../../src/engines/domain/template/node-class.ts'
import { readTemplate, type Template } from '../../../src/engines/domain/template/template.ts'
import { customValues } from '../../../src/engines/domain/template/values.ts'
import { makeGraph, makePortrait } from '../../support/comfyui/custom.ts'
import { readVersion } from '../../support/comfyui/object-info.ts'

const BLUR = {
  image: ['IMAGE'],
  blur_radius: ['INT', { min: 1, max: 31, tooltip: 'How far it reaches.' }],
  sigma: ['FLOAT', { min: 0.1, max: 10 }],
}
const BLEND = {
  image1: ['IMAGE'],
  image2: ['IMAGE'],
  blend_factor: ['FLOAT', { min: 0, max: 1 }],
  blend_mode: ['COMBO', { options: ['normal', 'screen', 'soft_light'] }],
}
const INFO: Record<string, object> = {
  LoadImage: { image: [['in.png'], { image_upload: true }] },
  LoadVideo: { file: ['COMBO', { options: [], video_upload: true }] },
  LoadAudio: { audio: [['a.wav'], { audio_upload: true }] },
  LoadImageFromPath: { image: ['STRING', {}] },
  ImageBlur: BLUR,
  ImageBlend: BLEND,
  PrimitiveStringMultiline: { value: ['STRING', { multiline: true }] },
  PrimitiveInt: { value: ['INT', { min: -(2 ** 63), max: 2 ** 63 }] },
  PrimitiveBoolean: { value: ['BOOLEAN', {}] },
  Color: { color: ['COLOR', {}] },
  CheckpointLoader: { ckpt_name: [['a.safetensors', 'b.safetensors']] },
  SaveImage: { images: ['IMAGE'], filename_prefix: ['STRING', {}] },
}

const classesOf = (info: Record<string, object>): NodeClasses =>
  Object.fromEntries(
    Object.entries(info).map(([name, required]) => [
      name,
      readNodeClass({ [name]: { input: { required } } }, name),
    ]),
  )
const CLASSES = classesOf(INFO)

const SAVE = ['SaveImage', { images: ['1', 0], filename_prefix: 'kiln' }] as const

const read = (text: string, map?: string, path = 'custom/portrait.json') =>
  readTemplate({ path, text, map })

const get = (text: string, map?: string): Template => {
  const { template, issues } = read(text, map)
  assert.deepEqual(issues, [])
  return template ?? assert.fail()
}

/** A template with one node of this class, and what is wrong with it as a kind. */
const issuesOf = (type: string, inputs: object, title: string, map?: string): string => {
  const text = makeGraph({ 3: [type, inputs, title], 9: SAVE })
  const { template, issues } = read(text, map)
  return (template ? describeMembers(template, [CLASSES]).issues : issues).join('\n')
}

describe('a template of a custom kind', () => {
  const REJECTED: [title: string, issues: string, wanted: RegExp][] = [
    [
      'a name of the service’s own',
      issuesOf('PrimitiveStringMultiline', { value: '' }, 'kiln:webhook_url'),
      /node 3 .*webhook_url is a name of the service's own/,
    ],
    [
      'a name that begins as those of the service do',
      issuesOf('PrimitiveStringMultiline', { value: '' }, 'kiln:kiln_labels'),
      /kiln_labels is a name of the service's own/,
    ],
    [
      'a text that names a file',
      issuesOf('LoadImageFromPath', { image: '/a.png' }, 'kiln:picture=image'),
      /node 3 .*LoadImageFromPath names a file by it, and no caller may name one: use Load Image/,
    ],
    [
      'an input that names a file',
      issuesOf('TextOverlay', { font_path: 'a.ttf', text: '' }, 'kiln:font=font_path'),
      /font_path names a file, and no caller may name one/,
    ],
    [
      'a prefix of files',
      issuesOf('SaveImage', { filename_prefix: 'x' }, 'kiln:name=filename_prefix'),
      /filename_prefix names a file/,
    ],
    [
      'a file that no picture and no video is',
      issuesOf('LoadAudio', { audio: 'a.wav' }, 'kiln:sound=audio'),
      /audio takes a file, and no field can be one there: sound comes with a video: use Load Video and Get Video Components/,
    ],
    [
      'a type that no field can be',
      issuesOf('Color', { color: '#fff' }, 'kiln:colour=color'),
      /color is of type COLOR, which no field can be/,
    ],
    [
      'an input that no instance has',
      issuesOf('ImageBlur', { blur: 1 }, 'kiln:blur'),
      /blur is no input of ImageBlur/,
    ],
    [
      'one name for two types',
      issuesOf(
        'ImageBlend',
        { blend_factor: 1, blend_mode: 'screen' },
        'kiln:a=blend_factor, a=blend_mode',
      ),
      /a field has one type, and others of its name are a number/,
    ],
    [
      'a map that no node takes',
      issuesOf(
        'ImageBlur',
        { blur_radius: 1 },
        'kiln:radius=blur_radius',
        '{"values":{"size":{"big":3}}}',
      ),
      /the map has size, and no node is titled kiln:size/,
    ],
    ...(
      [
        [
          'a wider range',
          { minimum: 0, maximum: 9 },
          /\/fields\/radius is 0 to 9, and its node takes 1 to 31/,
        ],
        ['a range without numbers', { minimum: 9, maximum: 3 }, /radius is 9 to 3, and its node/],
        [
          'a range without its own value',
          { minimum: 5 },
          /radius is 5 to 31, and the workflow has 4/,
        ],
        [
          'an unknown word',
          { label: 'Reach' },
          /the map has \/fields\/radius\/label; what it may have is title, desc/,
        ],
        [
          'an end that is no number',
          { maximum: 'much' },
          /\/fields\/radius\/maximum must be a number/,
        ],
      ] as const
    ).map(([what, rule, wanted]): [string, string, RegExp] => [
      `${what} of its author`,
      issuesOf(
        'ImageBlur',
        { blur_radius: 4 },
        'kiln:radius=blur_radius',
        JSON.stringify({ fields: { radius: rule } }),
      ),
      wanted,
    ]),
    [
      'a range of a text',
      issuesOf(
        'PrimitiveStringMultiline',
        { value: '' },
        'kiln:prompt',
        '{"fields":{"prompt":{"minimum":1}}}',
      ),
      /\/fields\/prompt has a range, and its field is no number/,
    ],
    [
      'words for a field that it has not',
      issuesOf(
        'ImageBlur',
        { blur_radius: 4 },
        'kiln:radius=blur_radius',
        '{"fields":{"size":{"title":"Size"}}}',
      ),
      /the map has size, and no node is titled kiln:size/,
    ],
    [
      'a name of its file that no path has',
      read(makePortrait(), undefined, 'custom/My Portrait.json').issues.join(),
      /small letters, digits, - and _, at most 63 of them, got "My Portrait"/,
    ],
  ]
  for (const [title, issues, wanted] of REJECTED)
    test(`is no kind with ${title}`, () => assert.match(issues, wanted))

  test('has the label, the description and the range that its author gives to fields', () => {
    const graph = makeGraph({
      1: ['LoadImage', { image: 'in.png' }, 'kiln:image'],
      3: [
        'ImageBlend',
        { image1: ['1', 0], image2: ['1', 0], blend_factor: 0.4 },
        'kiln:strength/100=blend_factor',
      ],
      9: SAVE,
    })
    const image = { title: 'Portrait' }
    const range = { description: 'How much of it.', minimum: 10, maximum: 80 }
    const strength = { title: 'Strength', ...range }
    const template = get(graph, JSON.stringify({ fields: { image, strength } }))
    const { members, issues } = describeMembers(template, [CLASSES])
    assert.deepEqual(issues, [])
    assert.deepEqual(members['strength'], {
      type: 'number',
      default: 40,
      'x-title': 'Strength',
      ...range,
    })
    const { body } = makeCustomKind({ id: 1, name: 'portrait', members })
    // As the document shows it: two templates may have fields of one title, each its own.
    const { show, components } = makeSchemas()
    const { properties } = show(body, 'body') as { properties: Record<string, object> }
    for (const [name, words] of Object.entries({ image, strength }))
      assert.deepEqual({ ...properties[name], ...words }, { ...properties[name] })
    assert.deepEqual(
      Object.keys(components).filter((name) => name === 'Strength'),
      [],
    )
    const [issue] = makeValidator(body)({ image: 'https://a.example/b.png', strength: 81 }).issues
    assert.match(issue?.message ?? '', /strength must be a number from 10 to 80, got 81/)
  })

  test('has the narrowest range and the choices that all instances have', () => {
    const other = classesOf({
      ...INFO,
      ImageBlur: { ...BLUR, blur_radius: ['INT', { min: 2, max: 64 }] },
      ImageBlend: { ...BLEND, blend_mode: [['screen', 'soft_light', 'difference']] },
    })
    const { members, issues } = describeMembers(get(makePortrait()), [CLASSES, other])
    assert.deepEqual(issues, [])
    const { radius, mode } = members
    assert.deepEqual([radius?.minimum, radius?.maximum, radius?.default], [2, 31, 6])
    assert.deepEqual(mode?.enum, ['screen', 'soft_light'])
    assert.equal(radius?.description, 'How far it reaches.')
    assert.equal(mode?.description, 'Input blend_mode of node ImageBlend.')
  })

  test('has no default that one of its inputs does not take, and no range without a number', () => {
    const template = get(
      makeGraph({
        2: ['ImageBlur', { blur_radius: 6, sigma: 20 }, 'kiln:radius=blur_radius'],
        3: ['ImageBlend', { blend_factor: 1, blend_mode: 'screen' }, 'kiln:radius=blend_factor'],
        9: SAVE,
      }),
    )
    const { members } = describeMembers(template, [CLASSES])
    const { description: _text, ...radius } = members['radius'] ?? assert.fail()
    assert.deepEqual(radius, { type: 'integer', minimum: 1, maximum: 1 })
    const other = classesOf({ ...INFO, ImageBlur: { ...BLUR, blur_radius: ['INT', { min: 2 }] } })
    assert.match(
      describeMembers(template, [other]).issues.join(),
      /node 3 .*there is no number that all inputs of its name take/,
    )
  })

  test('takes choices from its map, and a flag from a node that has one', () => {
    const text = makeGraph({
      3: ['CheckpointLoader', { ckpt_name: 'b.safetensors' }, 'kiln:quality'],
      4: ['PrimitiveBoolean', { value: true }, 'kiln:tiled'],
      9: SAVE,
    })
    const map = '{"values":{"quality":{"fast":"a.safetensors","best":"b.safetensors"}}}'
    const template = get(text, map)
    const { members, issues } = describeMembers(template, [CLASSES])
    assert.deepEqual(issues, [])
    const whole = withFields(template, members)
    assert.deepEqual(abilityIssues(whole, CLASSES), [])
    const kind = makeCustomKind({ id: 1, name: 'portrait', members })
    const validate = makeValidator(kind.body)
    assert.deepEqual(validate({}).value, { quality: 'best', tiled: true })
    assert.deepEqual(
      validate({ quality: 'b.safetensors', tiled: 1 }).issues.map(({ message }) => message),
      [
        '/quality must be one of fast, best, got "b.safetensors"',
        '/tiled must be true or false, got 1',
      ],
    )
    const filled = fillTemplate(
      whole,
      { values: { quality: 'fast', tiled: false }, files: {}, prefix: 'p' },
      CLASSES,
    )
    assert.deepEqual(
      [filled['3']?.inputs, filled['4']?.inputs],
      [{ ckpt_name: 'a.safetensors' }, { value: false }],
    )
  })

  /** A kind of ComfyUI 0.38: a picture of another size, saved as a video. */
  const getPresent = (inputs: object, mark: string) =>
    get(
      makeGraph({
        1: ['LoadImage', { image: 'in.png' }, 'kiln:image'],
        2: ['ResizeImageMaskNode', { input: ['1', 0], scale_method: 'area', ...inputs }, mark],
        4: ['ComfyMathExpression', { expression: 'a + 1', 'values.a': 3 }, 'kiln:more=values.a'],
        6: ['ComfySwitchNode', { switch: true, on_true: 5, on_false: 'no' }, 'kiln:five=on_true'],
        5: ['CreateVideo', { images: ['2', 0], fps: 12, bit_depth: 8 }],
        9: [
          'SaveVideo',
          {
            video: ['5', 0],
            filename_prefix: 'kiln',
            format: 'mp4',
            'format.codec': 'h264',
            'format.codec.encoding': 're-encode',
            'format.codec.encoding.crf': 51,
          },
          'kiln:crf=format.codec.encoding.crf, codec=format.codec, container=format',
        ],
      }),
    )
  const SCALED = { resize_type: 'scale dimensions', 'resize_type.width': 512 }
  const WHOLE = { ...SCALED, 'resize_type.height': 256, 'resize_type.crop': 'center' }

  test('has fields below a choice, with the range and the choices that they have there', async () => {
    const classes = await readVersion('0.38.1')
    const mark = 'kiln:width=resize_type.width, crop=resize_type.crop, way=resize_type'
    const template = getPresent(WHOLE, mark)
    assert.deepEqual(abilityIssues(template, classes), [])
    const { members, issues } = describeMembers(template, [classes])
    assert.deepEqual(issues, [])
    const { width, crop, way, more, five, codec, container, crf } = members
    assert.deepEqual(
      [width?.type, width?.minimum, width?.maximum, width?.default],
      ['integer', 0, 16_384, 512],
    )
    assert.deepEqual([crop?.enum, crop?.default], [['disabled', 'center'], 'center'])
    assert.deepEqual([more?.type, more?.default], ['number', 3])
    assert.deepEqual([five?.type, five?.default], ['number', 5], 'it takes what the graph has')
    assert.deepEqual(codec?.enum, ['auto', 'h264', 'av1'])
    assert.deepEqual([container?.enum, container?.default], [['auto', 'mp4', 'mkv', 'webm'], 'mp4'])
    assert.deepEqual([crf?.minimum, crf?.maximum], [0, 51])
    const ways = ['scale dimensions', 'scale by multiplier', 'scale longer dimension']
    assert.deepEqual(
      way?.enum,
      [...ways, 'scale width', 'scale total pixels'],
      'a size to match is a link, which the graph does not have',
    )
  })

  test('gives another choice than that of the graph what it needs', async () => {
    const classes = await readVersion('0.38.1')
    const template = getPresent(WHOLE, 'kiln:width=resize_type.width, way=resize_type')
    const { members } = describeMembers(template, [classes])
    const fill = (values: Record<string, string | number>) => {
      const given = { values, files: {}, prefix: 'p' }
      return fillTemplate(withFields(template, members), given, classes)
    }
    assert.deepEqual(fill({ width: 640 })['2']?.inputs, {
      input: ['1', 0],
      scale_method: 'area',
      ...WHOLE,
      'resize_type.width': 640,
    })
    const other = fill({ way: 'scale by multiplier' })['2']?.inputs
    assert.deepEqual(
      [other?.['resize_type'], other?.['resize_type.multiplier']],
      ['scale by multiplier', 1],
    )
    const film = fill({ container: 'webm', codec: 'h264' })['9']?.inputs
    assert.equal(film?.['format.codec'], 'auto', 'a WebM has no H.264')
    const wide = fill({ codec: 'av1', crf: 60 })['9']?.inputs
    assert.deepEqual([wide?.['format.codec'], wide?.['format.codec.encoding.crf']], ['av1', 60])
  })

  test('is none with a mark below a choice that the graph does not have', async () => {
    const classes = await readVersion('0.38.1')
    const inputs = { resize_type: 'scale by multiplier', 'resize_type.width': 512 }
    assert.match(
      abilityIssues(getPresent(inputs, 'kiln:width=resize_type.width'), classes).join(),
      /node 2 .*resize_type\.width is no input of ResizeImageMaskNode while resize_type is scale by multiplier/,
    )
    assert.match(
      abilityIssues(getPresent({ resize_type: 'stretch' }, 'kiln:way=resize_type'), classes).join(),
      /node 2 .*resize_type has no choice stretch for way/,
    )
  })

  test('has no member that names a file below a choice', () =>
    assert.match(
      issuesOf('Saver', { 'target.path': '/a', text: '' }, 'kiln:to=target.path'),
      /target\.path names a file, and no caller may name one/,
    ))

  test('reads a video by the loader of another pack', () => {
    const info = { VHS_LoadVideo: { video: [['in.mp4']], frame_load_cap: ['INT', { min: 0 }] } }
    const loader = ['VHS_LoadVideo', { video: 'in.mp4', frame_load_cap: 8 }, 'kiln:clip'] as const
    const template = get(makeGraph({ 1: loader, 9: SAVE }))
    const { members, issues } = describeMembers(template, [{ ...CLASSES, ...classesOf(info) }])
    assert.deepEqual([issues, members['clip']?.['x-media']], [[], 'video'])
  })

  test('names the loader to use for a file of which its node does not say so', () => {
    const info = { VHS_LoadAudioUpload: { audio: [['a.wav']] } }
    const template = get(
      makeGraph({ 3: ['VHS_LoadAudioUpload', { audio: 'a.wav' }, 'kiln:sound'], 9: SAVE }),
    )
    assert.match(
      describeMembers(template, [{ ...CLASSES, ...classesOf(info) }]).issues.join(),
      /node 3 .*audio takes a file, and no field can be one there: sound comes with a video/,
    )
  })

  test('puts what a caller wrote into texts only, also on an instance that has changed', () => {
    const template = get(makePortrait())
    const { members } = describeMembers(template, [CLASSES])
    const changed = classesOf({ ...INFO, PrimitiveStringMultiline: { value: [['soft light']] } })
    assert.match(
      abilityIssues(withFields(template, members), changed).join(),
      /value is no text \(COMBO\), as prompt is/,
    )
  })

  test('has a seed of its own for each task, unless it is given', () => {
    const id = '0000002a-0000-4000-8000-000000000000'
    assert.deepEqual(customValues({ strength: 5 }, id), { seed: 42, strength: 5 })
    assert.deepEqual(customValues({ seed: 7 }, id), { seed: 7 })
  })

  test('reads a video by its address, beside pictures', () => {
    const text = makeGraph({
      1: ['LoadImage', { image: 'a.png' }, 'kiln:face'],
      2: ['LoadVideo', { file: 'a.mp4' }, 'kiln:clip'],
      9: SAVE,
    })
    const { members } = describeMembers(get(text), [CLASSES])
    const { images, videos, body } = makeCustomKind({ id: 1, name: 'swap', members })
    assert.deepEqual([images, videos], [['face'], ['clip']])
    assert.deepEqual(
      makeValidator(body)({}).issues.map(({ field }) => field),
      ['/face', '/clip'],
    )
  })
})
