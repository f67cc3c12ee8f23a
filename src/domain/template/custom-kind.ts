import { Type, type TSchema } from 'typebox'

import { IMAGE_BYTES, image, webhookUrl, type ImageKind } from '../image-task/image-kind.ts'
import { ADDRESS_MAX, ADDRESS_PATTERN } from '../shared/address.ts'
import { CUSTOM, CUSTOM_SEGMENT, customPath } from '../task/custom-kind.ts'
import type { CustomField, CustomFields } from './custom-field.ts'

/** A template that makes a kind, as the table has it. */
export interface CustomTemplate {
  id: number
  /** Without the folder. */
  name: string
  fields: CustomFields
}

/** Makes the kind of a template: with it a task is made as one of the service's own kinds. */
export const makeCustomKind = ({ id, name, fields }: CustomTemplate): ImageKind => {
  const files = Object.entries(fields).filter(([, { type }]) => type === 'file')
  const images = files.filter(([, { media }]) => media === 'image').map(([field]) => field)
  const videos = files.filter(([, { media }]) => media === 'video').map(([field]) => field)
  const settings = Object.fromEntries(
    Object.entries(fields).flatMap(([field, rule]) =>
      rule.type === 'file' ? [] : [[field, Type.Optional(schemaOf(rule))]],
    ),
  )
  const given = files.map(([field, { media, description }]) => [
    field,
    media === 'video' ? video(description) : image(description),
  ])
  return {
    kind: `${CUSTOM}${name}`,
    path: customPath(name),
    tasks: customPath(name),
    segment: CUSTOM_SEGMENT,
    title: `Run the template ${name}`,
    description:
      'A kind that an operator has added. Responds once the task is durable; it runs afterwards, with the template as it is now.',
    body: Type.Object({
      ...(Object.fromEntries(given) as Record<string, TSchema>),
      webhook_url: webhookUrl,
      ...settings,
    }),
    settings: Type.Object(settings),
    images,
    videos,
    maxBytes: Math.max(1, images.length) * IMAGE_BYTES,
    emptyIsAbsent: [],
    templateId: id,
  }
}

const video = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: ADDRESS_MAX,
    'x-pattern': ADDRESS_PATTERN,
    // By what a form chooses its files.
    'x-media': 'video',
    description: `${description} An https URL.`,
  })

const TEXT_CHARACTERS = 10_000

const schemaOf = (field: CustomField): TSchema => {
  const { type, choices = [], isWhole, min, max, default: value, description } = field
  const options = { ...(value !== undefined && { default: value }), description }
  if (type === 'choice') return Type.Enum([...choices], options)
  if (type === 'flag') return Type.Boolean(options)
  if (type === 'text')
    return Type.String({
      maxLength: Math.max(TEXT_CHARACTERS, [...String(value ?? '')].length),
      ...options,
    })
  const range = {
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
  }
  return isWhole ? Type.Integer({ ...range, ...options }) : Type.Number({ ...range, ...options })
}

export const TemplateList = Type.Object({
  templates: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Name of the template.' }),
      kind: Type.String({ description: 'Kind of its tasks in lists.' }),
      path: Type.String({ description: 'Path on which its tasks are made.' }),
      body: Type.Object(
        {},
        { additionalProperties: true, description: 'JSON Schema of what that path takes.' },
      ),
    }),
  ),
})
