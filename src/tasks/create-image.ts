import { errors } from '../platform/domain/errors.ts'
import type { NewTaskInput } from './db/task-file.ts'
import { customName } from './domain/custom-kind.ts'
import { pixelLimitIssue, estimateSeconds, resultSize } from './domain/image/image-size.ts'
import { listLateInputs } from './domain/late-input.ts'
import { listedField, pointerOf } from './domain/listed-file.ts'
import { listWarnings } from './domain/image/warnings.ts'
import type { ImageKind, ImageRequest } from './domain/image/image-kind.ts'
import { parsePrompt } from './domain/image/prompt-weight.ts'
import type { Size } from '../platform/domain/size.ts'
import { makeIssue, type Issue } from '../platform/domain/validate.ts'
import { validateTaskOptions } from './domain/task-options.ts'
import { summarise } from './temporal/task.ts'
import type { InlineImage } from '../platform/json-body/inline.ts'
import { findUpstreamMembers } from './creation.ts'
import type { Creation, TaskCommand, TaskPlan, CreationResponse } from './creation.ts'
import type { InputDeps, TaskDeps } from './deps.ts'
import { validateSource, validateUrl, type InputMember } from './inputs.ts'
import type { EngineName } from './domain/engine.ts'

type Body = Record<string, unknown>
type Inline = ReadonlyMap<string, InlineImage>

const NEW_OF_ENGINE = 'what its engine takes is read again each minute'
const NEW_OF_TEMPLATE = 'a template that has changed counts within ten seconds'

/** The way in which tasks of a kind are made. */
export const makeImageCreation = (deps: TaskDeps, imageKind: ImageKind): Creation => {
  const { path, body: schema, images, lists, maxBytes, emptyIsAbsent, engine } = imageKind
  return {
    path,
    schema,
    findMembers: () => findUpstreamMembers(deps, imageKind),
    maxBytes,
    memoryBytes: 1_048_576,
    images: images.map((field) => (lists?.includes(field) ? `/${field}/*` : `/${field}`)),
    emptyIsAbsent,
    // The vendor's form, which is the interface's, is lenient.
    ...(customName(imageKind.kind) === undefined
      ? { unread: 'ignored' as const }
      : { newNames: engine === undefined ? NEW_OF_TEMPLATE : NEW_OF_ENGINE }),
    validate: makeValidate(deps, imageKind),
    plan: (command) => planImage(deps, imageKind, command),
  }
}

const planImage = (deps: TaskDeps, imageKind: ImageKind, command: TaskCommand): TaskPlan => {
  const { kind, segment, templateId, engine, tasks, images, videos = [] } = imageKind
  if (!isAllowed(imageKind, command.owner))
    throw errors.templateNotAllowed(customName(kind) ?? kind, command.owner)
  const body = command.body as Body & { webhook_url?: string }
  const own = imageKind.settings.properties
  const settings = settingsOf({ ...own, ...findUpstreamMembers(deps, imageKind) }, body)
  return {
    family: 'image',
    kind,
    segment,
    templateId,
    ...(engine !== undefined && { engine }),
    settings,
    webhookUrl: body.webhook_url?.trim() ?? null,
    credits: 0,
    members: listFiles(imageKind, body, [...images, ...videos]),
    limits: { quota: deps.quotas.owner },
    summarise: (inputs) => summariseImage(kind, command.owner, inputs),
    respond({ id, engine, inputs }) {
      const relight = kind === 'relight' ? body : null
      const warnings = [
        ...listWarnings(
          engine === 'local'
            ? { relight, frames: framesOf(inputs), lossless: losslessOf(body, inputs) }
            : null,
        ),
        ...listLateInputs(body, inputs),
      ]
      const made = { id, kind, settings, size: sizeOf(inputs), engine, warnings }
      return respondToCreation(deps, tasks, made)
    },
  }
}

/** Lists the files of a body, each item of a list by itself. */
const listFiles = (
  { lists = [] }: ImageKind,
  body: Body,
  members: readonly string[],
): InputMember[] =>
  members.flatMap((member) => {
    const { [member]: given } = body
    if (!lists.includes(member)) return { field: member, pointer: `/${member}`, value: given }
    const items = Array.isArray(given) ? (given as unknown[]) : []
    return items.map((value, place) => {
      const field = listedField(member, place)
      return { field, pointer: pointerOf(field), value }
    })
  })

/** True of an owner who may make tasks of a kind. */
export const isAllowed = ({ owners }: ImageKind, owner: string): boolean =>
  owners?.includes(owner) ?? true

/** The members of a valid body that are settings. */
const settingsOf = (settings: object, body: Body): object =>
  Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(settings, name)))

const sizeOf = (inputs: readonly NewTaskInput[]): Size | undefined => {
  const image = inputs.find((input) => input.field === 'image') ?? inputs[0]
  return image?.width && image.height ? { width: image.width, height: image.height } : undefined
}

const framesOf = (inputs: readonly NewTaskInput[]): Record<string, number> =>
  Object.fromEntries(
    inputs.flatMap(({ field, frames }) => (frames === null ? [] : [[field, frames]])),
  )

/** The result of an image that came as PNG, where nothing says of it but its quality. */
const losslessOf = (body: Body, inputs: readonly NewTaskInput[]): string[] => {
  const { kiln_output_quality: quality, kiln_output_format: format = 'auto' } = body
  const image = inputs.find(({ field }) => field === 'image')
  return quality !== undefined && format === 'auto' && image?.contentType === 'image/png'
    ? ['result-1.png']
    : []
}

const summariseImage = (kind: string, owner: string, inputs: readonly NewTaskInput[]): string => {
  const size = sizeOf(inputs)
  const source = size ? ` ${size.width}×${size.height}` : ' of a URL'
  return summarise(inputs.length === 0 ? kind : kind + source, owner)
}

/** Makes the rules of a kind that its schema cannot say. Every issue is reported; the schema's own come beside them. */
const makeValidate = (
  deps: InputDeps & Pick<TaskDeps, 'quotas'>,
  imageKind: ImageKind,
): Creation['validate'] => {
  const { kind, images, videos = [] } = imageKind
  return ({ body, inline }) => [
    ...listFiles(imageKind, body, images).flatMap((file) =>
      validateImage(deps, kind, { file, body, inline }),
    ),
    ...listFiles(imageKind, body, videos).flatMap(({ pointer, value }) =>
      validateSource(deps, pointer, value),
    ),
    ...validateUrl(deps, '/webhook_url', body['webhook_url']),
    ...validatePrompt(kind, body['prompt']),
    ...validatePair(kind, body),
    ...validateTaskOptions(body, deps.quotas.owner.retentionDays),
  ]
}

const validateImage = (
  deps: InputDeps,
  kind: ImageKind['kind'],
  { file, body, inline }: { file: InputMember; body: Body; inline: Inline },
): Issue[] => {
  const { field, pointer, value } = file
  const image = inline.get(pointer)
  if (!image) return validateSource(deps, pointer, value)
  if (image.issue) return [{ field: pointer, ...image.issue }]
  const request = { kind, settings: body } as unknown as ImageRequest
  const tooLarge = field === 'image' && image.image && pixelLimitIssue(request, image.image)
  return tooLarge ? [makeIssue(pointer, tooLarge, 'pixel_limit')] : []
}

const validatePrompt = (kind: string, prompt: unknown): Issue[] =>
  kind === 'relight' && typeof prompt === 'string'
    ? parsePrompt(prompt).issues.map((sentence) => makeIssue('/prompt', sentence))
    : []

const validatePair = (kind: string, body: Body): Issue[] =>
  kind === 'relight' &&
  body['transfer_light_from_lightmap'] !== undefined &&
  body['transfer_light_from_reference_image'] !== undefined
    ? [
        makeIssue(
          '/transfer_light_from_reference_image',
          'must be absent when /transfer_light_from_lightmap is given, got both',
          'incompatible_fields',
        ),
      ]
    : []

interface MadeImage {
  id: string
  kind: ImageKind['kind']
  settings: object
  /** Size of the first image, where it is known. */
  size: Size | undefined
  engine: EngineName
  /** Sentences about what takes no effect. */
  warnings: string[]
}

/** The response to a creation. `tasks` is the path of the tasks of its kind. */
const respondToCreation = (
  { publicUrl }: { publicUrl: string },
  tasks: string,
  { id, warnings, engine, ...made }: MadeImage,
): CreationResponse => ({
  status: 200,
  body: {
    data: {
      task_id: id,
      status: 'CREATED',
      generated: [],
      ...(warnings.length > 0 && { warnings }),
    },
  },
  headers: {
    location: `${publicUrl}${tasks}/${id}`,
    'x-credits-used': '0',
    ...(engine === 'local' && { 'x-estimated-duration-seconds': estimate(made) }),
  },
})

const estimate = ({ kind, settings, size }: Pick<MadeImage, 'kind' | 'settings' | 'size'>) => {
  const image = { kind, settings } as ImageRequest
  if (!size) return String(estimateSeconds(image.kind, undefined))
  const { width, height } = resultSize(image, size)
  return String(estimateSeconds(image.kind, (width * height) / 1_000_000))
}
